// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// moemesh.h for C++17: handles that destroy themselves, defaults, views of arrays, and exceptions. Header only, over the
// C API alone, whose comments are the reference; what has no method here is reached through get().
// Errors       Every call that fails throws moemesh::error: the status and the library's text. Destructors don't throw.
// Handles      Move-only. Their order of destruction is free: the library keeps what others still use.
// Collective   Destructors are local: they never finalize. Call mesh.finalize(), context.finalize() and shutdown() at the
//              end where all ranks are there; where an exception leads past them, communicators are leaked, nothing hangs.
// Structs      auto p = moemesh::params<moemesh_mesh_params>(); then set what differs from the defaults.
// Arrays       moemesh::view(container), (container, rows, width) or (pointer, rows, width); the data stay the caller's.
#ifndef MOEMESH_HPP
#define MOEMESH_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "moemesh.h"

namespace moemesh {

// ---------------------------------------------------------------------------------------------- errors

class error : public std::runtime_error {
 public:
  error(int32_t status, const std::string& text) : std::runtime_error(text), status_(status) {}
  int32_t status() const noexcept { return status_; }
  const char* name() const noexcept { return moemesh_status_name(status_); }
  bool usable() const noexcept { return status_ > 0; }  // the objects are unchanged; else only destroy is left

 private:
  int32_t status_;
};

// The calling thread's last error.
inline std::string last_error() {
  std::array<char, 1024> text{};
  moemesh_last_error(nullptr, text.data(), static_cast<int64_t>(text.size()), nullptr);
  return text.data();
}

inline void check(int32_t status) {
  if (status != MOEMESH_OK) throw error(status, last_error());
}

// ---------------------------------------------------------------------------------------------- structs

namespace detail {
#define MOEMESH_HPP_INIT(type) \
  inline int32_t init(moemesh_##type* p) { return moemesh_##type##_init(p, sizeof *p); }
MOEMESH_HPP_INIT(context_params)
MOEMESH_HPP_INIT(mesh_params)
MOEMESH_HPP_INIT(family_params)
MOEMESH_HPP_INIT(parameter_params)
MOEMESH_HPP_INIT(layer_params)
MOEMESH_HPP_INIT(forward_params)
MOEMESH_HPP_INIT(backward_params)
MOEMESH_HPP_INIT(replay_params)
MOEMESH_HPP_INIT(optimizer_params)
MOEMESH_HPP_INIT(step_params)
MOEMESH_HPP_INIT(update_params)
MOEMESH_HPP_INIT(pipeline_params)
MOEMESH_HPP_INIT(pipeline_run)
MOEMESH_HPP_INIT(bill_params)
MOEMESH_HPP_INIT(report_params)
#undef MOEMESH_HPP_INIT
}  // namespace detail

// A params struct with its defaults.
template <class P>
P params() {
  P p;
  check(detail::init(&p));
  return p;
}

// A struct that the library fills, or one without defaults, with its struct_size.
template <class S>
S sized() {
  S s{};
  s.struct_size = static_cast<int64_t>(sizeof s);
  return s;
}

namespace detail {
// What the function writes behind its arguments.
template <class S, class F, class... Arguments>
S get(F function, Arguments... arguments) {
  S result = sized<S>();
  check(function(arguments..., &result));
  return result;
}
}  // namespace detail

// ---------------------------------------------------------------------------------------------- arrays

template <class T>
constexpr int32_t dtype_of() {
  using U = std::remove_cv_t<T>;
  constexpr bool known = std::is_same_v<U, float> || std::is_same_v<U, double> || std::is_same_v<U, int32_t> ||
                         std::is_same_v<U, int64_t> || std::is_same_v<U, uint8_t>;
  static_assert(known, "no dtype of this element type; for MOEMESH_BFLOAT16 use view_of");
  if (std::is_same_v<U, float>) return MOEMESH_FLOAT32;
  if (std::is_same_v<U, double>) return MOEMESH_FLOAT64;
  if (std::is_same_v<U, int32_t>) return MOEMESH_INT32;
  return std::is_same_v<U, int64_t> ? MOEMESH_INT64 : MOEMESH_UINT8;
}

// Any dtype: view_of(MOEMESH_BFLOAT16, words, rows, width). The library does not write to arrays that are inputs.
template <class... Extents>
moemesh_view view_of(int32_t dtype, const void* data, Extents... extents) {
  static_assert(sizeof...(extents) >= 1 && sizeof...(extents) <= 4, "one to four extents");
  const int64_t sizes[] = {static_cast<int64_t>(extents)...};
  moemesh_view result;
  check(moemesh_view_init(&result, dtype, static_cast<int32_t>(sizeof...(extents)), sizes, const_cast<void*>(data)));
  return result;
}

// Dense and row-major: view(pointer, rows, width), view(pointer, count).
template <class T, class... Extents>
moemesh_view view(T* data, int64_t extent, Extents... others) {
  return view_of(dtype_of<T>(), data, extent, others...);
}

// A container of contiguous elements (vector, array, span, T[n]), whole; without extents as one row of its elements.
template <class C, class... Extents, class = decltype(std::data(std::declval<C&>()))>
moemesh_view view(C& container, Extents... extents) {
  const auto elements = static_cast<int64_t>(std::size(container));
  if constexpr (sizeof...(extents) == 0) {
    return view(std::data(container), elements);
  } else {
    int64_t wanted = 1;
    for (const int64_t extent : {static_cast<int64_t>(extents)...}) wanted *= extent;
    if (wanted != elements)
      throw error(MOEMESH_ERROR_INVALID_ARGUMENT, "MOEMESH_ERROR_INVALID_ARGUMENT: view: expected a container of " +
                                                      std::to_string(wanted) + " elements, got " +
                                                      std::to_string(elements));
    return view(std::data(container), extents...);
  }
}

// From any memory to any: same dtype and extents.
inline void copy(const moemesh_view& from, const moemesh_view& to) { check(moemesh_view_copy(&from, &to)); }

// ---------------------------------------------------------------------------------------------- handles

template <class Handle, void (*Destroy)(Handle*)>
class unique_handle {
 public:
  unique_handle() noexcept = default;
  explicit unique_handle(Handle handle) noexcept : handle_(handle) {}  // takes it over
  unique_handle(unique_handle&& other) noexcept : handle_(other.release()) {}
  unique_handle& operator=(unique_handle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~unique_handle() { Destroy(&handle_); }

  Handle get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  Handle release() noexcept { return std::exchange(handle_, nullptr); }
  void reset(Handle handle = nullptr) noexcept {
    Destroy(&handle_);
    handle_ = handle;
  }

 protected:
  Handle handle_ = nullptr;
};

class context : public unique_handle<moemesh_context, moemesh_context_destroy> {
 public:
  using unique_handle::unique_handle;
  context() = default;
  explicit context(const moemesh_context_params& p) { check(moemesh_context_create(&p, &handle_)); }
  // All ranks of the job, MPI started if it is not up.
  static context mpi_world() {
    auto p = params<moemesh_context_params>();
    p.comm.kind = MOEMESH_COMM_MPI_WORLD;
    p.mpi_init = 1;
    return context(p);
  }
  static context alone() { return context(params<moemesh_context_params>()); }

  moemesh_context_info info() const { return detail::get<moemesh_context_info>(moemesh_context_get_info, handle_); }
  int64_t rank() const { return info().rank; }
  int64_t size() const { return info().size; }
  void finalize() { check(moemesh_context_finalize(handle_)); }
};

class mesh : public unique_handle<moemesh_mesh, moemesh_mesh_destroy> {
 public:
  using unique_handle::unique_handle;
  mesh() = default;
  mesh(const context& c, const moemesh_mesh_params& p) { check(moemesh_mesh_create(c.get(), &p, &handle_)); }
  static mesh plan(int64_t world, const moemesh_mesh_params& p) {
    mesh planned;
    check(moemesh_mesh_plan(nullptr, world, &p, &planned.handle_));
    return planned;
  }

  moemesh_coordinates coordinates(int64_t rank) const {
    return detail::get<moemesh_coordinates>(moemesh_mesh_get_coordinates, handle_, rank);
  }
  moemesh_group group(int32_t axes, int64_t rank) const {
    return detail::get<moemesh_group>(moemesh_mesh_get_group, handle_, axes, rank);
  }
  // First expert and number of experts of a rank.
  std::pair<int64_t, int64_t> experts(int64_t experts, int64_t rank) const {
    std::pair<int64_t, int64_t> result;
    check(moemesh_mesh_get_experts(handle_, experts, rank, &result.first, &result.second));
    return result;
  }

  void all_reduce(const moemesh_view& array, int32_t axes = MOEMESH_GROUP_WORLD, int32_t op = MOEMESH_SUM) const {
    check(moemesh_all_reduce(handle_, axes, op, &array));
  }
  void all_gather(const moemesh_view& send, const moemesh_view& receive, int32_t axes = MOEMESH_GROUP_WORLD) const {
    check(moemesh_all_gather(handle_, axes, &send, &receive));
  }
  void reduce_scatter(const moemesh_view& send, const moemesh_view& receive, int32_t axes = MOEMESH_GROUP_WORLD,
                      int32_t op = MOEMESH_SUM) const {
    check(moemesh_reduce_scatter(handle_, axes, op, &send, &receive));
  }
  void broadcast(const moemesh_view& array, int64_t root = 0, int32_t axes = MOEMESH_GROUP_WORLD) const {
    check(moemesh_broadcast(handle_, axes, root, &array));
  }

  std::vector<moemesh_ledger_entry> ledger() const {
    int64_t count = 0;
    check(moemesh_ledger_get_count(handle_, &count));
    std::vector<moemesh_ledger_entry> entries(static_cast<size_t>(count), sized<moemesh_ledger_entry>());
    for (size_t i = 0; i < entries.size(); ++i)
      check(moemesh_ledger_get_entry(handle_, static_cast<int64_t>(i), &entries[i]));
    return entries;
  }
  void ledger_reset() const { check(moemesh_ledger_reset(handle_)); }
  void finalize() { check(moemesh_mesh_finalize(handle_)); }
};

// ---------------------------------------------------------------------------------------------- families and parameters

// A parameter's values on this rank, released when this goes.
class values {
 public:
  explicit values(moemesh_parameter parameter, void* stream = nullptr) : parameter_(parameter) {
    check(moemesh_parameter_acquire(parameter, stream, &view_));
  }
  values(values&& other) noexcept : parameter_(std::exchange(other.parameter_, nullptr)), view_(other.view_) {}
  values& operator=(values&&) = delete;
  ~values() {
    if (parameter_) moemesh_parameter_release(parameter_);
  }
  const moemesh_view& view() const noexcept { return view_; }
  void* data() const noexcept { return view_.data; }

 private:
  moemesh_parameter parameter_;
  moemesh_view view_{};
};

// Belongs to its family, which must live while it is used; to be copied freely.
class parameter {
 public:
  parameter() = default;
  explicit parameter(moemesh_parameter handle) : handle_(handle) {}
  moemesh_parameter get() const noexcept { return handle_; }

  moemesh_parameter_info info() const {
    return detail::get<moemesh_parameter_info>(moemesh_parameter_get_info, handle_);
  }
  values acquire(void* stream = nullptr) const { return values(handle_, stream); }
  moemesh_view gradient() const {
    moemesh_view result;
    check(moemesh_parameter_get_gradient(handle_, &result));
    return result;
  }
  void ready(void* stream = nullptr) const { check(moemesh_gradient_ready(handle_, nullptr, stream)); }
  void ready(const moemesh_view& gradient, void* stream = nullptr) const {
    check(moemesh_gradient_ready(handle_, &gradient, stream));
  }
  void read(int32_t quantity, const moemesh_view& array, int64_t expert = 0) const {
    check(moemesh_parameter_read(handle_, quantity, expert, &array));
  }
  void write(int32_t quantity, const moemesh_view& array, int64_t expert = 0) const {
    check(moemesh_parameter_write(handle_, quantity, expert, &array));
  }

 private:
  moemesh_parameter handle_ = nullptr;
};

class family : public unique_handle<moemesh_family, moemesh_family_destroy> {
 public:
  using unique_handle::unique_handle;
  family() = default;
  family(const mesh& m, const moemesh_family_params& p) { check(moemesh_family_create(m.get(), &p, &handle_)); }
  family(const mesh& m, moemesh_family_kind kind, int32_t dtype = MOEMESH_FLOAT32, int64_t seed = 0) {
    auto p = params<moemesh_family_params>();
    p.kind = kind;
    p.dtype = dtype;
    p.seed = seed;
    check(moemesh_family_create(m.get(), &p, &handle_));
  }
  parameter add(const moemesh_parameter_params& p) const {
    moemesh_parameter result = nullptr;
    check(moemesh_parameter_register(handle_, &p, &result));
    return parameter(result);
  }
  void commit() const { check(moemesh_family_commit(handle_)); }
  parameter find(const std::string& name) const {
    moemesh_parameter result = nullptr;
    check(moemesh_parameter_find(handle_, name.c_str(), &result));
    return parameter(result);
  }
  void changed() const { check(moemesh_parameters_changed(handle_)); }
};

// ---------------------------------------------------------------------------------------------- layer

class tape : public unique_handle<moemesh_tape, moemesh_tape_destroy> {
 public:
  using unique_handle::unique_handle;
  void backward(const moemesh_backward_params& p) { check(moemesh_layer_backward(&handle_, &p)); }
  void backward(const moemesh_view& dy, const moemesh_view& dx) {
    auto p = params<moemesh_backward_params>();
    p.dy = &dy;
    p.dx = &dx;
    backward(p);
  }
  void replay(const moemesh_replay_params& p) { check(moemesh_layer_replay(&handle_, &p)); }
  void routing(const moemesh_view& experts, const moemesh_view& gates) const {
    check(moemesh_tape_get_routing(handle_, &experts, &gates));
  }
  moemesh_tape_bytes bytes() const { return detail::get<moemesh_tape_bytes>(moemesh_tape_get_bytes, handle_); }
};

class layer : public unique_handle<moemesh_layer, moemesh_layer_destroy> {
 public:
  using unique_handle::unique_handle;
  layer() = default;
  layer(const mesh& m, const family& shared, const family& expert, const moemesh_layer_params& p) {
    check(moemesh_layer_create(m.get(), shared.get(), expert.get(), &p, &handle_));
  }
  // With training = 0 the tape is empty. x must live until the tape's backward; the views themselves need not.
  tape forward(const moemesh_forward_params& p) const {
    moemesh_tape result = nullptr;
    check(moemesh_layer_forward(handle_, &p, &result));
    return tape(result);
  }
  tape forward(const moemesh_view& x, const moemesh_view& y, int32_t microbatch = 0) const {
    auto p = params<moemesh_forward_params>();
    p.x = &x;
    p.y = &y;
    p.microbatch = microbatch;
    return forward(p);
  }
  moemesh_layer_statistics statistics() const {
    return detail::get<moemesh_layer_statistics>(moemesh_layer_get_statistics, handle_);
  }
  void rows(const moemesh_view& per_expert) const { check(moemesh_layer_get_rows(handle_, &per_expert, nullptr)); }
  void rows(const moemesh_view& per_expert, const moemesh_view& received) const {
    check(moemesh_layer_get_rows(handle_, &per_expert, &received));
  }
  void bias(const moemesh_view& array) const { check(moemesh_layer_get_bias(handle_, &array)); }
  void set_bias(const moemesh_view& array) const { check(moemesh_layer_set_bias(handle_, &array)); }
};

// ---------------------------------------------------------------------------------------------- optimizer and step

class optimizer : public unique_handle<moemesh_optimizer, moemesh_optimizer_destroy> {
 public:
  using unique_handle::unique_handle;
  optimizer() = default;
  optimizer(const mesh& m, const family& shared, const family& expert, const moemesh_optimizer_params& p) {
    check(moemesh_optimizer_create(m.get(), shared.get(), expert.get(), &p, &handle_));
  }
  void begin() const { check(moemesh_step_begin(handle_, nullptr)); }
  void begin(const moemesh_step_params& p) const { check(moemesh_step_begin(handle_, &p)); }
  void loss_tokens(int32_t microbatch, int64_t n) const { check(moemesh_loss_tokens(handle_, microbatch, n)); }
  // Negative: the optimizer's own learning rate.
  moemesh_update_result step(double learning_rate = -1.0) const {
    auto p = params<moemesh_update_params>();
    p.learning_rate = learning_rate;
    return step(p);
  }
  moemesh_update_result step(const moemesh_update_params& p) const {
    return detail::get<moemesh_update_result>(moemesh_optimizer_step, handle_, &p);
  }
  void end(bool reduce) const { check(moemesh_step_end(handle_, reduce ? 1 : 0)); }
  moemesh_optimizer_bytes bytes(moemesh_family_kind family) const {
    return detail::get<moemesh_optimizer_bytes>(moemesh_optimizer_get_bytes, handle_, family);
  }
  moemesh_optimizer_counters counters() const {
    return detail::get<moemesh_optimizer_counters>(moemesh_optimizer_get_counters, handle_);
  }
  void set_counters(const moemesh_optimizer_counters& c) const { check(moemesh_optimizer_set_counters(handle_, &c)); }
};

// ---------------------------------------------------------------------------------------------- pipeline

class pipeline : public unique_handle<moemesh_pipeline, moemesh_pipeline_destroy> {
 public:
  using unique_handle::unique_handle;
  pipeline() = default;
  pipeline(const mesh& m, const optimizer& o, const moemesh_pipeline_params& p) {
    check(moemesh_pipeline_create(m.get(), o.get(), &p, &handle_));
  }
  void begin(const moemesh_pipeline_run& run) const { check(moemesh_pipeline_begin(handle_, &run)); }
  moemesh_pipeline_action next() const {
    auto action = sized<moemesh_pipeline_action>();
    check(moemesh_pipeline_next(handle_, &action));
    return action;
  }
  void done(int32_t status = MOEMESH_OK) const { check(moemesh_pipeline_done(handle_, status)); }
  // Calls f(action) for each action of the run. What f throws ends this action alone: the others go on, as other ranks
  // count on them, and the step is dropped by optimizer.step(), which every rank must still call. The first exception is
  // returned, for the caller to rethrow after that; null: none. What is no failure of a layer's call must be thrown after
  // the action's layers have run: their peers wait in them (see moemesh_pipeline_done).
  template <class F>
  [[nodiscard]] std::exception_ptr execute(const moemesh_pipeline_run& run, F&& f) const {
    Actions<F> actions{&f, nullptr};
    const int32_t status = moemesh_pipeline_execute(handle_, &run, &Actions<F>::call, &actions);
    if (!actions.thrown) check(status);
    return actions.thrown;
  }
  moemesh_pipeline_info info() const { return detail::get<moemesh_pipeline_info>(moemesh_pipeline_get_info, handle_); }

 private:
  template <class F>
  struct Actions {
    std::remove_reference_t<F>* f;
    std::exception_ptr thrown;

    static int32_t call(void* user, const moemesh_pipeline_action* action) noexcept {
      auto& self = *static_cast<Actions*>(user);
      try {
        (*self.f)(*action);
        return MOEMESH_OK;
      } catch (const error& e) {
        self.keep();
        return e.status();
      } catch (...) {
        self.keep();
        return MOEMESH_ERROR_STEP_FAILED;
      }
    }
    void keep() noexcept {
      if (!thrown) thrown = std::current_exception();
    }
  };
};

// ---------------------------------------------------------------------------------------------- bill, report, library

class bill : public unique_handle<moemesh_bill, moemesh_bill_destroy> {
 public:
  using unique_handle::unique_handle;
  bill(const mesh& m, const moemesh_bill_params& p) { check(moemesh_bill_create(m.get(), &p, &handle_)); }
  void add(int64_t stage, const moemesh_layer_params& p, const moemesh_bill_routing* routing = nullptr) const {
    check(moemesh_bill_add_layer(handle_, stage, &p, routing));
  }
  void add(int64_t stage, moemesh_family_kind family, const moemesh_parameter_params& p) const {
    check(moemesh_bill_add_parameter(handle_, stage, family, &p));
  }
  void set_pipeline(const moemesh_pipeline_params& p) const { check(moemesh_bill_set_pipeline(handle_, &p)); }
  std::vector<moemesh_ledger_entry> entries(int64_t rank) const {
    int64_t count = 0;
    check(moemesh_bill_get_count(handle_, rank, &count));
    std::vector<moemesh_ledger_entry> result(static_cast<size_t>(count), sized<moemesh_ledger_entry>());
    for (size_t i = 0; i < result.size(); ++i)
      check(moemesh_bill_get_entry(handle_, rank, static_cast<int64_t>(i), &result[i]));
    return result;
  }
};

class report : public unique_handle<moemesh_report, moemesh_report_destroy> {
 public:
  using unique_handle::unique_handle;
  report(const mesh& m, const moemesh_report_params& p) { check(moemesh_report_create(m.get(), &p, &handle_)); }
  void stop() const { check(moemesh_report_stop(handle_)); }
  void collect() const { check(moemesh_report_collect(handle_)); }
  moemesh_report_summary summary() const {
    return detail::get<moemesh_report_summary>(moemesh_report_get_summary, handle_);
  }
  void write(moemesh_report_output output, const std::string& path, int64_t step = -1) const {
    check(moemesh_report_write(handle_, output, step, path.c_str()));
  }
};

inline moemesh_runtime_info runtime_info() { return detail::get<moemesh_runtime_info>(moemesh_runtime_get_info); }

inline void shutdown() { check(moemesh_shutdown()); }

}  // namespace moemesh

#endif  // MOEMESH_HPP
