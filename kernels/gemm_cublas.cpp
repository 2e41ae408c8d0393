// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <cublas_v2.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda_error.hpp"
#include "kernels/detail.hpp"
#include "kernels/gemm_backend.hpp"
#include "kernels/runtime.hpp"

namespace moemesh::kernels::detail {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + " failed: " + cublasGetStatusString(status));
}

// Memory of the device for the pointers of a grouped call. It is written and read in the order of this thread's kernels,
// whatever their stream (StreamScope), so that one is enough.
class Pointers {
 public:
  ~Pointers() { drop(); }
  Pointers() = default;
  Pointers(const Pointers&) = delete;
  Pointers& operator=(const Pointers&) = delete;

  void** reserve(int64_t count) {
    if (count <= size_) return data_;
    drop();
    const int64_t size = std::max<int64_t>(count, 1024);
    data_ = static_cast<void**>(allocate(Memory::device, size * static_cast<int64_t>(sizeof(void*))));
    if (data_ == nullptr) throw std::bad_alloc();
    size_ = size;
    return data_;
  }

 private:
  void drop() {
    if (data_) release(Memory::device, data_, size_ * static_cast<int64_t>(sizeof(void*)));
    data_ = nullptr;
    size_ = 0;
  }
  void** data_ = nullptr;
  int64_t size_ = 0;
};

// What a grouped call takes from the host, an entry for each group that has rows.
struct Lists {
  std::vector<cublasOperation_t> op_a, op_b;
  std::vector<int64_t> m, n, k, lda, ldb, ldc, size;
  std::vector<float> alpha, beta;

  void clear() {
    for (auto* list : {&op_a, &op_b}) list->clear();
    for (auto* list : {&m, &n, &k, &lda, &ldb, &ldc, &size}) list->clear();
    for (auto* list : {&alpha, &beta}) list->clear();
  }
};

// One for each thread: a handle's stream is changed from call to call.
class Handle {
 public:
  Handle() {
    check(cublasCreate(&handle_), "cublasCreate");
    // fp32 is fp32: no TF32, unless a caller is given a way to ask for it. Partial sums of bf16 products are not rounded.
    const int mode = CUBLAS_PEDANTIC_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    check(cublasSetMathMode(handle_, static_cast<cublasMath_t>(mode)), "cublasSetMathMode");
  }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  cublasHandle_t on(cudaStream_t stream) const {
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    return handle_;
  }
  Pointers pointers;
  Lists lists;

 private:
  cublasHandle_t handle_ = nullptr;
};

Handle& this_threads() {
  thread_local Handle handle;
  return handle;
}

cublasOperation_t operation(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }

cudaDataType_t type_of(Element element) { return element == Element::bfloat16 ? CUDA_R_16BF : CUDA_R_32F; }

// Of fp32: the pedantic one, which never rounds an operand. bf16 operands are exact on tensor cores.
cublasComputeType_t compute_type(const Gemm& p) {
  return p.a.element == Element::bfloat16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
}

// Groups that have rows, as many as one launch takes as its arguments.
struct Places {
  static constexpr int64_t most = 64;
  int64_t group[most], row[most];
};

// Where one operand of a group begins: base + group * per_group + row * per_row, in bytes.
struct Operand {
  std::byte* base;
  int64_t per_group, per_row;
  KOKKOS_INLINE_FUNCTION void* of(int64_t group, int64_t row) const { return base + group * per_group + row * per_row; }
};

struct Operands {
  Operand a, b, c;
};

// As of_group() says it, for a kernel.
Operands operands_of(const GroupedGemm& product) {
  const Gemm& p = product.first;
  const auto bytes = [](const auto& array, int64_t elements) { return elements * bytes_of(array.element); };
  const auto at = [](const ConstArray& array) { return const_cast<std::byte*>(array.data); };
  const Operand a{at(p.a), 0, bytes(p.a, p.lda)};
  if (p.transpose_a) return {a, {at(p.b), 0, bytes(p.b, p.ldb)}, {p.c.data, bytes(p.c, p.m * p.ldc), 0}};
  return {a, {at(p.b), bytes(p.b, (p.transpose_b ? p.n : p.k) * p.ldb), 0}, {p.c.data, 0, bytes(p.c, p.ldc)}};
}

// [first, first + count) of each of the three lists of `stride` pointers.
void write_pointers(const Operands& operands, const Places& places, int64_t first, int64_t count, int64_t stride,
                    void** to) {
  for_each(
      "moemesh::group_pointers", count, KOKKOS_LAMBDA(int64_t i) {
        const int64_t group = places.group[i], row = places.row[i];
        to[first + i] = operands.a.of(group, row);
        to[stride + first + i] = operands.b.of(group, row);
        to[2 * stride + first + i] = operands.c.of(group, row);
      });
}

int64_t count_filled(const Groups& groups) {
  int64_t filled = 0;
  for_filled_groups(groups, [&](int64_t, int64_t, int64_t) { ++filled; });
  return filled;
}

void write_all_pointers(const Groups& groups, const GroupedGemm& product, int64_t filled, void** to) {
  const Operands operands = operands_of(product);
  Places places{};
  int64_t written = 0, waiting = 0;
  const auto flush = [&] {
    write_pointers(operands, places, written, waiting, filled, to);
    written += std::exchange(waiting, 0);
  };
  for_filled_groups(groups, [&](int64_t group, int64_t row, int64_t) {
    places.group[waiting] = group;
    places.row[waiting] = row;
    if (++waiting == Places::most) flush();
  });
  flush();
}

// cuBLAS counts by columns: a row-major C is the transpose of its C, so that A and B change places.
void list_group(const Gemm& p, Lists& lists) {
  lists.op_a.push_back(operation(p.transpose_b));
  lists.op_b.push_back(operation(p.transpose_a));
  lists.m.push_back(p.n);
  lists.n.push_back(p.m);
  lists.k.push_back(p.k);
  lists.lda.push_back(p.ldb);
  lists.ldb.push_back(p.lda);
  lists.ldc.push_back(p.ldc);
  lists.size.push_back(1);
  lists.alpha.push_back(1);
  lists.beta.push_back(p.accumulate ? 1.0F : 0.0F);
}

int64_t multiprocessors() {
  static const int count = [] {
    int value = 0;
    cuda_check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device()), "cudaDeviceGetAttribute");
    return value;
  }();
  return count;
}

bool aligned(const ConstArray& array, int64_t ld) {
  return reinterpret_cast<uintptr_t>(array.data) % 16 == 0 && ld * bytes_of(array.element) % 16 == 0;
}

}  // namespace

void gemm_cublas(const Gemm& p) {
  const float one = 1.0F, beta = p.accumulate ? 1.0F : 0.0F;
  check(cublasGemmEx_64(this_threads().on(current_stream()), operation(p.transpose_b), operation(p.transpose_a), p.n,
                        p.m, p.k, &one, p.b.data, type_of(p.b.element), p.ldb, p.a.data, type_of(p.a.element), p.lda,
                        &beta, p.c.data, type_of(p.c.element), p.ldc, compute_type(p), CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

// The grouped call has one type for all matrices, bf16 or fp32, and wants bf16 ones at multiples of 16 bytes. A product that
// has a tile of 128 x 128 for each multiprocessor twice over keeps all of them busy by itself.
bool cublas_groups(const GroupedGemm& product) {
  const Gemm& p = product.first;
  return p.a.element == p.b.element && p.a.element == p.c.element && aligned(p.a, p.lda) && aligned(p.b, p.ldb) &&
         aligned(p.c, p.ldc);
}

bool cublas_has_room(const Groups& groups, const GroupedGemm& product) {
  constexpr int64_t tile = 128;
  const Gemm& p = product.first;
  static const bool grouped = told_in_tests("grouped"), loop = told_in_tests("loop");
  const int64_t filled = count_filled(groups);
  if (filled < 2 || loop || grouped) return filled >= 1 && grouped;
  const int64_t rows = p.transpose_a ? p.m : p.m / filled;
  return ceil_div(rows, tile) * ceil_div(p.n, tile) < 2 * multiprocessors();
}

// The lists of sizes are the host's, those of pointers the device's.
void gemm_cublas_grouped(const Groups& groups, const GroupedGemm& product) {
  const int64_t filled = count_filled(groups);
  if (filled == 0 || product.first.m <= 0 || product.first.n <= 0 || product.first.k <= 0) return;
  Handle& own = this_threads();
  Lists& lists = own.lists;
  lists.clear();
  for_filled_groups(groups, [&](int64_t group, int64_t first, int64_t rows) {
    list_group(of_group(product, group, first, rows), lists);
  });
  void** const pointers = own.pointers.reserve(3 * filled);
  write_all_pointers(groups, product, filled, pointers);
  const Gemm& p = product.first;
  check(cublasGemmGroupedBatchedEx_64(own.on(current_stream()), lists.op_a.data(), lists.op_b.data(), lists.m.data(),
                                      lists.n.data(), lists.k.data(), lists.alpha.data(), pointers + filled,
                                      type_of(p.b.element), lists.lda.data(), pointers, type_of(p.a.element),
                                      lists.ldb.data(), lists.beta.data(), pointers + 2 * filled, type_of(p.c.element),
                                      lists.ldc.data(), filled, lists.size.data(), compute_type(p)),
        "cublasGemmGroupedBatchedEx");
}

const char* cublas_name() {
  static const std::string name = [] {
    int version = 0;
    for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
      int value = 0;
      (void)cublasGetProperty(part, &value);
      version = version * 100 + value;
    }
    return "cuBLAS " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }();
  return name.c_str();
}

const void* cublas_code() { return reinterpret_cast<const void*>(&cublasGetProperty); }

}  // namespace moemesh::kernels::detail
