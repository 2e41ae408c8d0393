// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// What a tape keeps and what is made again changes no bit of any result; what it sends and how many bytes it takes is what
// the header says.
#include <algorithm>

#include "layer_modes.hpp"
#include "pmpi.hpp"

namespace moemesh::test {
namespace {

constexpr int32_t none = MOEMESH_RECOMPUTE_NONE, selective = MOEMESH_RECOMPUTE_SELECTIVE, full = MOEMESH_RECOMPUTE_FULL;

TEST(Recompute, ChangesNoBit) {
  const Session session;
  for (const MeshSpec& spec : some_meshes())
    for (const int32_t dtype : {MOEMESH_FLOAT32, MOEMESH_BFLOAT16}) {
      const Mesh mesh(session, spec);
      const ModeStep step{.dtype = dtype, .masked = dtype == MOEMESH_BFLOAT16};
      for (const int32_t chunks : {1, 3}) {
        const ModeRecord kept = run_mode(mesh, step, {none, chunks, MOEMESH_PRODUCTS_FAST});
        for (const LayerMode& mode : {LayerMode{selective, chunks}, LayerMode{full, chunks},
                                      LayerMode{.recompute = full, .chunks = chunks, .replay = true},
                                      LayerMode{.recompute = selective, .chunks = chunks, .replay = true},
                                      LayerMode{.recompute = none, .chunks = chunks, .replay = true}}) {
          SCOPED_TRACE(testing::Message() << spec << " dtype " << dtype << " " << mode);
          LayerMode fast = mode;
          fast.products = MOEMESH_PRODUCTS_FAST;
          expect_same(run_mode(mesh, step, fast), kept);
        }
      }
    }
}

// ---- P28: tied logits

struct Exchanges {
  Floats y, dx, dlogits, w1, w2;
  moemesh_layer_statistics statistics{};
  int64_t calls = 0;
};

Exchanges tied_step(const Mesh& mesh, int32_t recompute, bool replay) {
  oracle::LayerConfig config;
  config.hidden = config.ffn = 8;
  config.experts = 4;
  config.top_k = 2;
  config.caller_logits = true;
  ModelSpec spec;
  spec.layers = {config};
  spec.recompute = recompute;
  spec.optimizer->shared_stage = spec.optimizer->expert_stage = 0;
  const Model model(mesh, spec);
  oracle::Random random(static_cast<uint64_t>(mesh.rank()) + 1);
  const Floats x = to_floats(random.uniform_array(6 * 8, -1, 1)), dy = to_floats(random.uniform_array(6 * 8, -1, 1));
  Floats logits(24, 0.25F);
  for (const size_t row : {size_t{1}, size_t{4}})
    std::copy_n(Floats{1, 1, 0, 0}.begin(), 4, logits.begin() + static_cast<int64_t>(row) * 4);
  Exchanges made;
  mesh.reset_ledger();
  model.begin();
  Tape tape;
  made.y = model.forward(0, x, &tape, {.logits = &logits});
  if (replay) EXPECT_TRUE(same_bits(model.replay(0, &tape, x), made.y));
  made.dx = model.backward(0, &tape, dy, &made.dlogits);
  made.statistics = model.statistics(0);
  made.calls = total(mesh.ledger(), {.collective = MOEMESH_COLLECTIVE_ALL_TO_ALL}).calls;
  model.end(true);
  made.w1 = model.read("moe.w1", MOEMESH_GRADIENT, 0);
  made.w2 = model.read("moe.w2", MOEMESH_GRADIENT, 1);
  return made;
}

// The router noise of the case is not offered.
TEST(Case, P28_recompute) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  const Mesh mesh(session, case_mesh(1, 2, 1));
  const Exchanges kept = tied_step(mesh, none, false);
  EXPECT_EQ(kept.calls, 4);
  EXPECT_EQ(kept.statistics.rows, 12);
  for (const bool replay : {false, true})
    for (const int32_t recompute : {selective, full}) {
      SCOPED_TRACE(testing::Message() << "recompute " << recompute << " replay " << replay);
      const Exchanges again = tied_step(mesh, recompute, replay);
      EXPECT_TRUE(same_bits(again.y, kept.y));
      EXPECT_TRUE(same_bits(again.dx, kept.dx));
      EXPECT_TRUE(same_bits(again.dlogits, kept.dlogits));
      EXPECT_TRUE(same_bits(again.w1, kept.w1));
      EXPECT_TRUE(same_bits(again.w2, kept.w2));
      EXPECT_EQ(again.statistics.rows, kept.statistics.rows);
      EXPECT_EQ(again.statistics.rows_received, kept.statistics.rows_received);
      EXPECT_EQ(again.statistics.copies_sent, kept.statistics.copies_sent);
      EXPECT_EQ(again.calls, replay ? 6 : recompute == full ? 5 : 4);
      EXPECT_TRUE(equal_everywhere(ranks.comm(), &again.calls, sizeof again.calls));
    }
}

// ---- the ledger

int64_t calls(const std::vector<moemesh_ledger_entry>& ledger, int32_t phase) {
  return total(ledger, {.phase = phase, .collective = MOEMESH_COLLECTIVE_ALL_TO_ALL}).calls;
}

void check_ledger(const Mesh& mesh, int32_t recompute, int32_t chunks) {
  SCOPED_TRACE(testing::Message() << mesh.spec() << " recompute " << recompute << " chunks " << chunks);
  oracle::LayerConfig config;
  config.hidden = config.ffn = 8;
  config.experts = 6;
  config.top_k = 2;
  config.shared_ffn = 8;
  ModelSpec spec;
  spec.layers = {config};
  spec.recompute = recompute;
  spec.chunks = chunks;
  spec.optimizer->overlap = MOEMESH_OVERLAP_AFTER;  // nothing else is under way
  const Model model(mesh, spec);
  oracle::Random random(static_cast<uint64_t>(mesh.here().data_shard) + 5);
  const Floats x = to_floats(random.uniform_array(7 * 8, -1, 1));
  const int64_t c = mesh.spec().ep > 1 ? chunks : 0, peers = mesh.spec().ep - 1;
  model.begin(2);  // of which one is run: no gradients are on their way yet
  for (const bool replay : {false, true}) {
    if (replay) {
      model.end(false);
      model.begin(2);
    }
    Tape tape;
    mesh.reset_ledger();
    pmpi::reset();
    (void)model.forward(0, x, &tape);
    const int64_t copies = model.statistics(0).copies_sent;
    if (replay) (void)model.replay(0, &tape, x);
    (void)model.backward(0, &tape, x);
    const auto counted = pmpi::counts();
    const auto ledger = mesh.ledger();
    EXPECT_EQ(calls(ledger, MOEMESH_PHASE_FORWARD), 2 * c);
    EXPECT_EQ(calls(ledger, MOEMESH_PHASE_BACKWARD), 2 * c);
    EXPECT_EQ(calls(ledger, MOEMESH_PHASE_RECOMPUTE), replay ? 2 * c : recompute == full ? c : 0);
    const auto counts = total(ledger, {.collective = MOEMESH_COLLECTIVE_COUNT_EXCHANGE});
    const int64_t again_met = replay ? 2 : 1;
    EXPECT_EQ(counts.calls, c > 0 ? 1 + again_met : 0);
    EXPECT_EQ(counts.bytes, peers * (16 + 16 * chunks + 16 * again_met));
    const auto again =
        total(ledger, {.phase = MOEMESH_PHASE_RECOMPUTE, .collective = MOEMESH_COLLECTIVE_ALL_TO_ALL}).bytes;
    if (!replay) EXPECT_EQ(again, recompute == full ? copies * 8 * 4 : 0);
    EXPECT_EQ(total(ledger).messages, counted.messages);
    EXPECT_EQ(total(ledger).bytes, counted.bytes);
  }
  model.end(false);
}

TEST(Recompute, LedgerHasFourFourAndFiveExchangesAChunk) {
  const Session session;
  for (const MeshSpec& spec : some_meshes()) {
    const Mesh mesh(session, spec);
    for (const int32_t recompute : {none, selective, full})
      for (const int32_t chunks : {1, 3}) check_ledger(mesh, recompute, chunks);
  }
}

// ---- bytes

// By the routing of everyone: copies and rows between the ranks of the exchange group. Collective.
moemesh_layer_load load_of(const Mesh& mesh, const Routing& routing, int64_t tokens, int64_t k, int64_t experts) {
  const auto group = mesh.group(MOEMESH_GROUP_EXPERT_EXCHANGE);
  const auto ep = static_cast<size_t>(group.size), own = static_cast<size_t>(group.position);
  std::vector<int64_t> mine(2 * ep), all(2 * ep * ep);
  for (int64_t t = 0; t < tokens; ++t)
    for (size_t p = 0; p < ep; ++p) {
      const int64_t few = experts / group.size, more = experts % group.size, at = static_cast<int64_t>(p);
      const int64_t first = at * few + std::min(at, more), end = first + few + (at < more ? 1 : 0);
      const auto begin = routing.experts.begin() + t * k;
      const int64_t rows = std::count_if(begin, begin + k, [&](int32_t e) { return e >= first && e < end; });
      mine[2 * p] += rows > 0 ? 1 : 0;
      mine[2 * p + 1] += rows;
    }
  const auto from = view_of(mine), to = view_of(all);
  OK(moemesh_all_gather(mesh.get(), MOEMESH_GROUP_EXPERT_EXCHANGE, &from, &to));
  auto load = sized<moemesh_layer_load>();
  load.tokens = tokens;
  load.sequences = 1;
  for (size_t p = 0; p < ep; ++p) {
    load.copies_sent += mine[2 * p];
    load.rows_sent += mine[2 * p + 1];
    load.copies_received += all[p * 2 * ep + 2 * own];
    load.rows_received += all[p * 2 * ep + 2 * own + 1];
  }
  load.own_copies = mine[2 * own];
  load.own_rows = mine[2 * own + 1];
  return load;
}

moemesh_tape_bytes bytes_of(const Tape& tape) {
  auto bytes = sized<moemesh_tape_bytes>();
  OK(moemesh_tape_get_bytes(tape.get(), &bytes));
  return bytes;
}

void expect_equal(const moemesh_tape_bytes& actual, const moemesh_tape_bytes& planned) {
  EXPECT_EQ(actual.decision, planned.decision);
  EXPECT_EQ(actual.plans, planned.plans);
  EXPECT_EQ(actual.copies, planned.copies);
  EXPECT_EQ(actual.hidden, planned.hidden);
  EXPECT_EQ(actual.shared_hidden, planned.shared_hidden);
  EXPECT_EQ(actual.total, planned.total);
}

oracle::LayerConfig bytes_layer(bool gated) {
  oracle::LayerConfig config;
  config.hidden = 8;
  config.ffn = 16;
  config.experts = 5;
  config.top_k = 2;
  config.activation = gated ? oracle::Activation::swiglu : oracle::Activation::relu;
  config.shared_ffn = gated ? 8 : 0;
  config.capacity_factor = gated ? 1.5 : 0;
  config.z_coefficient = gated ? 0.5 : 0;
  return config;
}

void check_bytes(const Mesh& mesh, int32_t recompute, int32_t chunks, int32_t dtype, bool gated) {
  SCOPED_TRACE(testing::Message() << mesh.spec() << " recompute " << recompute << " chunks " << chunks << " dtype "
                                  << dtype);
  ModelSpec spec;
  spec.layers = {bytes_layer(gated)};
  spec.recompute = recompute;
  spec.chunks = chunks;
  spec.dtype = dtype;
  const Model model(mesh, spec);
  oracle::Random random(static_cast<uint64_t>(mesh.here().data_shard) + 5);
  const int64_t tokens = 9 + mesh.here().data_shard;
  const Floats x = to_floats(random.uniform_array(tokens * 8, -1, 1));
  model.begin(2);
  Tape first, second;
  (void)model.forward(0, x, &first);
  const auto load = load_of(mesh, model.routing(0, first, tokens), tokens, 2, 5);
  auto planned = sized<moemesh_tape_bytes>(), replayed = planned;
  OK(moemesh_layer_plan_bytes(model.layer(0), &load, 0, &planned));
  const auto actual = bytes_of(first);
  expect_equal(actual, planned);
  auto memory = sized<moemesh_layer_memory>();
  const auto look = [&] { OK(moemesh_layer_get_memory(model.layer(0), &memory)); };
  (void)model.forward(0, x, &second, {.microbatch = 1});
  look();
  EXPECT_EQ(memory.tapes, 2);
  EXPECT_EQ(memory.live, 2 * planned.total);
  EXPECT_EQ(memory.reserved, 2 * planned.total) << "something is kept beside the tapes";
  (void)model.replay(0, &second, x);
  OK(moemesh_layer_plan_bytes(model.layer(0), &load, none, &replayed));
  replayed.copies -= 8 * (load.rows_received - load.own_rows);
  replayed.total -= 8 * (load.rows_received - load.own_rows);
  expect_equal(bytes_of(second), replayed);
  (void)model.backward(0, &second, x);
  (void)model.backward(0, &first, x);
  look();
  EXPECT_EQ(memory.tapes, 0);
  EXPECT_EQ(memory.live, 0);
  EXPECT_EQ(memory.peak, std::max(2 * planned.total, planned.total + replayed.total));
  model.end(false);
}

TEST(Recompute, PlannedBytesAreTheActualOnes) {
  const Session session;
  for (const MeshSpec& spec : dense_meshes_of(world_size())) {
    const Mesh mesh(session, spec);
    for (const int32_t recompute : {none, selective, full})
      for (const int32_t chunks : {1, 4}) {
        check_bytes(mesh, recompute, chunks, MOEMESH_FLOAT32, true);
        check_bytes(mesh, recompute, chunks, MOEMESH_BFLOAT16, false);
      }
  }
}

// k = E: what is drawn evenly is certain.
TEST(Recompute, BalancedLoadOfCertainRoutingIsTheRealOne) {
  const Session session;
  for (const MeshSpec& spec : dense_meshes_of(world_size())) {
    const Mesh mesh(session, spec);
    auto config = bytes_layer(false);
    config.top_k = config.experts;
    ModelSpec model_spec;
    model_spec.layers = {config};
    const Model model(mesh, model_spec);
    const Floats x(6 * 8, 0.5F);
    model.begin();
    Tape tape;
    (void)model.forward(0, x, &tape);
    auto load = sized<moemesh_layer_load>();
    OK(moemesh_layer_balanced_load(model.layer(0), 6, &load));
    const auto real = load_of(mesh, model.routing(0, tape, 6), 6, 5, 5);
    EXPECT_EQ(load.copies_sent, real.copies_sent);
    EXPECT_EQ(load.rows_sent, real.rows_sent);
    EXPECT_EQ(load.copies_received, real.copies_received);
    EXPECT_EQ(load.rows_received, real.rows_received);
    EXPECT_EQ(load.own_copies, real.own_copies);
    EXPECT_EQ(load.own_rows, real.own_rows);
    model.end(false);
  }
}

}  // namespace
}  // namespace moemesh::test
