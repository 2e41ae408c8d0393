// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The trace event format of chrome://tracing, which Perfetto reads: a process for each rank, a thread for each stream, complete
// events in microseconds since the recording began. One event at a time is built, so memory does not grow with them.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>

#include "impl/base/format.hpp"
#include "impl/timeline/tracks.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {
namespace {

using Json = nlohmann::ordered_json;

class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) {}
  void add(const Json& event) {
    out_ << (first_ ? "\n" : ",\n") << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    first_ = false;
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

Json named(const char* what, int64_t rank, int64_t stream, const std::string& name) {
  Json event{{"name", what}, {"ph", "M"}, {"pid", rank}};
  if (stream >= 0) event["tid"] = stream;
  event["args"] = {{"name", name}};
  return event;
}

Json sorted(const char* what, int64_t rank, int64_t stream, int64_t place) {
  Json event{{"name", what}, {"ph", "M"}, {"pid", rank}};
  if (stream >= 0) event["tid"] = stream;
  event["args"] = {{"sort_index", place}};
  return event;
}

constexpr int64_t most_tracks = 16;  // of a stream

int64_t thread_of(Stream stream, int64_t track) {
  return static_cast<int64_t>(stream) * most_tracks + std::min(track, most_tracks - 1);
}

void write_track(int64_t rank, Stream stream, int64_t track, Lines& lines) {
  const int64_t thread = thread_of(stream, track);
  const std::string name = name_of(stream);
  lines.add(named("thread_name", rank, thread, track == 0 ? name : format_message("{} {}", name, track + 1)));
  lines.add(sorted("thread_sort_index", rank, thread, thread));
}

void write_names(const Results::Rank& one, int64_t rank, std::span<const Placed> placed, Lines& lines) {
  lines.add(named("process_name", rank, -1, format_message("rank {} (stage {})", rank, one.stage)));
  lines.add(sorted("process_sort_index", rank, -1, rank));
  std::array<int64_t, static_cast<size_t>(Stream::streams)> tracks;
  tracks.fill(1);
  for (const Placed& p : placed) {
    int64_t& most = tracks[static_cast<size_t>(info(static_cast<Kind>(p.event->kind)).stream)];
    most = std::max<int64_t>(most, p.track + 1);
  }
  for (size_t stream = 0; stream < tracks.size(); ++stream)
    for (int64_t track = 0; track < std::min(tracks[stream], most_tracks); ++track)
      write_track(rank, static_cast<Stream>(stream), track, lines);
}

Json complete(int64_t rank, const Placed& placed, const std::string& name, int64_t origin, int64_t length) {
  const Event& event = *placed.event;
  const int64_t thread = thread_of(info(static_cast<Kind>(event.kind)).stream, placed.track);
  return {{"name", name},
          {"ph", "X"},
          {"ts", static_cast<double>(event.begin - origin) * 1e-3},
          {"dur", static_cast<double>(length) * 1e-3},
          {"pid", rank},
          {"tid", thread}};
}

Json arguments(const Results& results, int64_t rank, const Event& event) {
  Json args = Json::object();
  if (event.step >= 0) args["step"] = event.step;
  if (const std::string* layer = results.layer_name(rank, event.layer)) args["layer"] = *layer;
  if (event.microbatch >= 0) args["microbatch"] = event.microbatch;
  if (info(static_cast<Kind>(event.kind)).report_class < 0) {
    if (event.rows > 0) args["rows"] = event.rows;
    return args;
  }
  args["chunk"] = event.chunk;
  args["axes"] = event.axes;
  args["family"] = event.family;
  args["bytes"] = event.bytes;
  args["wait_us"] = static_cast<double>(event.wait) * 1e-3;
  args["transfer_us"] = static_cast<double>(event.end - event.begin - event.wait) * 1e-3;
  args["exposed_us"] = static_cast<double>(event.blocked) * 1e-3;
  if (event.peer >= 0) args["late_rank"] = event.peer;
  return args;
}

void write_event(const Results& results, int64_t rank, const Placed& placed, Lines& lines) {
  const Event& event = *placed.event;
  const auto kind = static_cast<Kind>(event.kind);
  const auto& marks = results.ranks[static_cast<size_t>(rank)].marks;
  const std::string name = kind == Kind::mark ? marks[static_cast<size_t>(event.mark)] : info(kind).name;
  Json whole = complete(rank, placed, name, results.origin, event.end - event.begin);
  whole["args"] = arguments(results, rank, event);
  lines.add(whole);
  if (event.peer >= 0)  // lies within the whole one
    lines.add(complete(rank, placed, format_message("wait for rank {}", event.peer), results.origin, event.wait));
}

}  // namespace

void write_trace(const Results& results, int64_t step, std::ostream& out) {
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  Lines lines(out);
  for (int64_t rank = 0; rank < std::ssize(results.ranks); ++rank) {
    const auto placed = place_events(results.ranks[static_cast<size_t>(rank)], step);
    write_names(results.ranks[static_cast<size_t>(rank)], rank, placed, lines);
    for (const Placed& p : placed) write_event(results, rank, p, lines);
  }
  out << "\n]}\n";
}

}  // namespace moemesh::timeline
