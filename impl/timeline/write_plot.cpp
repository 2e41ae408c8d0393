// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Balance and idle time over the run: two plots, one above the other, over the steps.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

#include "impl/timeline/svg.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {
namespace {

constexpr double width = 1000, left = 74, right = 24, height = 210;

struct Curve {
  const char* name;
  const char* colour;
  std::function<double(const moemesh_report_step&)> value;
};

struct Panel {
  double top;
  std::string title;
  double low, high;  // of the vertical axis
  double y(double value) const { return top + height - height * (value - low) / (high - low); }
};

double x_of(const Results& results, int64_t index) {
  const auto last = static_cast<double>(std::max<int64_t>(1, std::ssize(results.steps) - 1));
  return left + (width - left - right) * static_cast<double>(index) / last;
}

double largest(const Results& results, std::span<const Curve> curves) {
  double most = 0;
  for (const auto& step : results.steps)
    for (const Curve& curve : curves) most = std::max(most, curve.value(step));
  return most;
}

void draw_frame(Svg& svg, const Results& results, const Panel& panel) {
  svg.text(left, panel.top - 12, 13, panel.title, " font-weight=\"bold\" fill=\"#222222\"");
  const double tick = round_tick(panel.high - panel.low, 6);
  for (double value = panel.low; value <= panel.high * (1 + 1e-9); value += tick) {
    svg.line(left, panel.y(value), width - right, panel.y(value), "#e4e4e4", 1);
    svg.text(left - 6, panel.y(value) + 4, 10, format_message("{:g}", value), " text-anchor=\"end\" fill=\"#555555\"");
  }
  const auto steps = std::ssize(results.steps);
  const auto every = std::max<int64_t>(1, static_cast<int64_t>(round_tick(static_cast<double>(steps), 10)));
  for (int64_t i = 0; i < steps; i += every)
    svg.text(x_of(results, i), panel.top + height + 14, 10, format_message("{}", results.summary.first_step + i),
             " text-anchor=\"middle\" fill=\"#555555\"");
  svg.line(left, panel.top + height, width - right, panel.top + height, "#888888", 1);
}

void draw_curve(Svg& svg, const Results& results, const Panel& panel, const Curve& curve) {
  svg.raw() << format_message("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\" points=\"", curve.colour);
  for (int64_t i = 0; i < std::ssize(results.steps); ++i)
    svg.raw() << format_message("{:.2f},{:.2f} ", x_of(results, i),
                                panel.y(std::max(panel.low, curve.value(results.steps[static_cast<size_t>(i)]))));
  svg.raw() << "\"/>\n";
}

void draw_legend(Svg& svg, const Panel& panel, std::span<const Curve> curves) {
  double x = width - right;
  for (size_t i = curves.size(); i-- > 0;) {
    x -= 26 + 6.2 * static_cast<double>(std::string_view(curves[i].name).size());
    svg.line(x, panel.top - 16, x + 16, panel.top - 16, curves[i].colour, 2.5);
    svg.text(x + 20, panel.top - 12, 10, curves[i].name, " fill=\"#222222\"");
  }
}

void draw_panel(Svg& svg, const Results& results, const Panel& panel, std::span<const Curve> curves) {
  draw_frame(svg, results, panel);
  std::vector<Curve> shown;  // what is there
  std::copy_if(curves.begin(), curves.end(), std::back_inserter(shown),
               [&](const Curve& curve) { return largest(results, std::span(&curve, 1)) > 0; });
  for (const Curve& curve : shown) draw_curve(svg, results, panel, curve);
  draw_legend(svg, panel, shown);
}

}  // namespace

void write_plot(const Results& results, std::ostream& out) {
  const double per_rank = 1e3 / static_cast<double>(std::max<size_t>(1, results.ranks.size()));
  const std::array<Curve, 1> balance{{{"most/mean", "#0072b2", [](const auto& s) { return s.rows_ratio; }}}};
  const auto idle = [&](int32_t c) { return [per_rank, c](const auto& s) { return per_rank * s.idle[c]; }; };
  const std::array<Curve, 6> times{{{"all", "#222222", [per_rank](const auto& s) { return per_rank * s.idle_seconds; }},
                                    {"exchange", "#56b4e9", idle(MOEMESH_REPORT_EXCHANGE)},
                                    {"tensor", "#cc79a7", idle(MOEMESH_REPORT_TENSOR)},
                                    {"reduction", "#e69f00", idle(MOEMESH_REPORT_REDUCTION)},
                                    {"pipeline", "#5b3fa8", idle(MOEMESH_REPORT_PIPELINE)},
                                    {"caller", "#8c6d5a", idle(MOEMESH_REPORT_CALLER)}}};
  Svg svg(out, width, 560);
  draw_panel(svg, results, {50, "rows of the busiest rank over the mean", 1, std::max(1.2, largest(results, balance))},
             balance);
  draw_panel(svg, results, {310, "idle time of a rank, mean, ms a step", 0, std::max(1e-3, largest(results, times))},
             times);
  svg.text(width / 2, 550, 11, "step", " text-anchor=\"middle\" fill=\"#555555\"");
}

}  // namespace moemesh::timeline
