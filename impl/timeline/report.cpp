// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/report.hpp"

#include <algorithm>
#include <array>

#include "impl/base/hash.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {
namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
constexpr auto state = MOEMESH_ERROR_INVALID_STATE;

void check(const moemesh_report_params& p) {
  constexpr int64_t most = int64_t{1} << 32;
  require(p.events >= 0 && p.events <= most, bad, "events: expected 0..2^32, got {}", p.events);
  require(p.steps >= 1 && p.steps <= most, bad, "steps: expected 1..2^32, got {}", p.steps);
  require(p.first_step >= 0, bad, "first_step: expected >= 0, got {}", p.first_step);
  require(p.last_step >= 0, bad, "last_step: expected >= 0, got {}", p.last_step);
  require(p.start_pings >= 1 && p.start_pings <= 1000, bad, "start_pings: expected 1..1000, got {}", p.start_pings);
  require(p.step_pings >= 0 && p.step_pings <= 1000, bad, "step_pings: expected 0..1000, got {}", p.step_pings);
}

std::vector<Field> fields_of(const moemesh_report_params& p) {
  return {{"events", p.events},           {"steps", p.steps},
          {"first_step", p.first_step},   {"last_step", p.last_step},
          {"start_pings", p.start_pings}, {"step_pings", p.step_pings}};
}

void check_write(int32_t output, int64_t step, const char* path) {
  require(path != nullptr && *path != 0, bad, "path: expected a text, got none");
  require(output >= MOEMESH_REPORT_TABLE && output <= MOEMESH_REPORT_PLOT, bad, "output: expected 1..5, got {}",
          output);
  const bool detailed = output == MOEMESH_REPORT_TRACE || output == MOEMESH_REPORT_TIMELINE;
  require(step >= -1 && (step == -1 || detailed), bad, "step: expected {}, got {}",
          detailed ? ">= -1" : "-1 for this output", step);
}

// What rank 0 found, thrown on every rank with the same text. Of a fixed size, so that ranks need not agree on one;
// the longest path that a system takes has room.
void throw_everywhere(Communicator& world, const Finding& finding) {
  struct {
    int64_t status;
    std::array<char, 8184> text;
  } told{finding.status, {}};
  finding.text.copy(told.text.data(), told.text.size() - 1);
  world.broadcast(reinterpret_cast<std::byte*>(&told), sizeof told, 0,
                  {0, MOEMESH_PHASE_SETUP, MOEMESH_COLLECTIVE_BROADCAST});
  require(told.status == MOEMESH_OK, static_cast<int32_t>(told.status), "{}", told.text.data());
}

}  // namespace

std::shared_ptr<Report> Report::create(std::shared_ptr<Mesh> mesh, const moemesh_report_params& params,
                                       const Finding& problem) {
  mesh->require_usable();
  Communicator& world = mesh->group(MOEMESH_GROUP_WORLD);
  std::shared_ptr<Recorder> recorder;
  std::shared_ptr<Report> report;
  const Finding finding = problem ? problem : attempt([&] {
    check(params);
    require(!mesh->recorder(), state, "report_create: another report records on this mesh");
    require(mesh->open_steps == 0, state, "report_create: a step is open");
    recorder =
        std::make_shared<Recorder>(mesh->context()->clock(), mesh->rank(), world.size(), mesh->allocator(), params);
    for (size_t i = 0; i < mesh->layer_names().size(); ++i) recorder->add_layer();
    report = std::make_shared<Report>(mesh, recorder);
  });
  agree_on_configuration(world, "report_create", fields_of(params), finding.status, finding.text);
  recorder->align(world, params.start_pings, MOEMESH_PHASE_SETUP);
  mesh->set_recorder(std::move(recorder));
  return report;
}

Report::~Report() {
  if (recording() && mesh_->layout().world() > 1)
    mesh_->context()->log().warning("report destroyed without moemesh_report_stop: the recording goes on");
}

void Report::require_no_step(const char* call) const {
  require(mesh_->open_steps == 0, state, "{}: a step is open", call);
}

void Report::stop() {
  mesh_->require_usable();
  const Finding finding = attempt([&] {
    require_no_step("report_stop");
    require(recording(), state, "report_stop: the report was stopped already");
  });
  const Field fields[] = {{"report", number_}};
  agree_on_configuration(mesh_->group(MOEMESH_GROUP_WORLD), "report_stop", fields, finding.status, finding.text);
  mesh_->set_recorder(nullptr);
}

const Results& Report::results() const {
  require(results_ != nullptr, state, "the report was not collected yet");
  return *results_;
}

void Report::mark_begin(const char* name) {
  if (!recording()) return;
  require(recorder_->mark_begin(name), state, "report_mark_begin(\"{}\"): expected at most {} names and marks 16 deep",
          name, int64_t{Recorder::most_marks});
}

void Report::mark_end() {
  if (!recording()) return;
  require(recorder_->mark_end(), state, "report_mark_end: no mark is open");
}

void Report::write(int32_t output, int64_t step, const char* path) {
  mesh_->require_usable();
  Communicator& world = mesh_->group(MOEMESH_GROUP_WORLD);
  const Finding refused = attempt([&] {
    check_write(output, step, path);
    require(step < results().summary.steps, bad, "step: expected less than {}, got {}", results().summary.steps, step);
  });
  const Field fields[] = {
      {"report", number_}, {"output", output}, {"step", step}, {"path", path ? hash_string(path) : 0, Field::hash}};
  agree_on_configuration(world, "report_write", fields, refused.status, refused.text);
  Finding unwritten;
  if (world.rank() == 0) unwritten = attempt([&] { write_output(results(), output, step, path); });
  throw_everywhere(world, unwritten);
}

}  // namespace moemesh::timeline
