// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace moemesh::kernels {

// How an element of an activation or a weight is stored. Everything is computed in fp32.
enum class Element : int32_t { float32 = 1, bfloat16 = 3 };

constexpr int64_t bytes_of(Element element) { return element == Element::bfloat16 ? 2 : 4; }

// An array of elements of either kind; null: there is none. Made of whatever converts to a pointer to them: fp32 is a float,
// bf16 a uint16_t.
struct Array {
  std::byte* data = nullptr;
  Element element = Element::float32;

  Array(std::nullptr_t = nullptr) {}
  Array(std::byte* bytes, Element stored) : data(bytes), element(stored) {}
  template <class P>
  requires std::convertible_to<const P&, float*> Array(const P& floats)
      : data(reinterpret_cast<std::byte*>(static_cast<float*>(floats))) {}
  template <class P>
  requires std::convertible_to<const P&, uint16_t*> Array(const P& halves)
      : data(reinterpret_cast<std::byte*>(static_cast<uint16_t*>(halves))), element(Element::bfloat16) {}

  explicit operator bool() const { return data != nullptr; }
  // What begins `elements` further on.
  Array from(int64_t elements) const {
    return data == nullptr ? *this : Array(data + elements * bytes_of(element), element);
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// The same, to be read.
struct ConstArray {
  const std::byte* data = nullptr;
  Element element = Element::float32;

  ConstArray(std::nullptr_t = nullptr) {}
  ConstArray(const std::byte* bytes, Element stored) : data(bytes), element(stored) {}
  ConstArray(const Array& array) : data(array.data), element(array.element) {}
  template <class P>
  requires std::convertible_to<const P&, const float*> ConstArray(const P& floats)
      : data(reinterpret_cast<const std::byte*>(static_cast<const float*>(floats))) {}
  template <class P>
  requires std::convertible_to<const P&, const uint16_t*> ConstArray(const P& halves)
      : data(reinterpret_cast<const std::byte*>(static_cast<const uint16_t*>(halves))), element(Element::bfloat16) {}

  explicit operator bool() const { return data != nullptr; }
  ConstArray from(int64_t elements) const {
    return data == nullptr ? *this : ConstArray(data + elements * bytes_of(element), element);
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data);
  }
};

}  // namespace moemesh::kernels
