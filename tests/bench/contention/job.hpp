// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "moemesh.h"

namespace contention {

void check(int32_t status, const char* call);
#define CHECK(call) ::contention::check((call), #call)

template <class P>
P defaults(int32_t (*init)(P*, int64_t)) {
  P params{};
  CHECK(init(&params, static_cast<int64_t>(sizeof params)));
  return params;
}

double now();  // seconds

// All ranks in one expert-parallel group.
class Job {
 public:
  Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  moemesh_mesh mesh() const { return mesh_; }
  int64_t rank() const { return info_.rank; }
  int64_t size() const { return info_.size; }
  int64_t nodes() const { return info_.nodes; }
  int64_t node() const { return info_.node; }

  void barrier() const;
  // Every rank's values, [size, count].
  std::vector<double> gather(const std::vector<double>& values) const;

 private:
  moemesh_context context_ = nullptr;
  moemesh_mesh mesh_ = nullptr;
  moemesh_context_info info_{};
};

// Bytes that this rank sent to other nodes since the ledger was reset.
struct Sent {
  double all = 0;         // of every kind
  double exchanges = 0;   // payload all-to-alls
  double gradients = 0;   // SHARED: their reduction
  double parameters = 0;  // SHARED: gathered after the update
};
Sent ledger(const Job& job);

// Bytes that tc says left this host by `device`; 0 without one.
double link_bytes(const std::string& device);

}  // namespace contention
