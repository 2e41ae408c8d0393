// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "impl/family/family.hpp"

namespace moemesh {

// The fp32 main gradients of a family, which it has while it has an optimizer. Stages 0 and 1: whole arrays, the library's or
// borrowed. Stage 2: this rank's shards of the sums so far, and an array for each parameter of the microbatch in progress.
class Gradients {
 public:
  Gradients(const Family& family, int32_t stage);  // local; throws NOT_SUPPORTED, OUT_OF_MEMORY

  int32_t stage() const { return stage_; }
  bool sharded() const { return stage_ == 2; }
  void attach();  // the parameters' arrays become these
  void detach();
  void zero();

  // Stage 2: gives the parameter a zeroed array (may throw OUT_OF_MEMORY), and takes it back.
  void open(Parameter& parameter);
  void close(Parameter& parameter);

  // Everything, at stages 0 and 1; the shard of a bucket, at stage 2, whose element 0 is the first one owned.
  const FlatView& whole() const { return whole_; }
  std::span<float> own() const { return {own_.data(), static_cast<size_t>(own_.size())}; }  // the library's part of it
  FlatView shard(size_t bucket) const;
  // Element `first` of the family's order, in `parameter` and kept here.
  float* at(const Parameter& parameter, int64_t first) const;

  int64_t bytes() const;                                 // without the arrays of open(); borrowed ones included
  int64_t bucket_bytes() const { return spare_bytes_; }  // all arrays of open() so far

 private:
  const Family& family_;
  int32_t stage_;
  LastingBuffer<float> own_;
  FlatView whole_;
  std::vector<Buffer<float>> shards_;  // of each bucket
  std::vector<Buffer<float>> spare_;   // arrays that no parameter has
  std::vector<std::pair<const Parameter*, Buffer<float>>> lent_;
  int64_t spare_bytes_ = 0;
};

}  // namespace moemesh
