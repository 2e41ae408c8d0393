// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// One step of a model whose layers are run in some mode of recompute and chunks, and all that must not depend on the mode.
#pragma once

#include <string>
#include <vector>

#include "case_support.hpp"

namespace moemesh::test {

struct LayerMode {
  int32_t recompute = MOEMESH_RECOMPUTE_NONE, chunks = 1, products = MOEMESH_PRODUCTS_ROW_STABLE;
  bool replay = false;  // of every tape, on a copy of x
};
std::ostream& operator<<(std::ostream& stream, const LayerMode& mode);

struct ModeStep {
  int32_t dtype = MOEMESH_FLOAT32;
  std::vector<int64_t> tokens{7, 4};  // of each microbatch
  int64_t uneven = 2;                 // more of them for each data shard number
  bool masked = false;
};

struct ModeRecord {
  std::vector<Floats> y, dx, gradients;
  std::vector<Routing> routing;
  std::vector<moemesh_layer_statistics> statistics;
};

// Two layers, the first with a shared expert, a capacity and a balance loss. Collective over the mesh.
ModeRecord run_mode(const Mesh& mesh, const ModeStep& step, const LayerMode& mode);
void expect_same(const ModeRecord& a, const ModeRecord& b);

// Of this world size; of 8 ranks some that between them have every axis wide and narrow.
std::vector<MeshSpec> some_meshes();

}  // namespace moemesh::test
