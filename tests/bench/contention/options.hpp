// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contention {

// The sizes that are measured unless the command line says otherwise; those that are 0 follow the links' rate, so that the times
// of a layer's parts have the same ratios at every rate: with c its dense compute (two matrices, their forward twice as the
// backward computes it again), an all-to-all takes a quarter of c and reducing its gradients two thirds of c, what the
// backward's three quarters of c less an eighth can hide. On 2 cores that 4 hosts share, c is some 64 s Mbit / rate.
struct Options {
  int64_t layers = 12;
  int64_t hidden = 0;
  int64_t dense = 0;  // width of each layer's dense part: 2 * hidden * dense SHARED parameters
  int64_t ffn = 16;   // of an expert: little compute, so that the exchanges are what its layer takes
  int64_t experts = 8;
  int64_t top_k = 4;
  int64_t tokens = 0;        // of each rank and step
  int64_t stage = 0;         // of both families
  int64_t rounds = 2;        // of all policies in turn
  int64_t steps = 5;         // of a policy in a round, the first of which is not counted
  int64_t prefetch = 1;      // parameters are gathered under the next forward
  int64_t checkpoint = 1;    // of the dense parts
  int64_t bucket_bytes = 0;  // 0: both matrices of a layer
  int64_t chunk_bytes = 0;
  double link_mbit = 1000;
  std::string device;  // whose bytes tc counts; empty: none
  std::vector<std::string> policies{"none", "after", "eager", "pieces", "gaps"};
};

// Prints what is wrong, or the list of options, and exits.
Options parse(int argc, char** argv);
std::string to_string(const Options& options);

}  // namespace contention
