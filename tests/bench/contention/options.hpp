// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contention {

// The sizes that are measured unless the command line says otherwise. On 4 hosts of one rank at 500 Mbit, by arithmetic (59 MB/s
// of payload, 8.6 GFLOP/s a rank): dense compute of a layer, forward and backward, c = 169 ms; an all-to-all 43 ms (a quarter of
// it); reducing a layer's gradients 93 ms, which fits into the backward's part of c.
struct Options {
  int64_t layers = 12;
  int64_t hidden = 1024;
  int64_t dense = 448;  // width of each layer's dense part: 2 * hidden * dense SHARED parameters
  int64_t ffn = 16;     // of an expert: little compute, so that the exchanges are what its layer takes
  int64_t experts = 8;
  int64_t top_k = 4;
  int64_t tokens = 264;                     // of each rank and step
  int64_t stage = 0;                        // of both families
  int64_t rounds = 2;                       // of all policies in turn
  int64_t steps = 5;                        // of a policy in a round, the first of which is not counted
  int64_t prefetch = 1;                     // parameters are gathered under the next forward
  int64_t bucket_bytes = int64_t{3} << 20;  // both matrices of a layer
  int64_t chunk_bytes = 1 << 17;            // 0: the library's
  double link_mbit = 0;                     // for what the table says of times; 0: not known
  std::string device;                       // whose bytes tc counts; empty: none
  std::vector<std::string> policies{"none", "after", "eager", "gaps"};
};

// Prints what is wrong, or the list of options, and exits.
Options parse(int argc, char** argv);
std::string to_string(const Options& options);

}  // namespace contention
