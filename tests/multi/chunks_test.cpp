// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// A layer in chunks against the layer in one: with row-stable products every bit is the same, for any number of chunks, more
// than there are tokens too, in every mode of recompute.
#include "layer_modes.hpp"

namespace moemesh::test {
namespace {

constexpr int32_t none = MOEMESH_RECOMPUTE_NONE, selective = MOEMESH_RECOMPUTE_SELECTIVE, full = MOEMESH_RECOMPUTE_FULL;

void expect_same_as_one(const MeshSpec& spec, const Session& session, const ModeStep& step,
                        const std::vector<LayerMode>& modes) {
  const Mesh mesh(session, spec);
  const ModeRecord one = run_mode(mesh, step, {});
  for (const LayerMode& mode : modes) {
    SCOPED_TRACE(testing::Message() << spec << " dtype " << step.dtype << " " << mode);
    expect_same(run_mode(mesh, step, mode), one);
  }
}

TEST(Chunks, GiveTheBitsOfOne) {
  const Session session;
  const std::vector<LayerMode> modes{{none, 2}, {none, 3}, {selective, 7}, {full, 2}, {full, 7}, {selective, 40}};
  for (const MeshSpec& spec : some_meshes()) {
    expect_same_as_one(spec, session, {}, modes);
    expect_same_as_one(spec, session, {.dtype = MOEMESH_BFLOAT16, .masked = true}, {modes[1], modes[4]});
    expect_same_as_one(spec, session, {.tokens = {0, 3}, .uneven = 0}, {modes[1], modes[4]});
  }
}

TEST(Chunks, GiveTheBitsOfOneAfterAReplay) {
  const Session session;
  for (const MeshSpec& spec : some_meshes())
    expect_same_as_one(
        spec, session, {},
        {{.recompute = full, .chunks = 3, .replay = true}, {.recompute = selective, .chunks = 2, .replay = true}});
}

// Enough rows for several blocks of a product, and for tails of every kind.
TEST(Chunks, GiveTheBitsOfOneForManyRows) {
  const Session session;
  expect_same_as_one({.ep = world_size()}, session, {.tokens = {701}, .uneven = 13}, {{none, 2}, {full, 5}});
}

}  // namespace
}  // namespace moemesh::test
