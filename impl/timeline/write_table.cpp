// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <array>
#include <ostream>

#include "impl/base/format.hpp"
#include "impl/timeline/writers.hpp"

namespace moemesh::timeline {
namespace {

constexpr std::array<const char*, classes> class_names{"exchange", "tensor", "reduction", "pipeline", "caller"};

double ms(double seconds) { return 1e3 * seconds; }
double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }
std::string rank_name(int64_t rank) { return rank < 0 ? "-" : format_message("{}", rank); }

std::string heading(const Results& results) {
  const auto& s = results.summary;
  if (s.steps == 0) return format_message("no step was recorded on {} ranks", results.ranks.size());
  const std::string all = format_message("{} steps on {} ranks: {:.3f} s", s.steps, results.ranks.size(), s.seconds);
  if (s.first_step == 0) return all;
  return format_message("{}; the series is of steps {} to {}", all, s.first_step, s.steps - 1);
}

void write_summary(const Results& results, std::ostream& out) {
  const auto& s = results.summary;
  const auto ranks = static_cast<double>(results.ranks.size());
  out << heading(results) << '\n';
  out << format_message("rows      most/mean {:.3f}\n", s.rows_ratio);
  out << format_message("idle      {:.3f} s of all ranks together; in steps {:.3f} s, {:.1f} % of their time\n",
                        s.idle_seconds, results.idle_in_steps, share(results.idle_in_steps, ranks * s.seconds));
  if (s.late_rank >= 0)
    out << format_message("late      rank {} most of all: {:.3f} s, {:.1f} % of what was idle\n", s.late_rank,
                          s.late_seconds, share(s.late_seconds, s.idle_seconds));
  out << format_message("clocks    {:.6f} s apart at most, aligned to within {:.6f} s\n", s.clock_offset,
                        s.clock_error);
  out << format_message("events    {} kept, {} overwritten\n\n", s.events, s.lost_events);
}

void write_classes(const moemesh_report_summary& s, std::ostream& out) {
  out << format_message("{:<10} {:>12} {:>12} {:>12} {:>12}   seconds, all ranks together\n", "class", "wait",
                        "transfer", "exposed", "idle");
  for (size_t c = 0; c < class_names.size(); ++c)
    out << format_message("{:<10} {:>12.6f} {:>12.6f} {:>12.6f} {:>12.6f}\n", class_names[c], s.wait[c], s.transfer[c],
                          s.exposed[c], s.idle[c]);
}

void write_layers(const Results& results, std::ostream& out) {
  out << format_message("\n{:<20} {:>5} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}   ms\n",
                        "layer", "stage", "most/mean", "late", "its rows", "cost", "idle", "dispatch", "combine",
                        "combine'", "dispatch'", "tp", "transfer", "experts");
  for (const auto& l : results.layers)
    out << format_message(
        "{:<20} {:>5} {:>9.3f} {:>5} {:>9.3f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} "
        "{:>9.2f}\n",
        l.name, l.stage, l.rows_ratio, rank_name(l.late_rank), l.late_rows, ms(l.late_seconds), ms(l.idle_seconds),
        ms(l.dispatch_wait), ms(l.combine_wait), ms(l.combine_backward_wait), ms(l.dispatch_backward_wait),
        ms(l.tensor_wait), ms(l.transfer), ms(l.expert_seconds));
  out << "(late: the rank waited for longest; its rows: over the mean of its stage; cost: idle because of it;\n"
         " dispatch to tp: waits, ' of the backwards; all ranks together)\n";
}

}  // namespace

void write_table(const Results& results, std::ostream& out) {
  write_summary(results, out);
  write_classes(results.summary, out);
  write_layers(results, out);
}

}  // namespace moemesh::timeline
