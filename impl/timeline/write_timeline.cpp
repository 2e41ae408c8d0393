// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// One step as a picture: a block of lanes for each rank, waits hatched, and lines from the longest waits to who was late.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "impl/timeline/svg.hpp"
#include "impl/timeline/tracks.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {

double round_tick(double range, int most) {
  if (!(range > 0)) return 1;
  const double least = range / most, decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= least) return factor * decade;
  return 10 * decade;
}

namespace {

constexpr double left = 132, width = 1600, right = 24, top = 74, lane_height = 15, lane_gap = 2, rank_gap = 11;
constexpr auto red = "#c8321f";

struct Picture {
  const Results& results;
  int64_t step;
  int64_t begin = INT64_MAX, end = INT64_MIN;                          // nanoseconds
  std::array<int64_t, static_cast<size_t>(Stream::streams)> lanes{};   // place of a stream, -1: nobody uses it
  std::array<int32_t, static_cast<size_t>(Stream::streams)> tracks{};  // of a stream, on any rank: they share its lane
  int64_t lane_count = 0;
  std::set<int32_t> kinds = {};
  bool waits = false;
  std::vector<int64_t> late_for = {};  // nanoseconds that others were idle for each rank

  double x(int64_t time) const {
    const auto range = static_cast<double>(std::max<int64_t>(1, end - begin));
    return left + (width - left - right) * static_cast<double>(time - begin) / range;
  }
  double block_height() const { return static_cast<double>(lane_count) * (lane_height + lane_gap) + rank_gap; }
  double y(int64_t rank) const { return top + static_cast<double>(rank) * block_height(); }
  static size_t stream_of(const Event& event) {
    return static_cast<size_t>(info(static_cast<Kind>(event.kind)).stream);
  }
  double y(int64_t rank, const Event& event) const {
    return y(rank) + static_cast<double>(lanes[stream_of(event)]) * (lane_height + lane_gap);
  }
  double height(const Event& event) const { return lane_height / std::max(1, tracks[stream_of(event)]); }
  double bottom() const { return y(std::ssize(results.ranks)); }
  int64_t late_rank() const {
    const auto worst = std::max_element(late_for.begin(), late_for.end());
    return worst == late_for.end() || *worst == 0 ? -1 : worst - late_for.begin();
  }
};

// f(rank, event, track) for every event of the step.
template <class F>
void for_each_event(const Picture& picture, const F& f) {
  if (picture.step < 0) return;
  for (int64_t rank = 0; rank < std::ssize(picture.results.ranks); ++rank)
    for (const Placed& placed : place_events(picture.results.ranks[static_cast<size_t>(rank)], picture.step))
      f(rank, *placed.event, placed.track);
}

// The last step of which every rank still has events (the oldest are overwritten first), else the last of any; -1: none.
int64_t last_step(const Results& results) {
  std::set<int64_t> common, any;
  for (size_t r = 0; r < results.ranks.size(); ++r) {
    std::set<int64_t> here;
    for (const Event& event : results.ranks[r].events)
      if (event.step >= 0) here.insert(event.step);
    any.insert(here.begin(), here.end());
    if (r == 0) common = here;
    std::erase_if(common, [&](int64_t step) { return !here.contains(step); });
  }
  if (!common.empty()) return *common.rbegin();
  return any.empty() ? -1 : *any.rbegin();
}

void measure(Picture& picture) {
  picture.late_for.assign(picture.results.ranks.size(), 0);
  std::array<bool, static_cast<size_t>(Stream::streams)> used{};
  for_each_event(picture, [&](int64_t, const Event& event, int32_t track) {
    auto& tracks = picture.tracks[Picture::stream_of(event)];
    tracks = std::max(tracks, track + 1);
    picture.begin = std::min(picture.begin, event.begin);
    picture.end = std::max(picture.end, event.end);
    picture.kinds.insert(event.kind);
    used[Picture::stream_of(event)] = true;
    if (event.peer < 0) return;
    picture.waits = true;
    picture.late_for[static_cast<size_t>(event.peer)] += std::min(event.wait, event.blocked);
  });
  for (size_t stream = 0; stream < used.size(); ++stream)
    picture.lanes[stream] = used[stream] ? picture.lane_count++ : -1;
}

double ms(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

std::string label_of(const Picture& picture, int64_t rank, const Event& event) {
  const auto kind = static_cast<Kind>(event.kind);
  if (kind == Kind::mark)
    return picture.results.ranks[static_cast<size_t>(rank)].marks[static_cast<size_t>(event.mark)];
  return info(kind).name;
}

std::string title_of(const Picture& picture, int64_t rank, const Event& event) {
  std::string title =
      format_message("rank {}: {}, {:.3f} ms", rank, label_of(picture, rank, event), ms(event.end - event.begin));
  if (const std::string* layer = picture.results.layer_name(rank, event.layer)) title += format_message(", {}", *layer);
  if (event.microbatch >= 0) title += format_message(", microbatch {}", event.microbatch);
  if (event.rows > 0) title += format_message(", {} rows", event.rows);
  if (event.bytes > 0) title += format_message(", {} bytes sent", event.bytes);
  if (event.peer >= 0) title += format_message(", of which {:.3f} ms wait for rank {}", ms(event.wait), event.peer);
  return title;
}

// White letters on dark colours.
bool is_dark(std::string_view colour) {
  const auto part = [&](size_t at) { return std::stoi(std::string(colour.substr(at, 2)), nullptr, 16); };
  return 0.30 * part(1) + 0.59 * part(3) + 0.11 * part(5) < 125;
}

// Where there is room for it.
void draw_label(Svg& svg, double x, double y, double room, const std::string& label, std::string_view colour) {
  constexpr double letter = 5.6;
  const double length = letter * static_cast<double>(label.size());
  if (room < length + 4) return;
  if (colour.empty()) svg.rect(x + 2, y + 2, length + 2, lane_height - 4, "#ffffff");  // on hatching
  svg.text(x + 3, y + lane_height - 4, 9, label,
           !colour.empty() && is_dark(colour) ? " fill=\"#ffffff\" pointer-events=\"none\""
                                              : " fill=\"#222222\" pointer-events=\"none\"");
}

void draw_event(Svg& svg, const Picture& picture, int64_t rank, const Event& event, int32_t track) {
  constexpr double narrowest = 0.4;
  const double height = picture.height(event), x = picture.x(event.begin);
  const double y = picture.y(rank, event) + track * height;
  const double whole = std::max(narrowest, picture.x(event.end) - x);
  const double wait = event.peer >= 0 ? std::min(whole, picture.x(event.begin + event.wait) - x) : 0;
  const std::string title = title_of(picture, rank, event);
  const char* const colour = info(static_cast<Kind>(event.kind)).colour;
  if (whole > wait) svg.rect(x + wait, y, whole - wait, height, colour, title);
  if (wait > 0) svg.rect(x, y, wait, height, "url(#wait)", title);
  if (height < lane_height) return;
  if (wait > 0) draw_label(svg, x, y, wait, format_message("wait for {}", event.peer), {});
  draw_label(svg, x + wait, y, whole - wait, label_of(picture, rank, event), colour);
}

void draw_axis(Svg& svg, const Picture& picture) {
  const double range = ms(picture.end - picture.begin), tick = round_tick(range, 16);
  for (double t = 0; t <= range; t += tick) {
    const double x = left + (width - left - right) * t / range;
    svg.line(x, top - 6, x, picture.bottom() - rank_gap + 4, "#e4e4e4", 1);
    svg.text(x, top - 10, 10, format_message("{:g}", t), " text-anchor=\"middle\" fill=\"#555555\"");
  }
  svg.text(left - 10, top - 10, 10, "ms", " text-anchor=\"end\" fill=\"#555555\"");
}

void draw_ranks(Svg& svg, const Picture& picture) {
  for (int64_t rank = 0; rank < std::ssize(picture.results.ranks); ++rank) {
    const bool late = rank == picture.late_rank();
    const double y = picture.y(rank), height = picture.block_height() - rank_gap + 4;
    svg.rect(4, y - 3, width - 8, height + 2,
             late            ? "#fff1ee"
             : rank % 2 == 0 ? "#f6f6f6"
                             : "#fbfbfb",
             {}, late ? " stroke=\"#c8321f\" stroke-width=\"1.2\"" : "");
    svg.text(10, y + 10, 12, format_message("rank {}", rank),
             late ? " font-weight=\"bold\" fill=\"#c8321f\"" : " font-weight=\"bold\" fill=\"#222222\"");
    const int64_t stage = picture.results.ranks[static_cast<size_t>(rank)].stage;
    if (picture.lane_count > 1) svg.text(10, y + 24, 9, format_message("stage {}", stage), " fill=\"#777777\"");
    if (late && picture.lane_count > 2)
      svg.text(10, y + 38, 10, format_message("LATE {:.1f} ms", ms(picture.late_for[static_cast<size_t>(rank)])),
               " font-weight=\"bold\" fill=\"#c8321f\"");
    for (size_t stream = 0; stream < picture.lanes.size(); ++stream)
      if (picture.lanes[stream] >= 0)
        svg.text(left - 4, y + static_cast<double>(picture.lanes[stream]) * (lane_height + lane_gap) + 11, 8,
                 name_of(static_cast<Stream>(stream)), " text-anchor=\"end\" fill=\"#888888\"");
  }
}

// From the end of each of the longest waits to the rank that was late, at the moment when it came.
void draw_latest(Svg& svg, const Picture& picture) {
  struct Wait {
    int64_t rank;
    const Event* event;
  };
  std::vector<Wait> waits;
  const int64_t least = (picture.end - picture.begin) / 50;
  for_each_event(picture, [&](int64_t rank, const Event& event, int32_t) {
    if (event.peer >= 0 && event.wait > least) waits.push_back({rank, &event});
  });
  constexpr size_t most = 24;
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Wait& a, const Wait& b) { return a.event->wait > b.event->wait; });
  if (waits.size() > most) waits.resize(most);
  for (const Wait& wait : waits) {
    const double x = picture.x(wait.event->begin + wait.event->wait);
    const double from = picture.y(wait.rank, *wait.event) + lane_height / 2,
                 to = picture.y(wait.event->peer, *wait.event);
    svg.line(x, from, x, to + (to < from ? lane_height : 0), red, 0.9, " stroke-dasharray=\"3 2\"");
    svg.raw() << format_message("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3\" fill=\"{}\"/>\n", x, to + lane_height / 2,
                                red);
  }
}

void draw_heading(Svg& svg, const Picture& picture) {
  if (picture.step < 0) {
    svg.text(10, 24, 16, "no step was recorded in detail", " fill=\"#222222\"");
    return;
  }
  svg.text(10, 24, 16,
           format_message("step {}: {:.2f} ms on {} ranks", picture.step, ms(picture.end - picture.begin),
                          picture.results.ranks.size()),
           " font-weight=\"bold\" fill=\"#222222\"");
  const int64_t late = picture.late_rank();
  int64_t idle = 0;
  for (const int64_t cost : picture.late_for) idle += cost;
  if (late >= 0)
    svg.text(
        10, 44, 12,
        format_message("late: rank {}, for which the others were idle {:.2f} ms, of {:.2f} ms that all ranks were idle",
                       late, ms(picture.late_for[static_cast<size_t>(late)]), ms(idle)),
        " fill=\"#c8321f\"");
  else
    svg.text(10, 44, 12, "nobody waited for a rank that came late", " fill=\"#444444\"");
}

double draw_legend(Svg* svg, const Picture& picture) {
  double x = 10, y = picture.bottom() + 16;
  const auto entry = [&](const char* fill, const std::string& text) {
    const double length = 30 + 6.3 * static_cast<double>(text.size());
    if (x + length > width - 10) {
      x = 10;
      y += 18;
    }
    if (svg) {
      svg->rect(x, y - 10, 14, 12, fill);
      svg->text(x + 18, y, 11, text, " fill=\"#222222\"");
    }
    x += length;
  };
  for (const int32_t kind : picture.kinds)
    entry(info(static_cast<Kind>(kind)).colour,
          static_cast<Kind>(kind) == Kind::mark ? "the program's own marks" : info(static_cast<Kind>(kind)).name);
  if (picture.waits) {
    entry("url(#wait)", "wait for a rank that came late");
    entry(red, "when it came, on its row");
  }
  return y + 14;
}

}  // namespace

void write_timeline(const Results& results, int64_t step, std::ostream& out) {
  Picture picture{results, step < 0 ? last_step(results) : step};
  measure(picture);
  if (picture.begin > picture.end) {
    picture.begin = picture.end = 0;
    picture.step = step < 0 ? -1 : step;
  }
  Svg svg(out, width, draw_legend(nullptr, picture));
  draw_ranks(svg, picture);
  if (picture.end > picture.begin) draw_axis(svg, picture);
  for (const bool marks : {true, false})  // what a mark has within it is drawn over it
    for_each_event(picture, [&](int64_t rank, const Event& event, int32_t track) {
      if ((static_cast<Kind>(event.kind) == Kind::mark) == marks) draw_event(svg, picture, rank, event, track);
    });
  draw_latest(svg, picture);
  draw_heading(svg, picture);
  draw_legend(&svg, picture);
}

}  // namespace moemesh::timeline
