// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Who makes which product.
#include <cstdlib>
#include <cstring>

#include "kernels/gemm_backend.hpp"
#include "kernels/memory.hpp"

namespace moemesh::kernels {

namespace detail {

bool told_in_tests(const char* word) {
  static const char* const told = [] {
    const char* const text = std::getenv("MOEMESH_TEST_PRODUCTS");
    return text == nullptr ? "" : text;
  }();
  return std::strstr(told, word) != nullptr;
}

namespace {

bool portable_forced() {
  static const bool forced = told_in_tests("portable");
  return forced;
}

bool as_on_device() {
  static const bool device = separate_memory || told_in_tests("device");
  return device;
}

}  // namespace
}  // namespace detail

Element row_element(Element weights) { return detail::as_on_device() ? weights : Element::float32; }

bool groups_together() { return detail::as_on_device(); }

Maker maker_of(const Gemm& product, const RowProducts& how) {
  const bool stable = how.scratch != nullptr;
  if (detail::portable_forced()) return Maker::portable;
#if defined(MOEMESH_DEVICE_CUDA)
  (void)product;
  return stable ? Maker::portable : Maker::library;
#elif defined(MOEMESH_HAVE_ONEDNN)
  if (product.a.element != Element::float32) return Maker::portable;
  return stable ? Maker::library_tiles : Maker::library;
#else
  (void)product, (void)stable;
  return Maker::portable;
#endif
}

Maker maker_of(const Groups& groups, const GroupedGemm& product, const RowProducts& how) {
  const Maker single = maker_of(product.first, how);
#ifdef MOEMESH_DEVICE_CUDA
  if (single == Maker::library && detail::cublas_groups(product) && detail::cublas_has_room(groups, product))
    return Maker::library_grouped;
#else
  (void)groups;
#endif
  return single;
}

const char* name_of(Maker maker) {
  switch (maker) {
    case Maker::portable:
      return "portable";
    case Maker::library:
      return "library";
    case Maker::library_grouped:
      return "library, grouped";
    case Maker::library_tiles:
      return "library, tiles";
  }
  return "unknown";
}

}  // namespace moemesh::kernels
