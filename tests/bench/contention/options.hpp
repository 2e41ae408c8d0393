// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contention {

// The sizes that are measured unless the command line says otherwise. On 4 hosts of one rank at 1 Gbit, by arithmetic (118 MB/s
// of payload, 8.6 GFLOP/s a rank): dense compute of a layer, forward and backward, 143 ms; an all-to-all 36 ms; reducing a
// layer's gradients 47 ms and as long again for gathering its parameters.
struct Options {
  int64_t layers = 4;
  int64_t hidden = 4096;
  int64_t dense = 224;  // width of each layer's dense part: 2 * hidden * dense SHARED parameters
  int64_t ffn = 16;     // of an expert: little compute, so that the exchanges are what its layer takes
  int64_t experts = 8;
  int64_t top_k = 4;
  int64_t tokens = 112;                     // of each rank and step
  int64_t stage = 1;                        // of both families
  int64_t rounds = 3;                       // of all policies in turn
  int64_t steps = 4;                        // of a policy in a round, the first of which is not counted
  int64_t prefetch = 1;                     // parameters are gathered under the next forward
  int64_t bucket_bytes = int64_t{6} << 20;  // both matrices of a layer
  int64_t chunk_bytes = 0;                  // 0: the library's
  double link_mbit = 0;                     // for what the table says of times; 0: not known
  std::string device;                       // whose bytes tc counts; empty: none
  std::vector<std::string> policies{"none", "after", "eager", "gaps"};
};

// Prints what is wrong, or the list of options, and exits.
Options parse(int argc, char** argv);
std::string to_string(const Options& options);

}  // namespace contention
