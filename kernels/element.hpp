// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

namespace moemesh::kernels {

// How an element of an activation or a weight is stored. Everything is computed in fp32.
enum class Element : int32_t { float32 = 1, bfloat16 = 3 };

constexpr int64_t bytes_of(Element element) { return element == Element::bfloat16 ? 2 : 4; }

}  // namespace moemesh::kernels
