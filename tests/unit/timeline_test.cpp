// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The timeline's arithmetic on made-up clocks and events: alignment, how a wait is split off, figures, and what is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "impl/timeline/alignment.hpp"
#include "impl/timeline/analysis.hpp"
#include "impl/timeline/recorder.hpp"
#include "impl/timeline/span.hpp"
#include "impl/timeline/svg.hpp"
#include "impl/timeline/tracks.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {
namespace {

// ---- alignment

constexpr int64_t ms = 1'000'000, s = 1'000'000'000;

// A rank's clock against the true time, which is the reference's.
struct Skewed {
  int64_t offset;
  double drift;
  int64_t at(int64_t truth) const { return truth + offset + std::llround(static_cast<double>(truth) * drift); }
};

// A comparison at a true time; the ways there and back take that long, the reference thinks for `busy`.
void compare(Alignment& alignment, const Skewed& clock, int64_t truth, int64_t there, int64_t back, int64_t busy = 0,
             int64_t known = 0) {
  alignment.compare(clock.at(truth), truth + there, truth + there + busy, clock.at(truth + there + busy + back), known);
}

int64_t error_at(const Alignment& alignment, const Skewed& clock, int64_t truth) {
  return std::abs(alignment.aligned(clock.at(truth)) - truth);
}

TEST(Alignment, WithoutAComparisonItIsTheClockItself) {
  const Alignment alignment;
  EXPECT_EQ(alignment.aligned(12345), 12345);
  EXPECT_EQ(alignment.error(12345), 0);
}

TEST(Alignment, EqualWaysGiveTheExactOffsetAndHalfTheWaysItsBound) {
  for (const int64_t offset : {s, -s, int64_t{0}, 123'456'789'012}) {
    Alignment alignment;
    const Skewed clock{offset, 0};
    compare(alignment, clock, 5 * ms, 3000, 3000, 70'000);
    EXPECT_EQ(alignment.offset(), -offset);
    EXPECT_EQ(error_at(alignment, clock, 5 * ms), 0);
    EXPECT_EQ(alignment.error(clock.at(5 * ms + 38'000)), 3000) << "the time to think is not in it";
  }
}

TEST(Alignment, UnequalWaysAreWithinTheBound) {
  Alignment alignment;
  const Skewed clock{-700 * ms, 0};
  compare(alignment, clock, 0, 1000, 9000);
  EXPECT_EQ(error_at(alignment, clock, 0), 4000);
  EXPECT_EQ(alignment.error(clock.at(5000)), 5000);
  EXPECT_EQ(alignment.error(clock.at(5000 + 10 * ms)), 5000 + 1000) << "100 ppm of its age";
}

TEST(Alignment, WhatTheReferenceKnowsIsAdded) {
  Alignment alignment;
  compare(alignment, {0, 0}, 0, 1000, 1000, 0, 250);
  EXPECT_EQ(alignment.error(1000), 1250);
}

TEST(Alignment, TheBestComparisonCountsUntilItIsOld) {
  Alignment alignment;
  const Skewed clock{s, 0};
  compare(alignment, clock, 0, 1000, 1000);
  compare(alignment, clock, 1 * ms, 1000, 999'000);  // wrong by half a millisecond
  EXPECT_EQ(error_at(alignment, clock, 2 * ms), 0);
  compare(alignment, clock, 20 * s, 2000, 4000);  // the first one may be off by 2 ms now
  EXPECT_EQ(error_at(alignment, clock, 20 * s), 1000);
}

// 50 ppm fast against one that is 50 ppm slow, a second apart, a comparison of some microseconds every ten seconds.
TEST(Alignment, DriftIsFollowedAndNoFigureMovesByAMillisecond) {
  for (const double drift : {100e-6, -100e-6, 50e-6, 0.0}) {
    Alignment alignment;
    const Skewed clock{-s, drift};
    for (int i = 0; i < 16; ++i) compare(alignment, clock, i * 50'000, 4000 + 300 * i, 4000);
    EXPECT_LT(error_at(alignment, clock, 5 * s), ms);
    for (int64_t step = 1; step <= 30; ++step) {
      for (const int64_t after : {9 * s, 9 * s + 900 * ms})
        EXPECT_LT(error_at(alignment, clock, (step - 1) * 10 * s + after), step == 1 ? ms + 1000 : 20'000)
            << "step " << step << " drift " << drift;
      compare(alignment, clock, step * 10 * s, 8000, 3000);
      EXPECT_LE(error_at(alignment, clock, step * 10 * s), alignment.error(clock.at(step * 10 * s)));
    }
    EXPECT_NEAR(alignment.rate(), -drift, 1e-6);
  }
}

// ---- an operation

Operation operation(int64_t posted, int64_t ended, int64_t blocked, int64_t peer, int64_t latest) {
  Operation o;
  o.posted = posted;
  o.ended = ended;
  o.blocked = blocked;
  if (peer >= 0) o.hear(peer, latest);
  return o;
}

TEST(Operation, WaitIsTheLatestPeersPostMinusTheOwn) {
  EXPECT_EQ(operation(100, 400, 300, 3, 250).wait(), 150);
  EXPECT_EQ(operation(100, 400, 300, 3, 90).wait(), 0) << "it was there before";
  EXPECT_EQ(operation(100, 400, 300, 3, 450).wait(), 300) << "never more than there was";
  EXPECT_EQ(operation(100, 400, 300, -1, 0).wait(), 0);
  Operation o;
  o.hear(2, 50);
  o.hear(1, 80);
  o.hear(0, 70);
  EXPECT_EQ(o.peer, 1);
  EXPECT_EQ(o.latest, 80);
}

// ---- recorder, figures

std::string written(const std::function<void(std::ostream&)>& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

int64_t scripted = 0;
int64_t read_scripted(void*) { return scripted; }

moemesh_report_params params(int64_t events = 100, int64_t steps = 4) {
  return {sizeof(moemesh_report_params), events, steps, 0, INT64_MAX, 16, 2};
}

std::unique_ptr<Recorder> recorder(int64_t rank, int64_t world, const moemesh_report_params& p = params()) {
  return std::make_unique<Recorder>(Clock{read_scripted, nullptr}, rank, world, std::make_shared<const Allocator>(), p);
}

Operation exchange(int32_t phase, int32_t collective, int32_t place, int32_t layer) {
  Operation o;
  o.purpose = {MOEMESH_EXPERT, phase, collective};
  o.exchange = place;
  o.place.layer = layer;
  return o;
}

Operation timed(Operation o, int64_t posted, int64_t ended, int64_t peer, int64_t latest) {
  o.posted = posted;
  o.ended = ended;
  o.blocked = ended - posted;
  o.hear(peer, latest);
  return o;
}

const Operation counts = exchange(MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_COUNT_EXCHANGE, -1, 0);
const Operation dispatch = exchange(MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_ALL_TO_ALL, 0, 0);
const Operation combine = exchange(MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_ALL_TO_ALL, 1, 0);
const Operation combine_backward = exchange(MOEMESH_PHASE_BACKWARD, MOEMESH_COLLECTIVE_ALL_TO_ALL, 2, 0);
const Operation dispatch_backward = exchange(MOEMESH_PHASE_BACKWARD, MOEMESH_COLLECTIVE_ALL_TO_ALL, 3, 0);

TEST(Kinds, OfPurposes) {
  const auto kind = [](int32_t phase, int32_t collective) { return kind_of(exchange(phase, collective, -1, -1)); };
  EXPECT_EQ(kind_of(counts), Kind::count_exchange);
  EXPECT_EQ(kind_of(dispatch), Kind::dispatch);
  EXPECT_EQ(kind_of(combine), Kind::combine);
  EXPECT_EQ(kind_of(combine_backward), Kind::combine_backward);
  EXPECT_EQ(kind_of(dispatch_backward), Kind::dispatch_backward);
  EXPECT_EQ(kind(MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_ALL_REDUCE), Kind::tensor_forward);
  EXPECT_EQ(kind(MOEMESH_PHASE_BACKWARD, MOEMESH_COLLECTIVE_ALL_GATHER), Kind::tensor_backward);
  EXPECT_EQ(kind(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER), Kind::gradients);
  EXPECT_EQ(kind(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_COUNT_EXCHANGE), Kind::gradients_ready);
  EXPECT_EQ(kind(MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_ALL_GATHER), Kind::parameters);
  EXPECT_EQ(kind(MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_AGREEMENT), Kind::step_agreement);
  EXPECT_EQ(kind(MOEMESH_PHASE_BACKWARD, MOEMESH_COLLECTIVE_PIPELINE), Kind::receive_backward);
  EXPECT_EQ(kind(MOEMESH_PHASE_CALLER, MOEMESH_COLLECTIVE_ALL_REDUCE), Kind::caller);
}

// Two ranks, two steps. Rank 1 has three quarters of the rows and comes late to the dispatch, rank 0 once to the combine.
struct Two {
  Two() {
    scripted = 1 * s;
    for (int64_t r = 0; r < 2; ++r) {
      recorders.push_back(recorder(r, 2));
      Communicator alone(std::make_shared<Link>());
      recorders.back()->align(alone, 1, MOEMESH_PHASE_SETUP);
      recorders.back()->add_layer();
    }
    step(10 * ms);
    step(40 * ms);
    results.layer_names = {"moe"};
    results.first_layers = {0, 1};
    results.origin = 1 * s;
    Figures all({2, 1, 2});
    for (auto& one : recorders) {
      Figures mine({2, 1, 2});
      one->add_to(mine, 0);
      for (size_t i = 0; i < all.sums().size(); ++i) all.sums()[i] += mine.sums()[i];
      for (size_t i = 0; i < all.most().size(); ++i) all.most()[i] = std::max(all.most()[i], mine.most()[i]);
      Results::Rank rank;
      rank.events.resize(static_cast<size_t>(one->kept_events()));
      one->copy_events(rank.events.data(), one->kept_events());
      rank.marks = {"attention & <more>"};
      results.ranks.push_back(rank);
    }
    analyse(all, 0, 2, {0}, results);
  }
  void step(int64_t late) {
    const int64_t begin = scripted;
    for (auto& r : recorders) r->begin_step();
    const int64_t here = begin + 1 * ms;
    recorders[0]->keep(timed(counts, here, here + late + 1 * ms, 1, here + late));
    recorders[1]->keep(timed(counts, here + late, here + late + 1 * ms, 0, here));
    const int64_t then = here + late + 1 * ms;
    recorders[0]->keep(timed(dispatch, then, then + 4 * ms, 1, then + 2 * ms));
    recorders[1]->keep(timed(dispatch, then + 2 * ms, then + 4 * ms, 0, then));
    for (int64_t r = 0; r < 2; ++r) {
      const LayerScope scope(recorders[0].get(), 0, 7);
      scripted = then + (6 + r) * ms;
      recorders[static_cast<size_t>(r)]->experts(Kind::experts, then + 4 * ms, r == 0 ? 10 : 30);
    }
    recorders[1]->keep(timed(combine, then + 7 * ms, then + 20 * ms, 0, then + 15 * ms));
    recorders[0]->keep(timed(combine, then + 15 * ms, then + 20 * ms, 1, then + 7 * ms));
    recorders[0]->mark_begin("attention & <more>");
    scripted = begin + 100 * ms;
    recorders[0]->mark_end();
    for (auto& r : recorders) r->end_step();
  }
  std::vector<std::unique_ptr<Recorder>> recorders;
  Results results;
};

TEST(Analysis, LayersStepsAndWhoWasLate) {
  Two two;
  const auto& layer = two.results.layers.at(0);
  EXPECT_STREQ(layer.name, "moe");
  EXPECT_EQ(layer.late_rank, 1);
  EXPECT_NEAR(layer.dispatch_wait, 0.010 + 0.002 + 0.040 + 0.002, 1e-12)
      << "the count exchange's wait is the dispatch's";
  EXPECT_NEAR(layer.late_seconds, 0.054, 1e-12);
  EXPECT_NEAR(layer.combine_wait, 2 * 0.008, 1e-12);
  EXPECT_NEAR(layer.idle_seconds, 0.054 + 0.016, 1e-12);
  EXPECT_NEAR(layer.transfer, 2 * (2 * 0.001 + 2 * 0.002 + 2 * 0.005), 1e-12);
  EXPECT_NEAR(layer.exposed, layer.idle_seconds + layer.transfer, 1e-12);
  EXPECT_NEAR(layer.expert_seconds, 2 * (0.002 + 0.003), 1e-12);
  EXPECT_EQ(layer.rows, 80);
  EXPECT_EQ(layer.rows_ratio, 1.5);
  EXPECT_EQ(layer.late_rows, 1.5);
  ASSERT_EQ(two.results.steps.size(), 2U);
  const auto& step = two.results.steps[1];
  EXPECT_EQ(step.late_rank, 1);
  EXPECT_NEAR(step.late_seconds, 0.042, 1e-12);
  EXPECT_NEAR(step.idle[MOEMESH_REPORT_EXCHANGE], 0.050, 1e-12);
  EXPECT_NEAR(step.idle_seconds, 0.050, 1e-12);
  EXPECT_NEAR(step.seconds, 0.100, 1e-9);
  EXPECT_EQ(step.rows_ratio, 1.5);
  EXPECT_EQ(two.results.summary.late_rank, 1);
  EXPECT_NEAR(two.results.summary.idle_seconds, 0.070, 1e-12);
  EXPECT_NEAR(two.results.summary.seconds, 0.2, 1e-9);
  EXPECT_EQ(two.results.summary.rows_ratio, 1.5);
  EXPECT_EQ(two.results.summary.events, 2 * (5 + 4));
}

// What went on beside the caller is transfer, and only what blocked it is idle.
TEST(Analysis, AWaitBesideTheCallersWorkIsNotIdle) {
  scripted = 0;
  auto one = recorder(0, 2);
  one->begin_step();
  Operation o;
  o.purpose = {MOEMESH_SHARED, MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER};
  o.posted = 0;
  o.ended = 30 * ms;
  o.blocked = 4 * ms;
  o.hear(1, 10 * ms);
  one->keep(o);
  one->end_step();
  Figures mine({2, 0, 1});
  one->add_to(mine, 0);
  constexpr int64_t reduction = MOEMESH_REPORT_REDUCTION;
  EXPECT_NEAR(mine.total(Figures::wait + reduction), 0.010, 1e-12);
  EXPECT_NEAR(mine.total(Figures::transfer + reduction), 0.020, 1e-12);
  EXPECT_NEAR(mine.total(Figures::exposed + reduction), 0.004, 1e-12);
  EXPECT_NEAR(mine.total(Figures::idle + reduction), 0.004, 1e-12);
  EXPECT_NEAR(mine.late(1), 0.004, 1e-12);
}

TEST(Recorder, KeepsTheLatestStepsOfTheSeries) {
  scripted = 0;
  auto one = recorder(0, 1, params(0, 3));
  one->add_layer();
  const LayerScope scope(one.get(), 0, 0);
  for (int64_t step = 0; step < 5; ++step) {
    one->begin_step();
    one->experts(Kind::experts, scripted, 10 + step);
    scripted += 1 * s;
    one->end_step();
  }
  EXPECT_EQ(one->steps(), 5);
  EXPECT_EQ(one->first_step(), 2);
  EXPECT_EQ(one->kept_events(), 0);
  Figures mine({1, 1, 3});
  one->add_to(mine, 0);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(mine.step_rows(i, 0), static_cast<double>(12 + i));
  EXPECT_EQ(mine.layer_rows(0, 0), 10 + 11 + 12 + 13 + 14);
}

// Steps that the series dropped count like those that it kept; what is idle between steps is in none.
TEST(Analysis, SecondsAndIdleTimeAreOfAllSteps) {
  scripted = 0;
  auto one = recorder(0, 2, params(0, 2));
  const Operation of_no_layer = exchange(MOEMESH_PHASE_FORWARD, MOEMESH_COLLECTIVE_ALL_TO_ALL, 0, -1);
  const auto wait_half_a_second = [&] {
    one->keep(timed(of_no_layer, scripted, scripted + s / 2, 1, scripted + s / 2));
    scripted += s / 2;
  };
  for (int64_t step = 0; step < 6; ++step) {
    one->begin_step();
    scripted += s / 2;
    wait_half_a_second();
    one->end_step();
    wait_half_a_second();
  }
  Figures mine({2, 0, 2});
  one->add_to(mine, 0);
  Results results;
  results.ranks.resize(2);
  analyse(mine, one->first_step(), 2, {}, results);
  EXPECT_EQ(results.summary.first_step, 4);
  EXPECT_NEAR(results.summary.seconds, 6, 1e-9);
  EXPECT_NEAR(results.summary.idle_seconds, 6, 1e-9);
  EXPECT_NEAR(results.idle_in_steps, 3, 1e-9);
  const std::string table = written([&](auto& out) { write_table(results, out); });
  EXPECT_NE(table.find("6 steps on 2 ranks: 6.000 s; the series is of steps 4 to 5\n"), std::string::npos) << table;
  EXPECT_NE(table.find("in steps 3.000 s, 25.0 % of their time\n"), std::string::npos) << table;
  one->begin_step();  // and never ended: takes the place of a step that was kept
  Figures again({2, 0, 2});
  one->add_to(again, 0);
  analyse(again, one->first_step(), 2, {}, results);
  EXPECT_NEAR(results.summary.seconds, 6, 1e-9);
}

// A comparison of clocks while something goes on may set the aligned clock back.
TEST(Recorder, NothingEndsBeforeItBegins) {
  scripted = 1000;
  auto one = recorder(0, 2);
  one->add_layer();
  one->begin_step();
  one->mark_begin("mark");
  scripted = 400;
  one->span(Kind::route, 1000);
  one->keep(timed(dispatch, 1000, 400, 1, 1200));
  one->mark_end();
  one->end_step();
  Figures mine({2, 1, 1});
  one->add_to(mine, 0);
  constexpr int64_t exchange_class = MOEMESH_REPORT_EXCHANGE;
  EXPECT_EQ(mine.total(Figures::transfer + exchange_class), 0);
  EXPECT_EQ(mine.total(Figures::exposed + exchange_class), 0);
  std::vector<Event> events(static_cast<size_t>(one->kept_events()));
  ASSERT_EQ(events.size(), 3U);
  one->copy_events(events.data(), one->kept_events());
  for (const Event& event : events) {
    EXPECT_EQ(event.begin, 1000);
    EXPECT_EQ(event.end, 1000);
    EXPECT_EQ(event.wait, 0);
    EXPECT_EQ(event.blocked, 0);
  }
}

// ---- writers

// Every element is closed, names match, attributes are quoted, and & < are escaped. Enough for what is written here.
void expect_well_formed(const std::string& text) {
  std::vector<std::string> open;
  size_t at = 0;
  const auto fail_at = [&](const char* what) { FAIL() << what << " at " << text.substr(at, 80); };
  ASSERT_EQ(text.rfind("<?xml", 0), 0U);
  at = text.find("?>") + 2;
  while (at < text.size()) {
    const size_t next = text.find('<', at);
    const std::string between = text.substr(at, next == std::string::npos ? next : next - at);
    for (size_t amp = between.find('&'); amp != std::string::npos; amp = between.find('&', amp + 1)) {
      const std::string rest = between.substr(amp, 6);
      if (rest.rfind("&amp;", 0) != 0 && rest.rfind("&lt;", 0) != 0 && rest.rfind("&gt;", 0) != 0 && rest != "&quot;")
        return fail_at("a bare &");
    }
    if (open.empty() && between.find_first_not_of(" \n") != std::string::npos) return fail_at("text outside");
    if (next == std::string::npos) break;
    const size_t end = text.find('>', next);
    if (end == std::string::npos) return fail_at("no end of a tag");
    const std::string tag = text.substr(next + 1, end - next - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return fail_at("quotes");
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return fail_at("closes another element");
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  EXPECT_TRUE(open.empty());
}

TEST(Writers, TraceIsJsonWithATrackForEachRankAndStream) {
  Two two;
  const std::string text = written([&](auto& out) { write_trace(two.results, -1, out); });
  const auto json = nlohmann::json::parse(text);
  const auto& events = json.at("traceEvents");
  int64_t waits = 0, names = 0, spans = 0;
  for (const auto& event : events) {
    if (event.at("ph") == "M") {
      names += event.at("name") == "thread_name";
      continue;
    }
    ++spans;
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_GE(event.at("dur").get<double>(), 0);
    waits += event.at("name") == "wait for rank 1";
  }
  EXPECT_EQ(names, 2 * static_cast<int64_t>(Stream::streams));
  EXPECT_EQ(waits, 4);
  EXPECT_EQ(spans, 2 * (5 + 4) + 6) << "and the waits";
  const auto first =
      std::find_if(events.begin(), events.end(), [](const auto& e) { return e.at("name") == "dispatch"; });
  ASSERT_NE(first, events.end());
  EXPECT_DOUBLE_EQ(first->at("ts").get<double>(), 12'000);
  EXPECT_DOUBLE_EQ(first->at("dur").get<double>(), 4'000);
  EXPECT_EQ(first->at("args").at("layer"), "moe");
  EXPECT_EQ(first->at("args").at("late_rank"), 1);
  EXPECT_DOUBLE_EQ(first->at("args").at("wait_us").get<double>(), 2'000);
  EXPECT_NE(text.find("attention & <more>"), std::string::npos);
  const auto one = nlohmann::json::parse(written([&](auto& out) { write_trace(two.results, 1, out); }));
  EXPECT_LT(one.at("traceEvents").size(), events.size());
}

// Chunks that are under way at the same time get tracks of their own, or viewers would take one for a part of the other.
TEST(Writers, OperationsThatOverlapLieOnTracksOfTheirOwn) {
  Results::Rank rank;
  const auto add = [&](Kind kind, int64_t begin, int64_t end) {
    Event event;
    event.kind = static_cast<int32_t>(kind);
    event.begin = begin;
    event.end = end;
    event.step = 3;
    rank.events.push_back(event);
  };
  add(Kind::gradients, 10, 20);
  add(Kind::gradients, 0, 30);
  add(Kind::dispatch, 5, 15);
  add(Kind::gradients, 20, 40);
  add(Kind::gradients, 30, 50);
  add(Kind::mark, 0, 100);
  const auto placed = place_events(rank, 3);
  std::vector<std::pair<int64_t, int32_t>> found;
  for (const Placed& p : placed) found.emplace_back(p.event->begin, p.track);
  const std::vector<std::pair<int64_t, int32_t>> expected{{0, 0}, {0, 0}, {5, 0}, {10, 1}, {20, 1}, {30, 0}};
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(place_events(rank, 2).empty());
}

TEST(Writers, TimelineIsXmlAndMarksTheLateRank) {
  Two two;
  const std::string text = written([&](auto& out) { write_timeline(two.results, -1, out); });
  expect_well_formed(text);
  for (const char* part : {"step 1: ", "late: rank 1", "LATE", "dispatch", "combine", "expert products", "url(#wait)",
                           "attention &amp; &lt;more&gt;", "wait for a rank that came late"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(written([&](auto& out) { write_timeline(two.results, 0, out); }).find("step 0: "), std::string::npos);
}

TEST(Writers, PicturesOfNothingAreXmlToo) {
  Results nothing;
  nothing.ranks.resize(1);
  expect_well_formed(written([&](auto& out) { write_timeline(nothing, -1, out); }));
  expect_well_formed(written([&](auto& out) { write_plot(nothing, out); }));
}

TEST(Writers, PlotAndSeries) {
  Two two;
  const std::string plot = written([&](auto& out) { write_plot(two.results, out); });
  expect_well_formed(plot);
  EXPECT_NE(plot.find("<polyline"), std::string::npos);
  std::istringstream series(written([&](auto& out) { write_series(two.results, out); }));
  std::string head, zero, one, more;
  std::getline(series, head);
  std::getline(series, zero);
  std::getline(series, one);
  EXPECT_FALSE(std::getline(series, more));
  EXPECT_EQ(std::count(head.begin(), head.end(), ','), 12);
  EXPECT_EQ(one,
            "1,0.100000000,1.500000,0.050000000,0.050000000,0.000000000,0.000000000,0.000000000,0.000000000,"
            "0.016000000,0.066000000,1,0.042000000");
}

TEST(Writers, TableNamesTheLateRank) {
  Two two;
  const std::string table = written([&](auto& out) { write_table(two.results, out); });
  EXPECT_NE(table.find("late      rank 1 most of all: 0.054 s, 77.1 % of what was idle"), std::string::npos) << table;
  EXPECT_NE(table.find("rows      most/mean 1.500"), std::string::npos) << table;
}

TEST(Writers, TableOfNothingNamesNoStep) {
  Results nothing;
  nothing.ranks.resize(2);
  const std::string table = written([&](auto& out) { write_table(nothing, out); });
  EXPECT_EQ(table.rfind("no step was recorded on 2 ranks\n", 0), 0U) << table;
  EXPECT_EQ(table.find("-1"), std::string::npos) << table;
}

TEST(Ticks, AreRound) {
  EXPECT_EQ(round_tick(100, 10), 10);
  EXPECT_EQ(round_tick(101, 10), 20);
  EXPECT_EQ(round_tick(450, 10), 50);
  EXPECT_DOUBLE_EQ(round_tick(0.3, 10), 0.05);
  EXPECT_EQ(round_tick(0, 10), 1);
}

}  // namespace
}  // namespace moemesh::timeline
