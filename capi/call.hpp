// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "capi/handles.hpp"
#include "impl/context/context.hpp"
#include "impl/context/mesh.hpp"
#include "kernels/memory.hpp"

namespace moemesh::capi {

// Keeps the text of an error for moemesh_last_error: of the context if one is known, and of the thread.
void remember_error(Context* context, const std::string& text) noexcept;

// On a host there are none.
inline void check_stream(const void* stream) {
  require(stream == nullptr || kernels::takes_streams, MOEMESH_ERROR_NOT_SUPPORTED,
          "stream: expected NULL on a host, got a stream");
}

// One API call: runs `body(call)`, turns whatever it throws into a status. The body tells which context it works for.
class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { (void)kernels::set_waiter(waiter_); }

  void in(std::shared_ptr<Context> context) {
    context_ = std::move(context);
    if (context_ && context_->between_devices()) (void)kernels::set_waiter(&context_->link());
  }
  void in(const Mesh& mesh) { in(mesh.context()); }
  Context* context() const { return context_.get(); }

 private:
  kernels::DeviceScope device_;  // the caller's own is current again afterwards
  std::shared_ptr<Context> context_;
  kernels::Waiter* waiter_ = kernels::set_waiter(nullptr);  // of the call in whose callback this one is
};

int32_t report(Context* context, int32_t status, const char* text) noexcept;

template <class Body>
int32_t guarded(Body&& body) noexcept {
  Call call;
  try {
    body(call);
    return MOEMESH_OK;
  } catch (const Error& error) {
    return report(call.context(), error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return report(call.context(), MOEMESH_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return report(call.context(), MOEMESH_ERROR_INTERNAL, error.what());
  } catch (...) {
    return report(call.context(), MOEMESH_ERROR_INTERNAL, "unknown exception");
  }
}

template <class T>
T& required(T* pointer, const char* name) {
  require(pointer != nullptr, MOEMESH_ERROR_INVALID_ARGUMENT, "{}: expected a pointer, got NULL", name);
  return *pointer;
}

// ---- structs with struct_size

inline constexpr int64_t largest_struct = 4096;

inline void check_struct_size(int64_t size, int64_t first_release, const char* name) {
  require(size >= first_release && size <= largest_struct, MOEMESH_ERROR_INVALID_STRUCT,
          "{}.struct_size: expected {}..{}, got {}", name, first_release, largest_struct, size);
}

// The caller's struct over the defaults: an older one leaves newer fields at their defaults, a newer one must have zeros
// where this version knows no field. first_release: its size in version 0.1.0.
template <class P>
P read_struct(const P* user, const P& defaults, int64_t first_release, const char* name) {
  const int64_t size = required(user, name).struct_size;
  check_struct_size(size, first_release, name);
  P params = defaults;
  constexpr auto known = static_cast<int64_t>(sizeof(P));
  std::memcpy(&params, user, static_cast<size_t>(std::min(size, known)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(user);
  for (int64_t i = known; i < size; ++i)
    require(bytes[i] == 0, MOEMESH_ERROR_UNKNOWN_OPTION, "{}: byte {} is set, this version knows {} bytes", name, i,
            known);
  params.struct_size = known;
  return params;
}

// Before any work: a bad output struct must not lose a result.
template <class P>
void check_result_struct(const P* user, int64_t first_release, const char* name) {
  check_struct_size(required(user, name).struct_size, first_release, name);
}

// Fills what the caller's struct has room for; its struct_size stays.
template <class P>
void write_struct(P* user, P result) {
  const int64_t size = user->struct_size;
  result.struct_size = size;
  if (size > static_cast<int64_t>(sizeof(P))) std::memset(user, 0, static_cast<size_t>(size));
  std::memcpy(user, &result, static_cast<size_t>(std::min<int64_t>(size, sizeof(P))));
}

// The body of every *_params_init. Writes struct_size bytes: an older caller's struct is shorter.
template <class P>
int32_t init_struct(P* user, int64_t size, const P& defaults, int64_t first_release, const char* name) noexcept {
  return guarded([&](Call&) {
    required(user, name);
    check_struct_size(size, first_release, name);
    P params = defaults;
    params.struct_size = size;
    std::memset(user, 0, static_cast<size_t>(size));
    std::memcpy(user, &params, static_cast<size_t>(std::min<int64_t>(size, sizeof(P))));
  });
}

// Defaults of structs that more than one file of this folder reads.
extern const moemesh_layer_params layer_defaults;
extern const moemesh_parameter_params parameter_defaults;
extern const moemesh_pipeline_params pipeline_defaults;

// Entry `index` of a ledger or of a bill.
void write_entry(const std::map<Ledger::Key, Ledger::Counts>& entries, int64_t index, moemesh_ledger_entry* entry);

// The members' sizes must add up to the struct's: no hidden padding that a later field could land in.
template <class P, class... Members>
constexpr bool no_padding(Members P::*...) {
  return (sizeof(Members) + ... + 0) == sizeof(P);
}

}  // namespace moemesh::capi
