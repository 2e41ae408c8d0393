// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Timeline reports over ranks: who is late is named, and for how long, whatever the ranks' clocks say; the ledger with stamps
// against MPI; failures and pipelines while a report records.
//
// All ranks share one machine's clock, so a test knows the truth: it hands every rank another clock, and compares.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "allocations.hpp"
#include "pipeline_support.hpp"
#include "pmpi.hpp"

namespace moemesh::test {
namespace {

int64_t steady() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

// The true time, with leaps that the test makes on every rank at once; and what this rank's clock says of it.
struct SkewedClock {
  double offset = 0;  // seconds
  double drift = 0;
  int64_t start;
  std::atomic<int64_t> leaps = 0;

  // rank -1: as it is.
  explicit SkewedClock(int rank) : start(steady()) {
    if (rank < 0) return;
    offset = rank % 2 == 0 ? 1.0 : 0.0;
    drift = rank % 2 == 0 ? 50e-6 : -50e-6;
  }
  SkewedClock(const SkewedClock&) = delete;
  SkewedClock& operator=(const SkewedClock&) = delete;
  int64_t truth() const { return steady() + leaps; }
  static int64_t read(void* user) {
    const auto& clock = *static_cast<SkewedClock*>(user);
    const int64_t truth = clock.truth();
    return truth + std::llround(1e9 * clock.offset) +
           std::llround(clock.drift * static_cast<double>(truth - clock.start));
  }
};

// Of a file that is not there yet, the same on every rank; collective.
std::string common_path() {
  int64_t number = world_rank() == 0 ? steady() : 0;
  MPI_Bcast(&number, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return std::filesystem::temp_directory_path() / ("moemesh_report_" + std::to_string(number));
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Report {
 public:
  explicit Report(const Mesh& mesh, int32_t pings = 2, int64_t steps = 64) {
    auto params = with_defaults(moemesh_report_params_init);
    params.events = 1024;
    params.steps = steps;
    params.step_pings = pings;
    OK(moemesh_report_create(mesh.get(), &params, &report_));
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report() {
    if (std::uncaught_exceptions() == 0) EXPECT_STATUS(MOEMESH_OK, moemesh_report_stop(report_));
    moemesh_report_destroy(&report_);
  }
  moemesh_report get() const { return report_; }
  void collect() const { OK(moemesh_report_collect(report_)); }
  moemesh_report_summary summary() const {
    auto result = sized<moemesh_report_summary>();
    OK(moemesh_report_get_summary(report_, &result));
    return result;
  }
  moemesh_report_layer layer(int64_t index) const {
    auto result = sized<moemesh_report_layer>();
    OK(moemesh_report_get_layer(report_, index, &result));
    return result;
  }
  moemesh_report_step step(int64_t index) const {
    auto result = sized<moemesh_report_step>();
    OK(moemesh_report_get_step(report_, index, &result));
    return result;
  }
  // What rank 0 wrote; collective, empty elsewhere.
  std::string write(int32_t output) const {
    const std::string path = common_path();
    OK(moemesh_report_write(report_, output, -1, path.c_str()));
    if (world_rank() != 0) return {};
    const std::string text = content(path);
    std::filesystem::remove(path);
    return text;
  }

 private:
  moemesh_report report_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Floats numbers(int64_t n, int64_t seed) {
  Floats values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>((i * 37 + seed * 101) % 53) / 26.5F - 1);
  return values;
}

ModelSpec model_spec(int64_t hidden, int64_t ffn, bool caller_logits = false) {
  oracle::LayerConfig layer;
  layer.hidden = hidden;
  layer.ffn = ffn;
  layer.experts = 4;
  layer.top_k = caller_logits ? 1 : 2;
  layer.caller_logits = caller_logits;
  ModelSpec spec;
  spec.layers = {layer};
  spec.shared = {{.name = "scale", .extents = {3, 7}}};
  spec.optimizer->learning_rate = 0;
  return spec;
}

// ---- one rank is late

// Rank 1 sleeps before its forward. Returns how long its peers had to wait, of each step, in truth: seconds.
std::vector<double> sleepy_steps(const Model& model, int steps, std::chrono::milliseconds sleep) {
  std::vector<double> injected;
  const Floats x = numbers(16 * 12, world_rank());
  for (int i = 0; i < steps; ++i) {
    model.begin();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 1) std::this_thread::sleep_for(sleep);
    int64_t come[2] = {0, 0};
    come[world_rank()] = steady();
    Tape tape;
    (void)model.forward(0, x, &tape);
    (void)model.backward(0, &tape, x);
    model.update();
    MPI_Allreduce(MPI_IN_PLACE, come, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    injected.push_back(1e-9 * static_cast<double>(come[1] - come[0]));
  }
  return injected;
}

TEST(Report, ARankThatSleepsIsNamedWithItsTime) {
  if (world_size() != 2) GTEST_SKIP() << "wants 2 ranks";
  for (const bool skewed : {false, true}) {
    SCOPED_TRACE(skewed ? "clocks apart" : "one clock");
    SkewedClock clock(skewed ? world_rank() : -1);
    const Session session(MPI_COMM_WORLD, 60, skewed ? SkewedClock::read : nullptr, &clock);
    const Mesh mesh(session, {.ep = 2});
    const Model model(mesh, model_spec(12, 16));
    const Report report(mesh);
    constexpr int steps = 7;
    const std::vector<double> injected = sleepy_steps(model, steps, std::chrono::milliseconds(60));
    report.collect();
    std::vector<double> ratios;
    for (int i = 0; i < steps; ++i) {
      const auto step = report.step(i);
      EXPECT_EQ(step.late_rank, 1) << i;
      ratios.push_back(step.late_seconds / injected[static_cast<size_t>(i)]);
    }
    EXPECT_NEAR(median(ratios), 1, 0.15);
    const auto layer = report.layer(0);
    EXPECT_EQ(layer.late_rank, 1);
    EXPECT_GT(layer.dispatch_wait, 0.85 * steps * 0.060) << "what the count exchange waited is in it";
    EXPECT_GT(layer.dispatch_wait, 0.5 * layer.idle_seconds);
    const auto summary = report.summary();
    EXPECT_EQ(summary.steps, steps);
    EXPECT_EQ(summary.late_rank, 1);
    EXPECT_GT(summary.idle[MOEMESH_REPORT_EXCHANGE], 0.85 * steps * 0.060);
    if (skewed) {
      EXPECT_NEAR(summary.clock_offset, 1, 0.01);
    }
    const std::string table = report.write(MOEMESH_REPORT_TABLE);
    if (world_rank() == 0) {
      EXPECT_NE(table.find("late      rank 1 most of all"), std::string::npos) << table;
    }
  }
}

// All tokens choose an expert of rank 1: rank 0 waits for it in the combine, as long as its products take.
TEST(Report, ARankWithMoreRowsIsNamedWithItsRows) {
  if (world_size() != 2) GTEST_SKIP() << "wants 2 ranks";
  const Session session;
  const Mesh mesh(session, {.ep = 2});
  constexpr int64_t tokens = 768, hidden = 64, ffn = 512;
  const Model model(mesh, model_spec(hidden, ffn, true));
  const Floats x = numbers(tokens * hidden, world_rank());
  const Floats logits = route(std::vector<int64_t>(static_cast<size_t>(tokens), 3), 4);
  const auto step = [&] {
    model.begin();
    Tape tape;
    (void)model.forward(0, x, &tape, {.logits = &logits});
    Floats dlogits(static_cast<size_t>(tokens * 4));
    (void)model.backward(0, &tape, x, &dlogits);
    model.update();
  };
  step();  // warm
  const Report report(mesh);
  constexpr int steps = 5;
  std::vector<double> ratios;
  double waited = 0, computed = 0;
  for (int i = 0; i < steps; ++i) {
    step();
    report.collect();
    const auto layer = report.layer(0);
    const double waits = layer.combine_wait + layer.dispatch_backward_wait;
    ratios.push_back((waits - waited) / (layer.expert_seconds - computed));
    waited = waits;
    computed = layer.expert_seconds;
    EXPECT_EQ(report.step(i).rows_ratio, 2);
  }
  EXPECT_NEAR(median(ratios), 1, 0.15);
  const auto layer = report.layer(0);
  EXPECT_EQ(layer.late_rank, 1);
  EXPECT_EQ(layer.late_rows, 2);
  EXPECT_EQ(layer.rows_ratio, 2);
  EXPECT_EQ(layer.rows, 2.0 * tokens * steps);
  EXPECT_EQ(report.summary().late_rank, 1);
}

// ---- clocks

// Marks at moments that the test knows: on the report's clock they are as far apart as in truth, on whatever clocks the ranks
// have. On 2 ranks steps of 20 seconds are made up, within which these clocks drift apart by 2 ms.
TEST(Report, MomentsOfAllRanksLieOnOneClock) {
  if (world_size() < 2) GTEST_SKIP() << "wants more ranks";
  SkewedClock clock(world_rank());
  clock.start = clock.truth();
  MPI_Bcast(&clock.start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  const Session session(MPI_COMM_WORLD, 60, SkewedClock::read, &clock);
  const Mesh mesh(session, {.ep = static_cast<int32_t>(world_size())});
  const Model model(mesh, model_spec(12, 16));
  const Report report(mesh, 8);
  constexpr int steps = 12;
  std::vector<int64_t> truth;
  std::vector<int64_t> doubt;
  const Floats x = numbers(16 * 12, world_rank());
  for (int i = 0; i < steps; ++i) {
    model.begin();
    MPI_Barrier(MPI_COMM_WORLD);
    clock.leaps += world_size() > 2 ? 1'000'000'000 : i < 3 ? 5'000'000'000 : 20'000'000'000;
    MPI_Barrier(MPI_COMM_WORLD);
    const int64_t before = clock.truth();
    OK(moemesh_report_mark_begin(report.get(), "moment"));
    const int64_t after = clock.truth();
    OK(moemesh_report_mark_end(report.get()));
    truth.push_back(before);
    doubt.push_back(after - before);
    Tape tape;
    (void)model.forward(0, x, &tape);
    (void)model.backward(0, &tape, x);
    model.update();
  }
  report.collect();
  std::vector<int64_t> truths(static_cast<size_t>(steps * world_size())), doubts = truths;
  MPI_Gather(truth.data(), steps, MPI_INT64_T, truths.data(), steps, MPI_INT64_T, 0, MPI_COMM_WORLD);
  MPI_Gather(doubt.data(), steps, MPI_INT64_T, doubts.data(), steps, MPI_INT64_T, 0, MPI_COMM_WORLD);
  EXPECT_LT(report.summary().clock_error, 1e-3);
  EXPECT_LT(report.summary().clock_offset, 1.1);
  const std::string trace = report.write(MOEMESH_REPORT_TRACE);
  if (world_rank() != 0) return;
  std::vector<std::vector<double>> moments(static_cast<size_t>(world_size()));
  const auto json = nlohmann::json::parse(trace);
  for (const auto& event : json.at("traceEvents"))
    if (event.at("name") == "moment")
      moments[event.at("pid").get<size_t>()].push_back(1e3 * event.at("ts").get<double>());
  int64_t compared = 0;
  for (size_t r = 1; r < moments.size(); ++r) {
    ASSERT_EQ(moments[r].size(), static_cast<size_t>(steps));
    for (size_t i = 0; i < static_cast<size_t>(steps); ++i) {
      const size_t at = r * static_cast<size_t>(steps) + i;
      if (doubts[at] > 200'000 || doubts[i] > 200'000) continue;  // this process was put aside just then
      ++compared;
      const auto apart = static_cast<double>(truths[at] - truths[i]);
      EXPECT_LT(std::abs(moments[r][i] - moments[0][i] - apart), 1e6) << "rank " << r << " step " << i;
    }
  }
  EXPECT_GT(compared, steps / 2);
}

// ---- stamps, the ledger, failures

void plain_step(const Mesh& mesh, const Model& model, int32_t microbatches, int64_t tokens) {
  const Floats x = numbers(tokens * 12, mesh.here().data_shard), dy = numbers(tokens * 12, 3);
  Floats gradient(21, 0.25F);
  const auto view = view_of(gradient, {3, 7});
  model.begin(microbatches);
  for (int32_t m = 0; m < microbatches; ++m) {
    Tape tape;
    (void)model.forward(0, x, &tape, {.microbatch = m});
    (void)model.backward(0, &tape, dy);
    OK(moemesh_gradient_ready(model.parameter("scale"), &view, nullptr));
  }
  EXPECT_EQ(model.update().skipped, 0);
}

ModelSpec staged_spec(int32_t stage) {
  ModelSpec spec = model_spec(12, 16);
  spec.layers[0].shared_ffn = 8;
  spec.optimizer->shared_stage = spec.optimizer->expert_stage = stage;
  return spec;
}

// Every message has its stamp, whatever is recorded; without a report everything is as it was.
TEST(Report, TheLedgerWithStampsIsWhatMpiWasHanded) {
  const Session session;
  for (const MeshSpec& spec : meshes_of(world_size()))
    for (const int32_t stage : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << spec << " stage " << stage);
      const Mesh mesh(session, spec);
      const Model model(mesh, staged_spec(stage));
      const auto measure = [&] {
        mesh.reset_ledger();
        pmpi::reset();
        plain_step(mesh, model, 2, 6);
        const auto mpi = pmpi::counts();
        const auto ledger = mesh.ledger();
        EXPECT_EQ(total(ledger).messages, mpi.messages);
        EXPECT_EQ(total(ledger).bytes, mpi.bytes);
        return ledger;
      };
      const auto before = measure();
      std::vector<moemesh_ledger_entry> during;
      {
        const Report report(mesh);
        during = measure();
        report.collect();
        EXPECT_EQ(report.summary().steps, 1);
      }
      const auto after = measure();
      EXPECT_EQ(total(before, {.collective = MOEMESH_COLLECTIVE_CLOCK}).messages, 0);
      EXPECT_EQ(total(after, {.collective = MOEMESH_COLLECTIVE_CLOCK}).messages, 0);
      int64_t stamped = 0;
      for (const int32_t collective :
           {MOEMESH_COLLECTIVE_ALL_TO_ALL, MOEMESH_COLLECTIVE_COUNT_EXCHANGE, MOEMESH_COLLECTIVE_ALL_REDUCE,
            MOEMESH_COLLECTIVE_ALL_GATHER, MOEMESH_COLLECTIVE_REDUCE_SCATTER, MOEMESH_COLLECTIVE_AGREEMENT}) {
        const auto plain = total(before, {.collective = collective}), with = total(during, {.collective = collective});
        EXPECT_EQ(plain.calls, with.calls) << collective;
        EXPECT_EQ(plain.messages, with.messages) << collective;
        EXPECT_EQ(plain.bytes, with.bytes) << collective;
        if (collective != MOEMESH_COLLECTIVE_AGREEMENT) stamped += with.messages;
      }
      const auto pings = total(during, {.axes = MOEMESH_GROUP_WORLD,
                                        .family = 0,
                                        .phase = MOEMESH_PHASE_UPDATE,
                                        .collective = MOEMESH_COLLECTIVE_CLOCK});
      EXPECT_EQ(total(during, {.collective = MOEMESH_COLLECTIVE_CLOCK}).messages, stamped + pings.messages);
      EXPECT_EQ(total(during, {.collective = MOEMESH_COLLECTIVE_CLOCK}).calls, pings.calls);
    }
}

// A rank that fails sends and takes as many stamps as one that does not: nobody hangs, and the next step is good.
TEST(Report, FailuresKeepTheStampsMatched) {
  if (world_size() < 2) GTEST_SKIP() << "wants more ranks";
  const Session session(MPI_COMM_WORLD, 20);
  for (const MeshSpec& spec : meshes_of(world_size())) {
    SCOPED_TRACE(to_string(spec));
    const Mesh mesh(session, spec);
    const Model model(mesh, staged_spec(2));
    const Report report(mesh);
    plain_step(mesh, model, 1, 6);
    model.begin();
    Floats x = numbers(6 * 12, 1);
    if (mesh.rank() == world_size() - 1) x[5] = std::numeric_limits<float>::quiet_NaN();
    Floats y(x.size());
    const auto in = view_of(x, {6, 12}), out = view_of(y, {6, 12});
    auto params = with_defaults(moemesh_forward_params_init);
    params.x = &in;
    params.y = &out;
    moemesh_tape tape = nullptr;
    const int32_t status = moemesh_layer_forward(model.layer(0), &params, &tape);
    moemesh_tape_destroy(&tape);
    if (mesh.rank() == world_size() - 1) {
      EXPECT_NE(status, MOEMESH_OK);
    }
    const int32_t end = moemesh_step_end(model.optimizer(), 0);
    EXPECT_TRUE(end == MOEMESH_OK || end == MOEMESH_ERROR_STEP_FAILED) << moemesh_status_name(end);
    plain_step(mesh, model, 1, 6);
    report.collect();
    EXPECT_EQ(report.summary().steps, 3);
  }
}

// What a gather sends that was begun before a recording, or goes on after it, is as it was begun.
TEST(Report, RecordingStartsAndStopsWhileGathersAreUnderWay) {
  const Session session(MPI_COMM_WORLD, 20);
  const Mesh mesh(session, {.dp = static_cast<int32_t>(world_size())});
  ModelSpec spec = staged_spec(1);
  spec.optimizer->prefetch = 1;
  spec.optimizer->chunk_bytes = 64;
  const Model model(mesh, spec);
  for (int i = 0; i < 3; ++i) {
    plain_step(mesh, model, 1, 6);
    const Report report(mesh);
    plain_step(mesh, model, 1, 6);
    report.collect();
    EXPECT_EQ(report.summary().steps, 1);
    plain_step(mesh, model, 1, 6);
  }
  plain_step(mesh, model, 1, 6);
}

TEST(Report, RanksThatDisagreeAreToldAndFilesThatCannotBeWritten) {
  const Session session(MPI_COMM_WORLD, 20);
  const Mesh mesh(session, {.dp = static_cast<int32_t>(world_size())});
  auto params = with_defaults(moemesh_report_params_init);
  params.steps = 8 + (world_rank() == world_size() - 1 ? 1 : 0);
  moemesh_report report = nullptr;
  if (world_size() > 1) {
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, moemesh_report_create(mesh.get(), &params, &report));
    params.steps = world_rank() == 0 ? 0 : 8;
    EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, moemesh_report_create(mesh.get(), &params, &report));
  }
  const Report good(mesh);
  good.collect();
  EXPECT_STATUS(MOEMESH_ERROR_FILE, moemesh_report_write(good.get(), MOEMESH_REPORT_SERIES, -1, "/nowhere/at/all"));
  const std::string text = "MOEMESH_ERROR_FILE: cannot write \"/nowhere/at/all\": No such file or directory (rank ";
  EXPECT_EQ(last_error(), text + std::to_string(world_rank()) + ")");
}

// What one rank passes is known to be wrong before rank 0 opens anything.
TEST(Report, AFileStaysAsItWasWhereAnyRankIsWrong) {
  const Session session(MPI_COMM_WORLD, 20);
  const Mesh mesh(session, {.dp = static_cast<int32_t>(world_size())});
  const Report report(mesh);
  report.collect();
  const std::string path = common_path(), other = path + "_other";
  if (world_rank() == 0) std::ofstream(path) << "kept";
  const bool wrong = world_rank() == world_size() - 1;
  const auto write = [&](const char* mine, int32_t output = MOEMESH_REPORT_SERIES) {
    return moemesh_report_write(report.get(), output, -1, mine);
  };
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, write(wrong ? nullptr : path.c_str()));
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, write(wrong ? "" : path.c_str()));
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_ARGUMENT, write(path.c_str(), wrong ? 6 : MOEMESH_REPORT_SERIES));
  if (world_size() > 1) {
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, write(wrong ? other.c_str() : path.c_str()));
    EXPECT_STATUS(MOEMESH_ERROR_MISMATCH, write(path.c_str(), wrong ? MOEMESH_REPORT_TABLE : MOEMESH_REPORT_SERIES));
  }
  if (world_rank() == 0) {
    EXPECT_EQ(content(path), "kept");
    EXPECT_FALSE(std::filesystem::exists(other));
    std::filesystem::remove(path);
  }
}

// More steps than the series keeps: the others wait for rank 0 in each of them.
TEST(Report, SecondsAreOfAllStepsLikeTheIdleOnes) {
  const Session session(MPI_COMM_WORLD, 20);
  const Mesh mesh(session, {.dp = static_cast<int32_t>(world_size())});
  const Model model(mesh, staged_spec(1));
  const Report report(mesh, 2, 2);
  int64_t within = 0;
  for (int i = 0; i < 6; ++i) {
    model.begin();
    const int64_t begin = steady();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    within += steady() - begin;
    model.update();
  }
  report.collect();
  const auto summary = report.summary();
  EXPECT_EQ(summary.steps, 6);
  EXPECT_EQ(summary.first_step, 4);
  EXPECT_GE(summary.seconds, 0.999e-9 * static_cast<double>(within));
  EXPECT_LE(summary.idle_seconds, world_size() * summary.seconds);
  const std::string table = report.write(MOEMESH_REPORT_TABLE);
  std::smatch share;
  if (world_rank() != 0) return;
  ASSERT_TRUE(std::regex_search(table, share, std::regex("in steps [0-9.]+ s, ([0-9.]+) % of their time"))) << table;
  EXPECT_LE(std::stod(share[1]), 100);
}

// Its layers are those until it stopped, whatever the mesh gets later.
TEST(Report, LayersOfLaterAreNotInIt) {
  const Session session(MPI_COMM_WORLD, 20);
  const Mesh mesh(session, {.dp = static_cast<int32_t>(world_size())});
  const Model model(mesh, staged_spec(1));
  const auto params = with_defaults(moemesh_report_params_init);
  moemesh_report report = nullptr;
  OK(moemesh_report_create(mesh.get(), &params, &report));
  plain_step(mesh, model, 1, 6);
  OK(moemesh_report_stop(report));
  const Model later(mesh, staged_spec(1));
  OK(moemesh_report_collect(report));
  auto summary = sized<moemesh_report_summary>();
  OK(moemesh_report_get_summary(report, &summary));
  EXPECT_EQ(summary.layers, 1);
  moemesh_report_destroy(&report);
}

// A rank that comes late to the step's end: its peers are idle in the agreement there.
TEST(Report, ARankThatIsLateAtTheStepsEndIsNamed) {
  if (world_size() != 2) GTEST_SKIP() << "wants 2 ranks";
  const Session session;
  const Mesh mesh(session, {.dp = 2});
  const Model model(mesh, staged_spec(1));
  const Report report(mesh);
  constexpr int steps = 5;
  for (int i = 0; i < steps; ++i) {
    model.begin();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(40));
    model.update();
  }
  report.collect();
  std::vector<double> waits;
  for (int i = 0; i < steps; ++i) waits.push_back(report.step(i).idle[MOEMESH_REPORT_REDUCTION]);
  EXPECT_NEAR(median(waits), 0.040, 0.15 * 0.040 + 0.002);
  EXPECT_EQ(report.summary().late_rank, 0);
}

// ---- pipelines

// The second stage waits for the first one's rows; its late rank is named, and the ledger still equals MPI's count.
TEST(Report, PipelineReceivesAreSplitToo) {
  if (world_size() != 2) GTEST_SKIP() << "wants 2 ranks";
  const Session session(MPI_COMM_WORLD, 20);
  const Mesh mesh(session, {.pp = 2});
  Chain chain(mesh, 4);
  const auto rows = [](int64_t, int64_t m) { return 3 + m; };
  chain.step(3, rows);
  const Report report(mesh);
  mesh.reset_ledger();
  pmpi::reset();
  constexpr int steps = 3;
  for (int i = 0; i < steps; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    chain.step(3, rows);
  }
  const auto mpi = pmpi::counts();
  const auto ledger = mesh.ledger();
  EXPECT_EQ(total(ledger).messages, mpi.messages);
  EXPECT_EQ(total(ledger).bytes, mpi.bytes);
  EXPECT_EQ(total(ledger, {.axes = MOEMESH_AXIS_PP, .family = -1, .phase = 0, .collective = MOEMESH_COLLECTIVE_CLOCK})
                .messages,
            3 * steps)
      << "one for each header";
  report.collect();
  EXPECT_EQ(report.summary().late_rank, 0);
  EXPECT_GT(report.summary().idle[MOEMESH_REPORT_PIPELINE], steps * 0.040);
  std::vector<double> waits;
  for (int i = 0; i < steps; ++i) waits.push_back(report.step(i).idle[MOEMESH_REPORT_PIPELINE]);
  EXPECT_LT(median(waits), 0.100);
  const std::string trace = report.write(MOEMESH_REPORT_TRACE);
  if (world_rank() == 0) {
    EXPECT_NE(trace.find("receive from the stage before"), std::string::npos);
  }
}

// ---- what it costs

TEST(Report, RecordedStepsAllocateNothing) {
  if (!AllocationCounter::available()) GTEST_SKIP() << "a sanitizer has its own malloc";
  const Session session;
  for (const MeshSpec& spec : meshes_of(world_size()))
    for (const int32_t stage : {1, 2}) {
      SCOPED_TRACE(testing::Message() << spec << " stage " << stage);
      const Mesh mesh(session, spec);
      const Model model(mesh, staged_spec(stage));
      const Report report(mesh);
      for (int i = 0; i < 3; ++i) plain_step(mesh, model, 2, 24);
      const AllocationCounter counter;
      for (int i = 0; i < 3; ++i) {
        OK(moemesh_report_mark_begin(report.get(), "step"));
        plain_step(mesh, model, 2, 24);
        OK(moemesh_report_mark_end(report.get()));
      }
      EXPECT_EQ(AllocationCounter::count(), 0) << "first by" << AllocationCounter::first();
    }
}

}  // namespace
}  // namespace moemesh::test
