// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>

namespace moemesh::timeline {

// From this rank's clock to the reference's (rank 0's). Each comparison gives an offset with a bound of its error; the one whose
// bound is smallest now counts, where a bound grows with its age, as two clocks may drift apart by 100 ppm. Two good ones that
// lie far enough apart also tell the rate.
class Alignment {
 public:
  // A question left at `asked` and its answer came at `answered`, on this rank's clock; the other rank had the question at
  // `had` and answered at `replied`, on the reference clock, which it knows up to `known`.
  void compare(int64_t asked, int64_t had, int64_t replied, int64_t answered, int64_t known);

  int64_t aligned(int64_t local) const;
  int64_t error(int64_t local) const;  // bound, nanoseconds
  int64_t offset() const { return best_.offset; }
  double rate() const { return rate_; }

 private:
  struct Sample {
    int64_t at = 0;      // on this rank's clock
    int64_t offset = 0;  // reference - local
    int64_t error = 0;
    bool given = false;
  };
  int64_t bound(const Sample& sample, int64_t local) const;
  void learn_rate();

  Sample first_, best_;
  double rate_ = 0;  // of the offset
  double rate_error_ = drift_bound;
  static constexpr double drift_bound = 100e-6;
  static constexpr double steadiness = 1e-6;  // a clock's rate changes by so much
};

}  // namespace moemesh::timeline
