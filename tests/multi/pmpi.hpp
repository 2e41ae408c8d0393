// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Counts from outside what a program hands to MPI. pmpi.cpp defines MPI's sending and collective functions and calls the
// PMPI ones; linked into a program that exports its symbols, it also sees the calls of a module opened by dlopen.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace pmpi {

struct Counts {
  int64_t messages = 0;      // point-to-point sends to other ranks, empty ones included
  int64_t bytes = 0;         // their payload
  int64_t empty = 0;         // those of them without payload
  int64_t own_messages = 0;  // sends to the own rank: in none of the above
  int64_t own_bytes = 0;
  int64_t collectives = 0;                 // data-moving collectives and barriers, blocking or not
  int64_t communicators = 0;               // calls that make or free a communicator
  std::map<std::string, int64_t> by_name;  // calls of every counted function
};

// Of this process, all threads, since the start or the last reset.
Counts counts();
void reset();

}  // namespace pmpi
