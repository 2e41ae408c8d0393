// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "moemesh.h"

namespace moemesh {

// What a collective is for: filled by whoever starts it.
struct Purpose {
  int32_t family = 0;  // moemesh_family_kind or 0
  int32_t phase = MOEMESH_PHASE_SETUP;
  int32_t collective = MOEMESH_COLLECTIVE_AGREEMENT;
};

// Counts of every collective of one mesh on this rank. Always on: one map update a collective.
class Ledger {
 public:
  struct Key {
    int32_t axes;
    int32_t family;
    int32_t phase;
    int32_t collective;
    auto operator<=>(const Key&) const = default;
  };
  struct Counts {
    int64_t calls = 0;
    int64_t messages = 0;
    int64_t bytes = 0;
    int64_t bytes_internode = 0;
  };

  void call(const Key& key) { entries_[key].calls += 1; }
  void message(const Key& key, int64_t bytes, bool internode) {
    Counts& counts = entries_[key];
    counts.messages += 1;
    counts.bytes += bytes;
    if (internode) counts.bytes_internode += bytes;
  }
  void reset() { entries_.clear(); }
  const std::map<Key, Counts>& entries() const { return entries_; }

 private:
  std::map<Key, Counts> entries_;
};

}  // namespace moemesh
