// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "impl/base/error.hpp"
#include "impl/context/mesh.hpp"
#include "impl/timeline/analysis.hpp"
#include "impl/timeline/recorder.hpp"

namespace moemesh::timeline {

// The public object: starts and stops a recording, and brings the ranks' records together.
class Report {
 public:
  // Collective over the context, as stop, collect and write.
  static std::shared_ptr<Report> create(std::shared_ptr<Mesh> mesh, const moemesh_report_params& params,
                                        const Finding& problem);
  Report(std::shared_ptr<Mesh> mesh, std::shared_ptr<Recorder> recorder)
      : mesh_(std::move(mesh)), recorder_(std::move(recorder)), number_(mesh_->recordings()) {}
  ~Report();

  void stop();
  void collect();
  void write(int32_t output, int64_t step, const char* path);
  void mark_begin(const char* name);
  void mark_end();

  Mesh& mesh() const { return *mesh_; }
  const Results& results() const;  // throws before the first collect

 private:
  bool recording() const { return mesh_->recorder() == recorder_.get(); }
  void require_no_step(const char* call) const;
  void find_layers(Results& results, std::vector<int64_t>& stages) const;
  void add_up(Figures& figures, const Results& results);
  void gather_events(Results& results);

  std::shared_ptr<Mesh> mesh_;
  std::shared_ptr<Recorder> recorder_;
  int64_t number_;  // of the mesh's reports
  std::unique_ptr<Results> results_;
};

}  // namespace moemesh::timeline
