// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The trace event format of chrome://tracing, which Perfetto reads: a process for each rank, a thread for each stream, complete
// events in microseconds since the recording began. One event at a time is built, so memory does not grow with them.
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "impl/base/format.hpp"
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

void write_names(const Results& results, Lines& lines) {
  for (int64_t rank = 0; rank < std::ssize(results.ranks); ++rank) {
    const int64_t stage = results.ranks[static_cast<size_t>(rank)].stage;
    lines.add(named("process_name", rank, -1, format_message("rank {} (stage {})", rank, stage)));
    lines.add(sorted("process_sort_index", rank, -1, rank));
    for (int64_t stream = 0; stream < static_cast<int64_t>(Stream::streams); ++stream) {
      lines.add(named("thread_name", rank, stream, name_of(static_cast<Stream>(stream))));
      lines.add(sorted("thread_sort_index", rank, stream, stream));
    }
  }
}

Json complete(int64_t rank, const Event& event, const std::string& name, int64_t origin, int64_t length) {
  const auto stream = static_cast<int64_t>(info(static_cast<Kind>(event.kind)).stream);
  return {{"name", name},
          {"ph", "X"},
          {"ts", static_cast<double>(event.begin - origin) * 1e-3},
          {"dur", static_cast<double>(length) * 1e-3},
          {"pid", rank},
          {"tid", stream}};
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

void write_event(const Results& results, int64_t rank, const Event& event, Lines& lines) {
  const auto kind = static_cast<Kind>(event.kind);
  const auto& marks = results.ranks[static_cast<size_t>(rank)].marks;
  const std::string name = kind == Kind::mark ? marks[static_cast<size_t>(event.mark)] : info(kind).name;
  Json whole = complete(rank, event, name, results.origin, event.end - event.begin);
  whole["args"] = arguments(results, rank, event);
  lines.add(whole);
  if (event.peer >= 0)  // lies within the whole one
    lines.add(complete(rank, event, format_message("wait for rank {}", event.peer), results.origin, event.wait));
}

}  // namespace

void write_trace(const Results& results, int64_t step, std::ostream& out) {
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  Lines lines(out);
  write_names(results, lines);
  for (int64_t rank = 0; rank < std::ssize(results.ranks); ++rank)
    for (const Event& event : results.ranks[static_cast<size_t>(rank)].events)
      if (step < 0 || event.step == step) write_event(results, rank, event, lines);
  out << "\n]}\n";
}

}  // namespace moemesh::timeline
