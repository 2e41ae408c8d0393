// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "bench/device/device.hpp"
#include "kernels/gemm.hpp"
#include "kernels/memory.hpp"

namespace bench {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

static_assert(!moemesh::kernels::separate_memory,
              "this stand-in is for builds whose kernels work on the host's memory");

std::string device_name() { return "no device: this host's processor stands in"; }

Array::Array(int64_t bytes) : data_(std::calloc(1, static_cast<size_t>(bytes))), bytes_(bytes) {
  if (data_ == nullptr) throw std::bad_alloc();
}
Array::~Array() { std::free(data_); }

void copy(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }

Timer::Timer() = default;
Timer::~Timer() = default;
void Timer::start() { host_begin_ = now(); }
double Timer::stop() { return now() - host_begin_; }

bool multiplies(Element element) { return element == Element::float32; }

void multiply(const Product& p, Element element, const Array& a, const Array& b, const Array& c) {
  if (!multiplies(element)) throw std::invalid_argument("no product of bf16 here");
  moemesh::kernels::gemm({.transpose_a = p.transpose_a,
                          .transpose_b = p.transpose_b,
                          .m = p.m,
                          .n = p.n,
                          .k = p.k,
                          .a = a.as<float>(),
                          .lda = p.transpose_a ? p.m : p.k,
                          .b = b.as<float>(),
                          .ldb = p.transpose_b ? p.k : p.n,
                          .c = c.as<float>(),
                          .ldc = p.n});
}

}  // namespace bench
