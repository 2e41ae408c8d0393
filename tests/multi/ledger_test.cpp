// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The ledger against what it must say, computed here from the routing and the shapes, and against what MPI was really
// handed (PMPI counters). All bytes are those that this rank sends to others.

#include <numeric>

#include "harness.hpp"
#include "pmpi.hpp"

namespace moemesh::test {
namespace {

constexpr int64_t hidden = 8, tag_bytes = 8;

oracle::LayerConfig layer(const std::string& name, int64_t experts, int64_t top_k, int64_t shared_ffn) {
  oracle::LayerConfig config;
  config.name = name;
  config.hidden = hidden;
  config.ffn = 8;
  config.experts = experts;
  config.top_k = top_k;
  config.shared_ffn = shared_ffn;
  return config;
}

Floats input(const Mesh& mesh, int64_t tokens) {
  oracle::Random random(static_cast<uint64_t>(mesh.here().data_shard) + 11);
  return to_floats(random.uniform_array(tokens * hidden, -1, 1));
}

// ---- what the routing asks for

// Copies and rows that one rank sends to each coordinate of its exchange group.
struct Sent {
  std::vector<int64_t> copies, rows;
};

int64_t owner_of(int64_t expert, int64_t experts, int64_t ep) {
  const int64_t more = experts % ep, few = experts / ep;  // the first `more` coordinates own few + 1
  return expert < more * (few + 1) ? expert / (few + 1) : more + (expert - more * (few + 1)) / few;
}

Sent sent_by(const Routing& routing, int64_t experts, int64_t top_k, int64_t ep) {
  Sent sent{std::vector<int64_t>(static_cast<size_t>(ep)), std::vector<int64_t>(static_cast<size_t>(ep))};
  for (size_t t = 0; t < routing.experts.size(); t += static_cast<size_t>(top_k)) {
    std::vector<bool> seen(static_cast<size_t>(ep));
    for (size_t i = t; i < t + static_cast<size_t>(top_k); ++i) {
      const auto owner = static_cast<size_t>(owner_of(routing.experts[i], experts, ep));
      ++sent.rows[owner];
      if (!seen[owner]) ++sent.copies[owner];
      seen[owner] = true;
    }
  }
  return sent;
}

// What crosses between this rank and the others of its exchange group, seen from here.
struct Crossing {
  int64_t copies_out = 0, rows_out = 0;
  int64_t copies_in = 0, rows_in = 0;
};

// Leaves a trace in the ledger (phase CALLER).
Crossing crossing_of(const Mesh& mesh, const Sent& sent) {
  std::vector<int64_t> mine = sent.copies;
  mine.insert(mine.end(), sent.rows.begin(), sent.rows.end());
  const auto ep = sent.copies.size();
  const auto own = static_cast<size_t>(mesh.group(MOEMESH_GROUP_EXPERT_EXCHANGE).position);
  std::vector<int64_t> all(mine.size() * ep);
  const auto from = view_of(mine), to = view_of(all);
  OK(moemesh_all_gather(mesh.get(), MOEMESH_GROUP_EXPERT_EXCHANGE, &from, &to));
  Crossing crossing;
  for (size_t peer = 0; peer < ep; ++peer) {
    if (peer == own) continue;
    crossing.copies_out += sent.copies[peer];
    crossing.rows_out += sent.rows[peer];
    crossing.copies_in += all[peer * 2 * ep + own];
    crossing.rows_in += all[peer * 2 * ep + ep + own];
  }
  return crossing;
}

// ---- what a reduction with an owner asks for

struct Traffic {
  int64_t messages = 0, bytes = 0;
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
};

int64_t part_of(int64_t elements, int64_t ranks, int64_t rank) {
  const int64_t part = (elements + ranks - 1) / ranks;
  return std::max<int64_t>(0, std::min(elements, (rank + 1) * part) - std::min(elements, rank * part));
}

// Everything but the own part goes to its owners, and back comes the sum: (d-1)/d of the array each, to rounding.
Traffic scatter(int64_t elements, const moemesh_group& group) {
  Traffic traffic;
  for (int64_t rank = 0; rank < group.size; ++rank) {
    const int64_t bytes = part_of(elements, group.size, rank) * 4;
    if (rank == group.position || bytes == 0) continue;
    ++traffic.messages;
    traffic.bytes += bytes;
  }
  return traffic;
}
Traffic gather(int64_t elements, const moemesh_group& group) {
  const int64_t own = part_of(elements, group.size, group.position) * 4;
  return {own > 0 ? group.size - 1 : 0, own * (group.size - 1)};
}
int64_t all_reduce_bytes(int64_t elements, const moemesh_group& group) {
  return scatter(elements, group).bytes + gather(elements, group).bytes;
}

void expect_entry(const moemesh_ledger_entry& entry, int64_t calls, int64_t messages, int64_t bytes, const char* what) {
  EXPECT_EQ(entry.calls, calls) << what;
  EXPECT_EQ(entry.messages, messages) << what;
  EXPECT_EQ(entry.bytes, bytes) << what;
}

// ---- one forward or backward

constexpr int32_t all_to_all = MOEMESH_COLLECTIVE_ALL_TO_ALL, count_exchange = MOEMESH_COLLECTIVE_COUNT_EXCHANGE;
constexpr int32_t all_reduce = MOEMESH_COLLECTIVE_ALL_REDUCE;

struct Measured {
  std::vector<moemesh_ledger_entry> ledger;
  pmpi::Counts mpi;
};

template <class F>
Measured measure(const Mesh& mesh, F&& work) {
  mesh.reset_ledger();
  pmpi::reset();
  work();
  Measured measured{{}, pmpi::counts()};
  measured.ledger = mesh.ledger();
  return measured;
}

void expect_equal_to_mpi(const Measured& measured) {
  const auto sum = total(measured.ledger);
  EXPECT_EQ(sum.messages, measured.mpi.messages);
  EXPECT_EQ(sum.bytes, measured.mpi.bytes);
  EXPECT_EQ(measured.mpi.own_messages, 0) << "a rank sent messages to itself";
  EXPECT_EQ(measured.mpi.collectives, 0) << "unknown to the ledger";
  EXPECT_EQ(measured.mpi.communicators, 0);
}

// Both of them: two exchanges of payload, a message to each peer in both (an empty one says that all is well), where one of
// them carries 8 bytes for every row; one sum over tp.
void expect_phase(const Mesh& mesh, const Measured& measured, int32_t phase, const Crossing& crossing,
                  int64_t tagged_rows, int64_t summed_elements) {
  const int64_t ep = mesh.group(MOEMESH_GROUP_EXPERT_EXCHANGE).size;
  const auto tp = mesh.group(MOEMESH_AXIS_EXPERT_TP);
  const int64_t payload = (crossing.copies_out + crossing.copies_in) * hidden * 4 + tagged_rows * tag_bytes;
  expect_entry(total(measured.ledger, {MOEMESH_AXIS_EXPERT_EP, MOEMESH_EXPERT, phase, all_to_all}), ep > 1 ? 2 : 0,
               2 * (ep - 1), payload, "payload");
  const auto counts = total(measured.ledger, {MOEMESH_AXIS_EXPERT_EP, MOEMESH_EXPERT, phase, count_exchange});
  EXPECT_EQ(counts.calls, ep > 1 ? 1 : 0);
  EXPECT_EQ(counts.messages, ep - 1);
  EXPECT_EQ(counts.bytes, (phase == MOEMESH_PHASE_FORWARD ? 32 : 16) * (ep - 1)) << "a few words for each peer";
  const auto sums = total(measured.ledger, {MOEMESH_AXIS_EXPERT_TP, MOEMESH_EXPERT, phase, all_reduce});
  EXPECT_EQ(sums.calls, tp.size > 1 ? 1 : 0);
  EXPECT_EQ(sums.bytes, all_reduce_bytes(summed_elements, tp));
  const auto sum = total(measured.ledger);
  EXPECT_EQ(sum.calls, (ep > 1 ? 3 : 0) + (tp.size > 1 ? 1 : 0)) << "other traffic than that";
  EXPECT_EQ(sum.bytes_internode, 0);
  expect_equal_to_mpi(measured);
}

void check_layer(const Mesh& mesh, int64_t top_k, int64_t tokens) {
  SCOPED_TRACE("k " + std::to_string(top_k) + " tokens " + std::to_string(tokens));
  ModelSpec spec;
  spec.layers = {layer("moe", 6, top_k, top_k % 2 == 0 ? 8 : 0)};
  spec.optimizer->overlap = MOEMESH_OVERLAP_AFTER;  // nothing else is under way
  const Model model(mesh, spec);
  const Floats x = input(mesh, tokens);
  model.begin();
  Tape tape;
  const Measured forward = measure(mesh, [&] { model.forward(0, x, &tape); });
  const Routing routing = model.routing(0, tape, tokens);
  const Measured backward = measure(mesh, [&] { model.backward(0, &tape, x); });
  const Crossing crossing = crossing_of(mesh, sent_by(routing, 6, top_k, mesh.spec().ep));
  expect_phase(mesh, forward, MOEMESH_PHASE_FORWARD, crossing, crossing.rows_out, tokens * hidden);
  expect_phase(mesh, backward, MOEMESH_PHASE_BACKWARD, crossing, crossing.rows_in, tokens * (hidden + top_k));
  auto statistics = sized<moemesh_layer_statistics>();
  OK(moemesh_layer_get_statistics(model.layer(0), &statistics));
  EXPECT_EQ(statistics.copies_sent, crossing.copies_out);
  EXPECT_EQ(statistics.rows, tokens * top_k);
  model.end(false);
}

TEST(Ledger, OneLayerHasFourPayloadExchangesOfExactlyTheCopies) {
  const Session session;
  for (const MeshSpec& spec : dense_meshes_of(world_size())) {
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    for (int64_t k = 1; k <= 4; ++k) check_layer(mesh, k, 3 + 2 * mesh.here().data_shard);
    check_layer(mesh, 2, mesh.here().data_shard == 0 ? 9 : 0);
    check_layer(mesh, 2, 0);
  }
}

// Several experts of one token on one rank travel as one copy: with k = E every token sends one copy to each peer.
TEST(Ledger, ATokenTravelsOnceToEachRank) {
  const Session session;
  const Mesh mesh(session, {.ep = world_size()});
  ModelSpec spec;
  spec.layers = {layer("moe", int64_t{2} * world_size(), int64_t{2} * world_size(), 0)};
  const Model model(mesh, spec);
  model.begin();
  Tape tape;
  const Floats x = input(mesh, 5);
  const Measured forward = measure(mesh, [&] { model.forward(0, x, &tape); });
  const int64_t peers = world_size() - 1;
  const auto payload = total(forward.ledger, {.collective = all_to_all});
  EXPECT_EQ(payload.bytes, peers * 5 * (hidden * 4 + 2 * tag_bytes) + peers * 5 * hidden * 4);
  EXPECT_EQ(payload.messages, 2 * peers);
  model.end(false);
}

// ---- a whole step

ModelSpec step_spec(int32_t shared_stage, int32_t expert_stage) {
  ModelSpec spec;
  spec.layers = {layer("a", 6, 2, 8), layer("b", 5, 1, 0)};
  spec.shared = {{.name = "partial", .extents = {7}, .tp_kind = MOEMESH_TP_PARTIAL},
                 {.name = "whole", .extents = {3, 5}}};
  spec.optimizer->shared_stage = shared_stage;
  spec.optimizer->expert_stage = expert_stage;
  spec.optimizer->max_norm = 1;
  spec.optimizer->overlap = MOEMESH_OVERLAP_AFTER;  // bill_test.cpp has the few words more that the others send
  return spec;
}

void run_step(const Mesh& mesh, const Model& model, int32_t microbatches) {
  model.begin(microbatches, MOEMESH_TOKEN_MEAN);
  for (int32_t m = 0; m < microbatches; ++m) {
    const Floats x = input(mesh, 2 + mesh.here().data_shard);
    Tape first, second;
    const Floats y = model.forward(0, x, &first, {.microbatch = m});
    const Floats z = model.forward(1, y, &second, {.microbatch = m});
    const Floats dy = model.backward(1, &second, z);
    model.backward(0, &first, dy);
    OK(moemesh_loss_tokens(model.optimizer(), m, static_cast<int64_t>(x.size()) / hidden));
  }
  model.update();
}

int64_t elements_of(const Model& model, const std::vector<std::string>& names) {
  return std::accumulate(names.begin(), names.end(), int64_t{0},
                         [&](int64_t sum, const std::string& name) { return sum + model.info(name).elements; });
}

using Names = std::vector<std::string>;

// The parameters of layer `a` and `b`, and the test's own ones, by name: their order in the families.
const Names shared_names{"a.router", "a.shared.w1", "a.shared.w2", "a.shared.wg", "b.router", "partial", "whole"};
const Names expert_names{"a.w1", "a.w2", "a.wg", "b.w1", "b.w2", "b.wg"};

// How many of the elements [begin, end) of a family with `elements` this group position owns.
int64_t owned_of(int64_t begin, int64_t end, int64_t elements, int64_t ranks, int64_t rank) {
  const int64_t part = (elements + ranks - 1) / ranks;
  return std::max<int64_t>(0, std::min(end, (rank + 1) * part) - std::max(begin, rank * part));
}

// What is summed over tp first lies in a bucket behind the others.
int64_t apart_of(const Mesh& mesh, int32_t family) { return family == MOEMESH_SHARED && mesh.spec().tp > 1 ? 7 : 0; }

// Stage 2: in every microbatch, each parameter of a layer goes to its owners by itself, after a round of headers.
void expect_sums_at_once(const Mesh& mesh, const Model& model, const Measured& measured, int32_t family, int32_t axes,
                         const Names& names, int32_t microbatches) {
  const auto group = mesh.group(axes), everyone = mesh.group(MOEMESH_GROUP_SHARED_GRADIENT);
  const int64_t elements = elements_of(model, names) - apart_of(mesh, family);
  int64_t calls = 0, rounds = 0, messages = 0, bytes = 0, offset = 0;
  for (const std::string& name : names) {
    if (name == "partial" && apart_of(mesh, family) > 0) continue;
    const int64_t n = model.info(name).elements, begin = std::exchange(offset, offset + n);
    if (group.size == 1 || name == "partial" || name == "whole") continue;  // those two are never ready here
    rounds += microbatches;
    calls += n > 0 ? microbatches : 0;
    for (int64_t rank = 0; rank < group.size; ++rank) {
      const int64_t theirs = owned_of(begin, begin + n, elements, group.size, rank);
      if (rank == group.position || theirs == 0) continue;
      messages += microbatches;
      bytes += microbatches * theirs * 4;
    }
  }
  expect_entry(total(measured.ledger, {axes, family, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER}),
               calls, messages, bytes, "sums of one parameter's gradients");
  expect_entry(total(measured.ledger, {MOEMESH_GROUP_SHARED_GRADIENT, family, MOEMESH_PHASE_REDUCTION, count_exchange}),
               rounds, rounds * (everyone.size - 1), rounds * (everyone.size - 1) * 32, "rounds of headers");
}

// buckets: elements of each.
void expect_family(const Mesh& mesh, const Measured& measured, int32_t family, int32_t axes,
                   const std::vector<int64_t>& buckets, int32_t stage) {
  const auto group = mesh.group(axes);
  int64_t calls = 0;
  Traffic in, out;
  for (const int64_t elements : buckets) {
    calls += group.size > 1 && elements > 0 ? 1 : 0;
    in += scatter(elements, group);
    out += gather(elements, group);
  }
  const auto entry = [&](int32_t phase, int32_t collective) {
    return total(measured.ledger, {axes, family, phase, collective});
  };
  if (stage < 2)
    expect_entry(entry(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER), calls, in.messages, in.bytes,
                 "reduce-scatter of gradients");
  const Traffic none;
  const Traffic& reduced = stage == 0 ? out : none;
  const Traffic& updated = stage >= 1 ? out : none;
  expect_entry(entry(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_GATHER), stage == 0 ? calls : 0, reduced.messages,
               reduced.bytes, "all-gather of gradients");
  expect_entry(entry(MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_ALL_GATHER), stage >= 1 ? calls : 0, updated.messages,
               updated.bytes, "all-gather of parameters");
}

// At stage 2 only what this rank owns of it is summed over tp.
void expect_partial(const Mesh& mesh, const Measured& measured, int32_t stage) {
  const auto group = mesh.group(MOEMESH_AXIS_TP), shards = mesh.group(MOEMESH_GROUP_SHARED_GRADIENT);
  const int64_t summed = stage == 2 ? owned_of(0, 7, 7, shards.size, shards.position) : 7;  // a bucket of its own
  const auto sum = total(measured.ledger, {MOEMESH_AXIS_TP, MOEMESH_SHARED, MOEMESH_PHASE_REDUCTION, all_reduce});
  EXPECT_EQ(sum.calls, group.size > 1 && summed > 0 ? 1 : 0);
  EXPECT_EQ(sum.bytes, all_reduce_bytes(summed, group));
}

void expect_forward_and_backward(const Mesh& mesh, const Measured& measured, int64_t layer_calls) {
  const int64_t ep = mesh.spec().ep > 1 ? 1 : 0, tp = mesh.spec().tp > 1 ? 1 : 0;
  const auto calls = [&](LedgerFilter filter) { return total(measured.ledger, filter).calls; };
  const LedgerFilter exchange{.axes = MOEMESH_AXIS_EXPERT_EP, .collective = all_to_all};
  EXPECT_EQ(calls(exchange), 4 * layer_calls * ep);
  EXPECT_EQ(calls({.collective = all_to_all}), 4 * layer_calls * ep);
  EXPECT_EQ(calls({.axes = MOEMESH_AXIS_EXPERT_EP, .collective = count_exchange}), 2 * layer_calls * ep);
  EXPECT_EQ(calls({.axes = MOEMESH_AXIS_EXPERT_TP}), 2 * layer_calls * tp);
  EXPECT_EQ(calls({.phase = MOEMESH_PHASE_FORWARD}), layer_calls * (3 * ep + tp)) << "nothing over dp in forward";
  EXPECT_EQ(calls({.phase = MOEMESH_PHASE_BACKWARD}), layer_calls * (3 * ep + tp)) << "nothing over dp in backward";
}

void check_step(const Mesh& mesh, int32_t shared_stage, int32_t expert_stage) {
  SCOPED_TRACE("stages " + std::to_string(shared_stage) + " and " + std::to_string(expert_stage));
  const Model model(mesh, step_spec(shared_stage, expert_stage));
  constexpr int32_t microbatches = 2;
  const Measured measured = measure(mesh, [&] { run_step(mesh, model, microbatches); });
  expect_equal_to_mpi(measured);
  expect_forward_and_backward(mesh, measured, 2 * microbatches);
  const int64_t apart = apart_of(mesh, MOEMESH_SHARED);
  expect_family(mesh, measured, MOEMESH_SHARED, MOEMESH_GROUP_SHARED_GRADIENT,
                {elements_of(model, shared_names) - apart, apart}, shared_stage);
  expect_family(mesh, measured, MOEMESH_EXPERT, MOEMESH_GROUP_EXPERT_GRADIENT, {elements_of(model, expert_names)},
                expert_stage);
  if (shared_stage == 2)
    expect_sums_at_once(mesh, model, measured, MOEMESH_SHARED, MOEMESH_GROUP_SHARED_GRADIENT, shared_names,
                        microbatches);
  if (expert_stage == 2)
    expect_sums_at_once(mesh, model, measured, MOEMESH_EXPERT, MOEMESH_GROUP_EXPERT_GRADIENT, expert_names,
                        microbatches);
  const bool shared_rounds = shared_stage == 2 && mesh.group(MOEMESH_GROUP_SHARED_GRADIENT).size > 1;
  const bool expert_rounds = expert_stage == 2 && mesh.group(MOEMESH_GROUP_EXPERT_GRADIENT).size > 1;
  EXPECT_EQ(total(measured.ledger, {MOEMESH_GROUP_SHARED_GRADIENT, 0, MOEMESH_PHASE_REDUCTION, count_exchange}).calls,
            shared_rounds || expert_rounds ? 1 : 0)
      << "the last round of a step";
  expect_partial(mesh, measured, shared_stage);
  EXPECT_EQ(total(measured.ledger, {.collective = MOEMESH_COLLECTIVE_BROADCAST}).calls, 0);
  if (::testing::Test::HasFailure())
    for (const auto& entry : measured.ledger) GTEST_LOG_(INFO) << to_string(entry);
}

TEST(Ledger, AWholeStepIsWhatMpiWasHanded) {
  const Session session;
  for (const MeshSpec& spec : dense_meshes_of(world_size())) {
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    check_step(mesh, 1, 1);
    check_step(mesh, 0, 1);
    check_step(mesh, 1, 0);
    check_step(mesh, 2, 2);
    check_step(mesh, 1, 2);
    check_step(mesh, 2, 0);
  }
}

// With expert_tp < tp (what exactly is sent: bill_test.cpp).
TEST(Ledger, AStepOfSlicesIsWhatMpiWasHanded) {
  const Session session;
  for (const MeshSpec& spec : meshes_of(world_size())) {
    if (spec.expert_tp == spec.tp) continue;
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    for (const int32_t stage : {1, 2}) {
      const Model model(mesh, step_spec(stage, stage));
      const Measured measured = measure(mesh, [&] { run_step(mesh, model, 2); });
      expect_equal_to_mpi(measured);
      const auto gathers = total(measured.ledger, {MOEMESH_AXIS_TP, MOEMESH_EXPERT, 0, MOEMESH_COLLECTIVE_ALL_GATHER});
      EXPECT_GT(gathers.calls, 0);
    }
  }
}

TEST(Ledger, OneRankRecordsNothing) {
  const Session alone(MPI_COMM_NULL);
  const Mesh mesh(alone, {});
  const Model model(mesh, step_spec(1, 1));
  const Measured measured = measure(mesh, [&] { run_step(mesh, model, 2); });
  EXPECT_TRUE(measured.ledger.empty());
  EXPECT_EQ(measured.mpi.messages, 0);
}

}  // namespace
}  // namespace moemesh::test
