// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// How the ranks' records come together: figures to every rank, events to rank 0.
#include <algorithm>
#include <cstring>

#include "impl/timeline/report.hpp"

namespace moemesh::timeline {
namespace {

constexpr Purpose gathering{0, MOEMESH_PHASE_SETUP, MOEMESH_COLLECTIVE_ALL_GATHER};
constexpr Purpose adding{0, MOEMESH_PHASE_SETUP, MOEMESH_COLLECTIVE_ALL_REDUCE};
constexpr Purpose bringing{0, MOEMESH_PHASE_SETUP, MOEMESH_COLLECTIVE_ALL_TO_ALL};
constexpr int64_t name_bytes = 208;  // of a layer, which has at most 200

// `work` may run out of memory; then all ranks throw.
template <class F>
void together(Communicator& world, const F& work) {
  const Finding finding = attempt(work);
  agree_on_configuration(world, "report_collect", {}, finding.status, finding.text);
}

// Bytes of every rank to rank 0, one after the other in `all`.
void bring(Communicator& world, const void* mine, std::span<const int64_t> bytes, std::byte* all) {
  const auto ranks = static_cast<size_t>(world.size());
  const bool first = world.rank() == 0;
  Exchange exchange;
  exchange.send_base = static_cast<const std::byte*>(mine);
  exchange.receive_base = all;
  exchange.send_offset.assign(ranks, 0);
  exchange.send_bytes.assign(ranks, 0);
  exchange.receive_offset.assign(ranks, 0);
  exchange.receive_bytes.assign(ranks, 0);
  exchange.send_bytes[0] = bytes[static_cast<size_t>(world.rank())];
  for (size_t r = 0, place = 0; first && r < ranks; place += static_cast<size_t>(bytes[r++])) {
    exchange.receive_offset[r] = static_cast<int64_t>(place);
    exchange.receive_bytes[r] = bytes[r];
  }
  require(!world.all_to_all(exchange, bringing), MOEMESH_ERROR_COMMUNICATION,
          "report_collect: a rank sent less than it had said");
}

std::vector<int64_t> of_every_rank(Communicator& world, int64_t mine) {
  std::vector<int64_t> all(static_cast<size_t>(world.size()));
  world.all_gather(&mine, 1, all.data(), gathering);
  return all;
}

}  // namespace

// The first rank of each stage tells its layers' names.
void Report::find_layers(Results& results, std::vector<int64_t>& stages) const {
  Communicator& world = mesh_->group(MOEMESH_GROUP_WORLD);
  const MeshLayout& layout = mesh_->layout();
  std::vector<int64_t> counts = of_every_rank(world, recorder_->layers());
  std::vector<int64_t> offset, bytes;
  int64_t all = 0;
  results.first_layers.clear();
  std::vector<int64_t> of_stage(static_cast<size_t>(layout.sizes().pp), -1);
  for (int64_t r = 0; r < world.size(); ++r) {
    int64_t& first = of_stage[static_cast<size_t>(layout.coordinates(r).pp)];
    if (first < 0) first = r;
  }
  std::vector<int64_t> place(static_cast<size_t>(world.size()), 0);
  for (const int64_t r : of_stage) {
    results.first_layers.push_back(all);
    place[static_cast<size_t>(r)] = all;
    all += counts[static_cast<size_t>(r)];
    stages.insert(stages.end(), static_cast<size_t>(counts[static_cast<size_t>(r)]),
                  std::ssize(results.first_layers) - 1);
  }
  results.first_layers.push_back(all);
  std::vector<char> names(static_cast<size_t>(all * name_bytes));
  for (int64_t r = 0; r < world.size(); ++r) {
    const bool tells = of_stage[static_cast<size_t>(layout.coordinates(r).pp)] == r;
    offset.push_back(place[static_cast<size_t>(r)] * name_bytes);
    bytes.push_back(tells ? counts[static_cast<size_t>(r)] * name_bytes : 0);
  }
  const auto me = static_cast<size_t>(world.rank());
  // Of the first ones: the mesh may have got more since the recording was stopped.
  for (size_t l = 0; bytes[me] > 0 && l < static_cast<size_t>(counts[me]); ++l)
    mesh_->layer_names()[l].copy(&names[static_cast<size_t>(offset[me]) + l * name_bytes], name_bytes - 1);
  world.all_gather_in_place(reinterpret_cast<std::byte*>(names.data()), offset, bytes, gathering);
  for (int64_t l = 0; l < all; ++l) results.layer_names.emplace_back(&names[static_cast<size_t>(l * name_bytes)]);
}

void Report::add_up(Figures& figures, const Results& results) {
  Communicator& world = mesh_->group(MOEMESH_GROUP_WORLD);
  recorder_->add_to(figures, results.first_layers[static_cast<size_t>(mesh_->here().pp)]);
  const auto sums = figures.sums(), most = figures.most();
  const bool failed = world.all_reduce(sums.data(), std::ssize(sums), Communicator::Op::sum, adding) ||
                      world.all_reduce(most.data(), std::ssize(most), Communicator::Op::max, adding);
  require(!failed, MOEMESH_ERROR_COMMUNICATION, "report_collect: a rank sent less than agreed");
}

void Report::gather_events(Results& results) {
  Communicator& world = mesh_->group(MOEMESH_GROUP_WORLD);
  constexpr auto event_bytes = static_cast<int64_t>(sizeof(Event));
  constexpr int64_t mark_bytes = Recorder::most_marks * Recorder::mark_bytes;
  const int64_t kept = recorder_->kept_events();
  std::vector<int64_t> bytes = of_every_rank(world, kept * event_bytes);
  const std::vector<int64_t> marks(static_cast<size_t>(world.size()), mark_bytes);
  std::vector<Event> mine, all;
  std::vector<char> names;
  together(world, [&] {
    mine.resize(static_cast<size_t>(kept));
    if (world.rank() != 0) return;
    int64_t total = 0;
    for (const int64_t b : bytes) total += b / event_bytes;
    all.resize(static_cast<size_t>(total));
    names.resize(static_cast<size_t>(world.size() * mark_bytes));
    for (int64_t r = 0; r < world.size(); ++r) {
      results.ranks.emplace_back();
      results.ranks.back().stage = mesh_->layout().coordinates(r).pp;
      results.ranks.back().events.reserve(static_cast<size_t>(bytes[static_cast<size_t>(r)] / event_bytes));
    }
  });
  recorder_->copy_events(mine.data(), kept);
  bring(world, mine.data(), bytes, reinterpret_cast<std::byte*>(all.data()));
  bring(world, recorder_->marks().data(), marks, reinterpret_cast<std::byte*>(names.data()));
  auto next = all.cbegin();
  for (size_t r = 0; r < results.ranks.size(); ++r) {
    auto& rank = results.ranks[r];
    const auto end = next + bytes[r] / event_bytes;
    rank.events.assign(next, end);
    next = end;
    for (int64_t m = 0; m < Recorder::most_marks; ++m)
      rank.marks.emplace_back(
          &names[r * static_cast<size_t>(mark_bytes) + static_cast<size_t>(m * Recorder::mark_bytes)]);
  }
}

void Report::collect() {
  mesh_->require_usable();
  Communicator& world = mesh_->group(MOEMESH_GROUP_WORLD);
  const Field fields[] = {{"steps recorded", recorder_->steps()}};
  const Finding finding = attempt([&] { require_no_step("report_collect"); });
  agree_on_configuration(world, "report_collect", fields, finding.status, finding.text);
  auto fresh = std::make_unique<Results>();
  std::vector<int64_t> stages;
  find_layers(*fresh, stages);
  fresh->origin = recorder_->origin();
  const int64_t first = recorder_->first_step();
  std::unique_ptr<Figures> figures;
  together(world, [&] {
    figures = std::make_unique<Figures>(Figures::Shape{world.size(), std::ssize(stages), recorder_->steps() - first});
    world.reserve_all_reduce(std::max(std::ssize(figures->sums()), std::ssize(figures->most())) * 8);
  });
  add_up(*figures, *fresh);
  gather_events(*fresh);
  analyse(*figures, first, world.size() / mesh_->layout().sizes().pp, stages, *fresh);
  results_ = std::move(fresh);
}

}  // namespace moemesh::timeline
