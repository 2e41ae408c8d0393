// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace moemesh::timeline {

void Alignment::compare(int64_t asked, int64_t had, int64_t replied, int64_t answered, int64_t known) {
  Sample sample;
  sample.at = asked + (answered - asked) / 2;
  sample.offset = ((had - asked) + (replied - answered)) / 2;
  sample.error = std::max<int64_t>(0, (answered - asked) - (replied - had)) / 2 + known;
  sample.given = true;
  if (!best_.given || sample.error <= bound(best_, sample.at)) best_ = sample;
  // What the rate is measured from: the best of the first burst, which ends where a sample lies far from its first.
  constexpr int64_t burst = 500'000'000;
  if (!first_.given || (sample.at - first_.at < burst && sample.error < first_.error)) first_ = sample;
  learn_rate();
}

// Only where it is known better than that it is small.
void Alignment::learn_rate() {
  const auto apart = static_cast<double>(best_.at - first_.at);
  if (apart <= 0) return;
  const double error = static_cast<double>(best_.error + first_.error) / apart;
  if (error >= drift_bound) return;
  rate_ = std::clamp(static_cast<double>(best_.offset - first_.offset) / apart, -2 * drift_bound, 2 * drift_bound);
  rate_error_ = std::max(error, steadiness);
}

int64_t Alignment::bound(const Sample& sample, int64_t local) const {
  const auto age = static_cast<double>(std::abs(local - sample.at));
  return sample.error + std::llround(age * rate_error_);
}

int64_t Alignment::aligned(int64_t local) const {
  if (!best_.given) return local;
  return local + best_.offset + std::llround(rate_ * static_cast<double>(local - best_.at));
}

int64_t Alignment::error(int64_t local) const { return best_.given ? bound(best_, local) : 0; }

}  // namespace moemesh::timeline
