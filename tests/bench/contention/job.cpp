// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "job.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace contention {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "contention_bench: %s\n", what.c_str());
  std::exit(1);
}

}  // namespace

void check(int32_t status, const char* call) {
  if (status == MOEMESH_OK) return;
  char text[1024] = "";
  moemesh_last_error(nullptr, text, sizeof text, nullptr);
  fail(std::string(call) + ": " + text);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Job::Job() {
  auto context = defaults(moemesh_context_params_init);
  context.comm.kind = MOEMESH_COMM_MPI_WORLD;
  context.mpi_init = 1;
  context.timeout_seconds = 120;
  CHECK(moemesh_context_create(&context, &context_));
  info_.struct_size = sizeof info_;
  CHECK(moemesh_context_get_info(context_, &info_));
  auto mesh = defaults(moemesh_mesh_params_init);
  mesh.ep = static_cast<int32_t>(info_.size);
  CHECK(moemesh_mesh_create(context_, &mesh, &mesh_));
}

Job::~Job() {
  CHECK(moemesh_mesh_finalize(mesh_));
  moemesh_mesh_destroy(&mesh_);
  CHECK(moemesh_context_finalize(context_));
  moemesh_context_destroy(&context_);
  CHECK(moemesh_shutdown());
}

void Job::barrier() const { (void)gather({0}); }

std::vector<double> Job::gather(const std::vector<double>& values) const {
  const auto count = static_cast<int64_t>(values.size()), total = count * size();
  std::vector<double> all(static_cast<size_t>(total));
  moemesh_view send{}, receive{};
  CHECK(moemesh_view_init(&send, MOEMESH_FLOAT64, 1, &count, const_cast<double*>(values.data())));
  CHECK(moemesh_view_init(&receive, MOEMESH_FLOAT64, 1, &total, all.data()));
  CHECK(moemesh_all_gather(mesh_, MOEMESH_GROUP_WORLD, &send, &receive));
  return all;
}

Sent ledger(const Job& job) {
  int64_t count = 0;
  CHECK(moemesh_ledger_get_count(job.mesh(), &count));
  Sent sent;
  for (int64_t i = 0; i < count; ++i) {
    moemesh_ledger_entry entry{};
    entry.struct_size = sizeof entry;
    CHECK(moemesh_ledger_get_entry(job.mesh(), i, &entry));
    const auto bytes = static_cast<double>(entry.bytes_internode);
    sent.all += bytes;
    if (entry.collective == MOEMESH_COLLECTIVE_ALL_TO_ALL) sent.exchanges += bytes;
    if (entry.family != MOEMESH_SHARED) continue;
    if (entry.phase == MOEMESH_PHASE_REDUCTION) sent.gradients += bytes;
    if (entry.phase == MOEMESH_PHASE_UPDATE) sent.parameters += bytes;
  }
  return sent;
}

double link_bytes(const std::string& device) {
  if (device.empty()) return 0;
  const std::string command = "tc -s qdisc show dev '" + device + "' root";
  FILE* output = popen(command.c_str(), "r");
  if (!output) fail("cannot run " + command);
  char line[512];
  double bytes = -1;
  while (bytes < 0 && std::fgets(line, sizeof line, output)) {
    const char* sent = std::strstr(line, "Sent ");
    if (sent) bytes = std::atof(sent + 5);
  }
  while (std::fgets(line, sizeof line, output)) {
  }
  if (pclose(output) != 0 || bytes < 0) fail(command + " does not tell the bytes sent");
  return bytes;
}

}  // namespace contention
