// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// What every test over several ranks is made of: RAII around the public header, nothing below it.
//
// Every rank runs every test. OK(call) throws on a status other than 0, with the library's text: the test then ends
// on this rank; its peers come back from their waits by the contexts' deadline. After a throw nothing collective is
// done on the way out. EXPECT_STATUS(expected, call) is for calls that must fail; it does not throw.
//
//   Session session;                                   // or Session(MPI_COMM_NULL): one rank without MPI
//   Mesh mesh(session, {.tp = 1, .ep = 2, .dp = 4});
//   ModelSpec spec;
//   spec.layers = {config};                            // oracle::LayerConfig
//   spec.shared = {{.name = "scale", .extents = {8}}};
//   Model model(mesh, spec);                           // families, layers, commit, optimizer
//   model.begin(microbatches);
//   Tape tape;
//   auto y = model.forward(0, x, &tape, {.microbatch = m});
//   auto dx = model.backward(&tape, dy);
//   auto result = model.update();
//   auto w1 = model.read("moe.w1", MOEMESH_VALUE, expert);
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "moemesh.h"
#include "oracle/oracle.hpp"

namespace moemesh::test {

using Floats = std::vector<float>;

int world_rank();  // of MPI_COMM_WORLD
int world_size();

// Throws unless status is MOEMESH_OK.
void check(int32_t status, const char* call, const char* file, int line);
std::string last_error(moemesh_context context = nullptr);

#define OK(call) ::moemesh::test::check((call), #call, __FILE__, __LINE__)
#define EXPECT_STATUS(expected, call)                                                                   \
  do {                                                                                                  \
    const int32_t status_ = (call);                                                                     \
    EXPECT_STREQ(moemesh_status_name(expected), moemesh_status_name(status_))                           \
        << #call << "\n  last error: " << (status_ == MOEMESH_OK ? "" : ::moemesh::test::last_error()); \
  } while (false)

// A struct of the header with its struct_size set or its defaults filled in: with_defaults(moemesh_mesh_params_init).
template <class P>
P with_defaults(int32_t (*init)(P*, int64_t)) {
  P params{};
  OK(init(&params, static_cast<int64_t>(sizeof params)));
  return params;
}
template <class P>
P sized() {
  P result{};
  result.struct_size = static_cast<int64_t>(sizeof result);
  return result;
}

// ---- views

template <class T>
constexpr int32_t dtype_of();
template <>
constexpr int32_t dtype_of<float>() {
  return MOEMESH_FLOAT32;
}
template <>
constexpr int32_t dtype_of<double>() {
  return MOEMESH_FLOAT64;
}
template <>
constexpr int32_t dtype_of<int32_t>() {
  return MOEMESH_INT32;
}
template <>
constexpr int32_t dtype_of<int64_t>() {
  return MOEMESH_INT64;
}
template <>
constexpr int32_t dtype_of<uint16_t>() {
  return MOEMESH_BFLOAT16;
}
template <>
constexpr int32_t dtype_of<uint8_t>() {
  return MOEMESH_UINT8;
}

template <class T>
moemesh_view view_of(T* data, const std::vector<int64_t>& extents) {
  moemesh_view view{};
  OK(moemesh_view_init(&view, dtype_of<T>(), static_cast<int32_t>(extents.size()), extents.data(), data));
  return view;
}
template <class T>
moemesh_view view_of(std::vector<T>& data, const std::vector<int64_t>& extents) {
  return view_of(data.data(), extents);
}
// A whole vector as one dimension.
template <class T>
moemesh_view view_of(std::vector<T>& data) {
  return view_of(data.data(), {static_cast<int64_t>(data.size())});
}
// Inputs are not written.
inline moemesh_view view_of(const Floats& data, const std::vector<int64_t>& extents) {
  return view_of(const_cast<float*>(data.data()), extents);
}

Floats nans(int64_t elements);
Floats to_floats(const oracle::Array& array);
// To nearest, ties to even; finite values only.
using Halves = std::vector<uint16_t>;
Halves to_halves(const Floats& values);
Floats to_floats(const Halves& values);
inline Floats rounded_to_half(const Floats& values) { return to_floats(to_halves(values)); }
bool same_bits(const Floats& a, const Floats& b);

// ---- context and mesh

// Of the last session: whether its library keeps memory and rows as a device does.
bool works_as_a_device();

class Session {
 public:
  // MPI_COMM_NULL: one rank without MPI. timeout_seconds: of every blocking wait. clock: of reports.
  explicit Session(MPI_Comm comm = MPI_COMM_WORLD, double timeout_seconds = 60, moemesh_clock_function clock = nullptr,
                   void* clock_user = nullptr);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  moemesh_context get() const { return context_; }
  const std::vector<std::string>& log() const { return log_; }  // "level: text"
  void finalize();                                              // done by the destructor unless called before

 private:
  static void keep(void* user, int32_t level, const char* message);

  moemesh_context context_ = nullptr;
  std::vector<std::string> log_;
  bool finalized_ = false;
};

struct MeshSpec {
  int32_t tp = 1, ep = 1, pp = 1, dp = 1;
  int32_t expert_tp = 0;   // 0: tp
  std::string order = {};  // empty: the library's default
};
std::string to_string(const MeshSpec& spec);
std::ostream& operator<<(std::ostream& stream, const MeshSpec& spec);

// Every tp*ep*dp = world with pp = 1 and every expert_tp, in the default order; and those of them with expert_tp = tp.
std::vector<MeshSpec> meshes_of(int64_t world);
std::vector<MeshSpec> dense_meshes_of(int64_t world);
// Every mesh with pp > 1.
std::vector<MeshSpec> staged_meshes_of(int64_t world);

class Mesh {
 public:
  Mesh(const Session& session, const MeshSpec& spec);
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  ~Mesh();

  moemesh_mesh get() const { return mesh_; }
  const MeshSpec& spec() const { return spec_; }
  int64_t rank() const { return rank_; }  // in the context
  int64_t data_shards() const { return int64_t{spec_.ep} * spec_.dp; }
  moemesh_coordinates here() const { return at(rank_); }
  moemesh_coordinates at(int64_t rank) const;
  moemesh_group group(int32_t axes) const;
  std::vector<int64_t> members(int32_t axes) const;            // ranks of the group that this rank is in
  std::pair<int64_t, int64_t> experts(int64_t experts) const;  // first and count of this rank

  std::vector<moemesh_ledger_entry> ledger() const;
  void reset_ledger() const { OK(moemesh_ledger_reset(mesh_)); }
  void finalize();  // done by the destructor unless called before

 private:
  MeshSpec spec_;
  moemesh_mesh mesh_ = nullptr;
  int64_t rank_ = 0;
  bool finalized_ = false;
};

// The sum of the entries that match; 0 matches all, for axes use -1.
struct LedgerFilter {
  int32_t axes = -1, family = -1, phase = 0, collective = 0;
};
moemesh_ledger_entry total(const std::vector<moemesh_ledger_entry>& entries, const LedgerFilter& filter = {});
std::string to_string(const moemesh_ledger_entry& entry);

// ---- model

// One parameter of the test's own.
struct ParameterSpec {
  std::string name;
  std::vector<int64_t> extents = {};  // unsplit, of one expert for EXPERT
  int64_t experts = 0;
  int32_t tp_kind = MOEMESH_TP_REPLICA;
  int32_t tp_dim = 0;
  int32_t init_kind = MOEMESH_INIT_CONSTANT;
  double init_value = 0;
  double decay_scale = 1;
  double learning_rate_scale = 1;
  float* data = nullptr;
  float* gradient = nullptr;
  int32_t tied = 0;
};

struct ModelSpec {
  int64_t seed = 1;
  std::vector<oracle::LayerConfig> layers;
  std::vector<ParameterSpec> shared, expert;
  double init_std_router = 0.5, init_std_in = 0.5, init_std_out = 0.5;
  int32_t nonfinite = MOEMESH_NONFINITE_ERROR;
  int32_t dtype = MOEMESH_FLOAT32;  // of both families; with BFLOAT16 forward and backward convert what they are given
  int32_t combine_dtype = 0;
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1, products = MOEMESH_PRODUCTS_FAST;          // of all layers
  std::optional<moemesh_optimizer_params> optimizer = with_defaults(moemesh_optimizer_params_init);  // nullopt: none
};

// What a forward leaves; destroyed unless a backward took it.
class Tape {
 public:
  Tape() = default;
  Tape(Tape&& other) noexcept : tape_(std::exchange(other.tape_, nullptr)) {}
  Tape& operator=(Tape&& other) noexcept {
    std::swap(tape_, other.tape_);
    return *this;
  }
  ~Tape() { moemesh_tape_destroy(&tape_); }
  moemesh_tape get() const { return tape_; }
  moemesh_tape* out() { return &tape_; }

 private:
  moemesh_tape tape_ = nullptr;
};

struct ForwardOptions {
  const std::vector<uint8_t>* mask = nullptr;  // null or empty: all real
  const Floats* logits = nullptr;
  int32_t training = 1;
  int32_t microbatch = 0;
  oracle::Sequences sequences = {};
};

struct Routing {
  std::vector<int32_t> experts;  // [T, k]
  Floats gates;                  // [T, k]
};

// Called before each forward, backward and update of a Model while it is set: for ranks that are late.
inline std::function<void()> before_calls;

// Families, layers and optimizer of one mesh. Families without parameters are not made, but where pp > 1.
// An array that the library handed out, where the test can read and write it: itself, or a copy of it.
class LocalArray {
 public:
  explicit LocalArray(const moemesh_view& library);
  LocalArray(LocalArray&&) = default;
  template <class T>
  T* as() const {
    return static_cast<T*>(view.data);
  }
  void store() const;  // what was written here becomes the library's

  moemesh_view library, view;

 private:
  std::vector<std::byte> copy_;
};

class Model {
 public:
  Model(const Mesh& mesh, ModelSpec spec);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  const ModelSpec& spec() const { return spec_; }
  moemesh_family shared() const { return shared_; }
  moemesh_family expert() const { return expert_; }
  moemesh_layer layer(size_t index) const { return layers_.at(index); }
  moemesh_optimizer optimizer() const { return optimizer_; }
  // Looked up in SHARED, then in EXPERT.
  moemesh_parameter parameter(const std::string& name) const;
  moemesh_parameter_info info(const std::string& name) const;

  // Whole unsplit matrices; read is collective over the stage.
  Floats read(const std::string& name, int32_t quantity = MOEMESH_VALUE, int64_t expert = 0) const;
  void write(const std::string& name, const Floats& values, int32_t quantity = MOEMESH_VALUE, int64_t expert = 0) const;
  // This rank's part, as the library lays it out.
  LocalArray local_values(const std::string& name) const;
  LocalArray local_gradient(const std::string& name) const;
  // Of one matrix: what this rank holds, and where that lies in the unsplit matrix. Empty if the expert is elsewhere.
  Floats local_matrix(const std::string& name, int64_t expert = 0) const;
  std::vector<int64_t> local_places(const std::string& name, int64_t expert = 0) const;

  // Everything that the oracle has, in the order of oracle::named_arrays. Collective.
  oracle::Model oracle_model() const;  // layers only; shared_names from spec().shared
  oracle::Parameters read_all(int32_t quantity = MOEMESH_VALUE) const;

  // Destroys the optimizer and makes another one on the same families. Collective.
  void replace_optimizer(const Mesh& mesh, const moemesh_optimizer_params& params);
  void begin(int32_t microbatches = 1, int32_t objective = MOEMESH_SHARD_MEAN, double loss_scale = 1) const;
  moemesh_update_result update(double learning_rate = -1) const;
  void end(bool reduce) const { OK(moemesh_step_end(optimizer_, reduce ? 1 : 0)); }

  // x [T, H] -> y [T, H], which is filled with NaN before. tape null: only with training = 0. x, and a mask, must live
  // until backward.
  Floats forward(size_t layer, const Floats& x, Tape* tape, const ForwardOptions& options = {}) const;
  // dy [T, H] -> dx, which is filled with NaN before. dlogits [T, E] of a caller's router, else null.
  Floats backward(size_t layer, Tape* tape, const Floats& dy, Floats* dlogits = nullptr) const;
  // A forward of the tape again, on x, which is to live from here to backward.
  Floats replay(size_t layer, Tape* tape, const Floats& x) const;
  moemesh_layer_statistics statistics(size_t layer) const;
  Routing routing(size_t layer, const Tape& tape, int64_t tokens) const;
  Floats bias(size_t layer) const;
  void set_bias(size_t layer, Floats values) const;

 private:
  void create_layers(const Mesh& mesh);
  void register_all(moemesh_family family, const std::vector<ParameterSpec>& parameters);
  void release();

  bool half() const { return spec_.dtype == MOEMESH_BFLOAT16; }

  ModelSpec spec_;
  mutable std::list<Halves> inputs_;  // of bf16 forwards since the step began: borrowed until backward
  int64_t tp_ = 1, tp_coordinate_ = 0, expert_tp_ = 1, expert_tp_coordinate_ = 0;
  moemesh_family shared_ = nullptr;
  moemesh_family expert_ = nullptr;
  std::vector<moemesh_layer> layers_;
  moemesh_optimizer optimizer_ = nullptr;
};

}  // namespace moemesh::test
