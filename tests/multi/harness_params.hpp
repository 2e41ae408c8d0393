// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "harness.hpp"

namespace moemesh::test {

// The header's structs of what a ModelSpec describes. Names are borrowed from the arguments.
moemesh_layer_params layer_params(const ModelSpec& spec, const oracle::LayerConfig& config);
moemesh_parameter_params parameter_params(const ParameterSpec& spec);

}  // namespace moemesh::test
