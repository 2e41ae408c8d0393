// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/tracks.hpp"

#include <algorithm>
#include <array>

namespace moemesh::timeline {

std::vector<Placed> place_events(const Results::Rank& rank, int64_t step) {
  std::vector<Placed> placed;
  for (const Event& event : rank.events)
    if (step < 0 || event.step == step) placed.push_back({&event, 0});
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.event->begin < b.event->begin; });
  std::array<std::vector<int64_t>, static_cast<size_t>(Stream::streams)> ends;  // of the last event on each track
  for (Placed& p : placed) {
    const Stream stream = info(static_cast<Kind>(p.event->kind)).stream;
    if (stream == Stream::program || stream == Stream::compute) continue;
    auto& tracks = ends[static_cast<size_t>(stream)];
    const auto free = std::find_if(tracks.begin(), tracks.end(), [&](int64_t end) { return end <= p.event->begin; });
    p.track = static_cast<int32_t>(free - tracks.begin());
    if (free == tracks.end())
      tracks.push_back(p.event->end);
    else
      *free = p.event->end;
  }
  return placed;
}

}  // namespace moemesh::timeline
