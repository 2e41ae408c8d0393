// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

#include "kernels/element.hpp"

// Activations of the experts, fused with the gate.
namespace moemesh::kernels {

enum class Activation : int32_t { identity = 1, relu, gelu_tanh, gelu_erf, silu, swiglu, geglu };
bool is_gated(Activation kind);  // swiglu, geglu

// A = act(h) or act(hg) * h (gated kinds: hg is the product with Wg, h the one with W1); out = gate[r] * A.
// All [rows, width] dense and of one element; hg null unless gated; gate null = 1. out may be h.
void activate(Activation kind, int64_t rows, int64_t width, const ConstArray& h, const ConstArray& hg,
              const float* gate, const Array& out);

// da [rows, width]: in: gradient of the ungated A as if the gate were 1 (G W2); out: gradient of h, gate included.
// dhg (gated kinds, else null): gradient of hg. gated_a: out: gate * A, for the gradient of W2.
// dgate (null = not wanted): [rows], <da, A>: nothing is divided by a gate, so a gate of 0 is fine.
void activate_backward(Activation kind, int64_t rows, int64_t width, const ConstArray& h, const ConstArray& hg,
                       const float* gate, const Array& da, const Array& dhg, const Array& gated_a, float* dgate);

}  // namespace moemesh::kernels
