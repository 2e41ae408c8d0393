// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "bench/device/device.hpp"
#include "moemesh.hpp"

namespace bench {

struct LayerTimes {
  Spread forward, backward, both;
};

// A layer of one rank, forward and backward, through the C API, with x, y, dy and dx in the device's memory.
LayerTimes measure_layer(const moemesh::context& context, const Case& what, double limit, int most);

// Seconds of one dense layer's products with as many rows and the same arithmetic: each of the nine over all rows at
// once, with one matrix. Nothing where there is no product of that element.
Spread measure_dense(const Case& what, double limit, int most);

}  // namespace bench
