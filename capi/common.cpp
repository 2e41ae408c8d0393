// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "capi/call.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "impl/base/view.hpp"
#include "kernels/permute.hpp"

namespace moemesh::capi {
namespace {

// Trivially initialized and destroyed, so that loading the library late and unloading it are harmless.
thread_local std::array<char, 1024> thread_error{};

struct StatusText {
  int32_t value;
  const char* name;
  const char* text;
};
constexpr StatusText statuses[] = {
#define MOEMESH_STATUS_ROW(name, value, text) {value, "MOEMESH_" #name, text},
    MOEMESH_STATUS_LIST(MOEMESH_STATUS_ROW)
#undef MOEMESH_STATUS_ROW
};

const StatusText* find_status(int32_t value) {
  const auto* found =
      std::find_if(std::begin(statuses), std::end(statuses), [&](const auto& s) { return s.value == value; });
  return found == std::end(statuses) ? nullptr : found;
}

}  // namespace

HandleTable& HandleTable::instance() {
  static auto* table = new HandleTable;  // never destroyed: handles may be destroyed at exit by anyone
  return *table;
}

void remember_error(Context* context, const std::string& text) noexcept {
  std::snprintf(thread_error.data(), thread_error.size(), "%s", text.c_str());
  if (!context) return;
  try {
    context->last_error = text;
  } catch (...) {
    context->last_error.clear();
  }
}

int32_t report(Context* context, int32_t status, const char* text) noexcept {
  try {
    const auto* known = find_status(status);
    std::string whole = format_message("{}: {}", known ? known->name : "MOEMESH_UNKNOWN", text);
    if (context) whole += format_message(" (rank {})", context->rank());
    remember_error(context, whole);
    if (context) context->log().write(MOEMESH_LOG_ERROR, "{}", whole);
  } catch (...) {  // out of memory while telling of an error: the status alone must do
  }
  return status;
}

}  // namespace moemesh::capi

using namespace moemesh;
using namespace moemesh::capi;

const char* moemesh_status_name(int32_t status) {
  const auto* known = find_status(status);
  return known ? known->name : "MOEMESH_UNKNOWN";
}

const char* moemesh_status_text(int32_t status) {
  const auto* known = find_status(status);
  return known ? known->text : "unknown status";
}

int32_t moemesh_version(int32_t* major, int32_t* minor, int32_t* patch) {
  return guarded([&](Call&) {
    required(major, "major");
    required(minor, "minor");
    required(patch, "patch");
    *major = MOEMESH_VERSION_MAJOR;
    *minor = MOEMESH_VERSION_MINOR;
    *patch = MOEMESH_VERSION_PATCH;
  });
}

int32_t moemesh_last_error(moemesh_context context, char* buffer, int64_t capacity, int64_t* length) {
  return guarded([&](Call&) {
    require(capacity >= 0, MOEMESH_ERROR_INVALID_ARGUMENT, "capacity: expected >= 0, got {}", capacity);
    require(buffer != nullptr || capacity == 0, MOEMESH_ERROR_INVALID_ARGUMENT, "buffer: NULL with capacity {}",
            capacity);
    const std::string text =
        context ? object_of<Context>(context, "context")->last_error : std::string(thread_error.data());
    if (length) *length = static_cast<int64_t>(text.size());
    if (capacity == 0) return;
    const auto n = std::min<size_t>(text.size(), static_cast<size_t>(capacity - 1));
    std::copy_n(text.data(), n, buffer);
    buffer[n] = 0;
  });
}

int32_t moemesh_shutdown(void) {
  return guarded([](Call&) { shutdown_runtimes(); });
}

int32_t moemesh_view_init(moemesh_view* view, int32_t dtype, int32_t rank, const int64_t* extents, void* data) {
  return guarded([&](Call&) {
    required(view, "view");
    required(extents, "extents");
    require(dtype >= MOEMESH_FLOAT32 && dtype <= MOEMESH_UINT8, MOEMESH_ERROR_INVALID_ARGUMENT,
            "dtype: expected 1..6, got {}", dtype);
    require(rank >= 1 && rank <= 4, MOEMESH_ERROR_INVALID_ARGUMENT, "rank: expected 1..4, got {}", rank);
    for (int32_t i = 0; i < rank; ++i)
      require(extents[i] >= 0, MOEMESH_ERROR_INVALID_ARGUMENT, "extents[{}]: expected >= 0, got {}", i, extents[i]);
    moemesh_view result{};
    result.dtype = dtype;
    result.memory = MOEMESH_MEMORY_HOST;
    result.rank = rank;
    result.data = data;
    int64_t stride = 1;
    for (int32_t i = rank - 1; i >= 0; --i) {
      result.extents[i] = extents[i];
      result.strides[i] = stride;
      require(!__builtin_mul_overflow(stride, extents[i], &stride) && stride <= INT64_MAX / 8,
              MOEMESH_ERROR_INVALID_ARGUMENT,
              "extents: expected less than 2^63 bytes in all; extents[{}] = {} is too much", i, extents[i]);
    }
    *view = result;
  });
}

namespace {

// As rows of bytes that lie one after the other.
struct ByteRows {
  int64_t rows, width, stride;
};

ByteRows byte_rows(const moemesh_view& view) {
  // Beside an extent of 0 the others may be anything, and their product leave 64 bits.
  if (std::find(view.extents, view.extents + view.rank, 0) != view.extents + view.rank) return {0, 0, 0};
  const int64_t element = dtype_bytes(view.dtype), rows = view.rank == 1 ? 1 : view.extents[0];
  int64_t width = 1;
  for (int32_t i = view.rank - 1; i >= (view.rank == 1 ? 0 : 1); --i) {
    require(view.extents[i] <= 1 || view.strides[i] == width, MOEMESH_ERROR_INVALID_ARGUMENT,
            "strides[{}]: expected {}, got {}", i, width, view.strides[i]);
    width *= view.extents[i];
  }
  const int64_t stride = rows > 1 ? view.strides[0] : width;
  require(stride >= width, MOEMESH_ERROR_INVALID_ARGUMENT, "strides[0]: expected >= {}, got {}", width, stride);
  return {width == 0 ? 0 : rows, width * element, stride * element};
}

}  // namespace

int32_t moemesh_view_copy(const moemesh_view* from, const moemesh_view* to) {
  return guarded([&](Call&) {
    check_any(from, "from");
    check_any(to, "to");
    constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
    require(from->dtype == to->dtype, bad, "to.dtype: expected {}, got {}", from->dtype, to->dtype);
    require(from->rank == to->rank, bad, "to.rank: expected {}, got {}", from->rank, to->rank);
    for (int32_t i = 0; i < from->rank; ++i)
      require(from->extents[i] == to->extents[i], bad, "to.extents[{}]: expected {}, got {}", i, from->extents[i],
              to->extents[i]);
    const ByteRows source = byte_rows(*from), target = byte_rows(*to);
    if (source.rows == 0) return;
    kernels::finish();
    kernels::copy_rows_of_bytes(to->data, target.stride, from->data, source.stride, source.width, source.rows);
    kernels::finish();
  });
}
