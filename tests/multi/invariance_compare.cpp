// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// Comparing a run of the library with the oracle's, and with another run.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "invariance_case.hpp"
#include "oracle/compare.hpp"

namespace moemesh::test {
namespace {

template <class A, class B>
void expect_near(const std::vector<A>& library, const std::vector<B>& oracle, double tolerance,
                 const std::string& what) {
  EXPECT_LE(oracle::relative_distance(library, oracle), tolerance) << what;
}

double norm_of(const oracle::Array& values) { return std::sqrt(oracle::dot(values, values)); }

oracle::Array divided(const Floats& values, double divisor) {
  oracle::Array result(values.begin(), values.end());
  for (double& value : result) value /= divisor;
  return result;
}

std::vector<int64_t> widened(const std::vector<int32_t>& values) { return {values.begin(), values.end()}; }

struct Routed {
  std::vector<int64_t> experts;
  oracle::Array gates;
};
// The k choices of each token by expert.
Routed sorted(Routed routed, int64_t k) {
  for (auto at = static_cast<size_t>(0); at < routed.experts.size(); at += static_cast<size_t>(k)) {
    std::vector<std::pair<int64_t, double>> choices;
    for (size_t i = at; i < at + static_cast<size_t>(k); ++i) choices.emplace_back(routed.experts[i], routed.gates[i]);
    std::sort(choices.begin(), choices.end());
    for (size_t i = 0; i < choices.size(); ++i) std::tie(routed.experts[at + i], routed.gates[at + i]) = choices[i];
  }
  return routed;
}

void compare_statistics(const moemesh_layer_statistics& library, const oracle::LayerTape& tape, double tolerance,
                        const std::string& where) {
  EXPECT_EQ(library.slots, tape.slots) << where;
  EXPECT_EQ(library.dropped_rows, tape.dropped) << where;
  EXPECT_EQ(library.rows, std::count_if(tape.kept.begin(), tape.kept.end(), [](int64_t e) { return e >= 0; })) << where;
  EXPECT_LE(oracle::relative_distance(library.aux_loss, tape.aux), tolerance) << where << "aux";
  EXPECT_LE(oracle::relative_distance(library.z_loss, tape.z), tolerance) << where << "z";
}

// A logit's gradient is a difference of products of dy with experts' outputs, which may cancel; they are rounded as they are
// large.
void compare_logit_gradients(const oracle::Array& library, const oracle::PieceResult& oracle, size_t layer,
                             double tolerance, const std::string& where) {
  const oracle::Array& should = oracle.dlogits[layer];
  ASSERT_EQ(library.size(), should.size()) << where;
  const double products = norm_of(oracle.dy[layer]) * norm_of(oracle.tapes[layer].y);
  EXPECT_LE(norm_of(oracle::displacement(library, should)), tolerance * (norm_of(should) + 0.01 * products)) << where;
}

void compare_piece(const PieceRecord& piece, const oracle::PieceResult& oracle, const Case& setting, double tolerance) {
  const std::string at = "piece " + std::to_string(piece.piece) + " layer ";
  // A device's rows of experts are bf16 too, and the loss may leave a small difference of what y rounds: a single piece's dx,
  // unlike sums over pieces, has all of that.
  const bool half = setting.dtype == MOEMESH_BFLOAT16;
  const double of_dx = half && works_as_a_device() ? 1.5 * tolerance : tolerance;
  if (piece.has_loss) EXPECT_LE(oracle::relative_distance(piece.loss, oracle.loss), tolerance) << at << "loss";
  for (size_t here = 0; here < piece.y.size(); ++here) {
    const size_t l = piece.first_layer + here;
    const std::string where = at + setting.layers[l].name + ": ";
    expect_near(piece.y[here], oracle.tapes[l].y, tolerance, where + "y");
    expect_near(divided(piece.dx[here], setting.loss_scale), oracle.dx[l], of_dx, where + "dx");
    const Routed found{widened(piece.routing[here].experts),
                       {piece.routing[here].gates.begin(), piece.routing[here].gates.end()}};
    const Routed should{oracle.tapes[l].kept, oracle.tapes[l].gates};
    // bf16 logits may rank two chosen experts differently, though not choose others.
    const int64_t k = half ? setting.layers[l].top_k : 1;
    EXPECT_EQ(sorted(found, k).experts, sorted(should, k).experts) << where;
    expect_near(sorted(found, k).gates, sorted(should, k).gates, tolerance, where + "gates");
    if (setting.layers[l].caller_logits)
      compare_logit_gradients(divided(piece.dlogits[here], setting.loss_scale), oracle, l, tolerance,
                              where + "dlogits");
    compare_statistics(piece.statistics[here], oracle.tapes[l], tolerance, where);
  }
}

oracle::Array at_places(const oracle::Array& whole, const std::vector<int64_t>& places) {
  oracle::Array part;
  for (const int64_t place : places) part.push_back(whole.at(static_cast<size_t>(place)));
  return part;
}

std::string name_of(const oracle::NamedArray& array) {
  if (array.family == oracle::Family::shared) return array.name;
  return array.name + " of expert " + std::to_string(array.expert);
}

// Displacements since the start. Beside the relative tolerance there is what storing the masters in fp32 rounds off:
// half a unit in the last place for each update, however small the displacement.
void compare_values(const std::vector<Floats>& values, const std::vector<std::vector<int64_t>>& places,
                    const Expected& expected, const ExpectedStep& step, int updates, double tolerance) {
  oracle::Parameters initial = expected.initial, after = step.values;
  const auto from = oracle::named_arrays(expected.model, initial), to = oracle::named_arrays(expected.model, after);
  ASSERT_EQ(values.size(), to.size());
  for (size_t i = 0; i < to.size(); ++i) {
    const auto before = at_places(*from[i].values, places[i]), after_here = at_places(*to[i].values, places[i]);
    ASSERT_EQ(values[i].size(), before.size());
    const auto should = oracle::displacement(after_here, before);
    const auto error = oracle::displacement(oracle::displacement(values[i], before), should);
    const double allowed = tolerance * norm_of(should) + updates * 0x1p-24 * norm_of(after_here);
    EXPECT_LE(norm_of(error), allowed) << "displacement of " << name_of(to[i]) << ", which moved " << norm_of(should);
  }
}

// Whole arrays that this rank's stage has.
void compare_gradients(const std::vector<Floats>& gradients, const Expected& expected, const ExpectedStep& step,
                       bool staged, double tolerance) {
  oracle::Parameters copy = step.result.gradients;
  const auto arrays = oracle::named_arrays(expected.model, copy);
  ASSERT_EQ(gradients.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i)
    if (!staged || !gradients[i].empty())
      expect_near(gradients[i], *arrays[i].values, tolerance, "gradient of " + name_of(arrays[i]));
}

// Sums of the rate, which fp32 rounds.
void compare_biases(const std::vector<Floats>& biases, size_t first_layer, const ExpectedStep& step) {
  for (size_t l = 0; l < biases.size(); ++l) {
    oracle::Array should = step.biases.at(first_layer + l);
    should.resize(biases[l].size(), 0.0);
    for (size_t e = 0; e < should.size(); ++e)
      EXPECT_NEAR(static_cast<double>(biases[l][e]), should[e], 1e-6) << "layer " << first_layer + l << " expert " << e;
  }
}

void compare_step(const StepRecord& record, const RunRecord& run, const Expected& expected, const ExpectedStep& step,
                  int updates, double tolerance) {
  for (const PieceRecord& piece : record.pieces)
    compare_piece(piece, step.result.pieces.at(static_cast<size_t>(piece.piece)), expected.setting, tolerance);
  EXPECT_LE(oracle::relative_distance(record.update.norm, step.update.norm), tolerance) << "norm";
  EXPECT_LE(oracle::relative_distance(record.update.coefficient, step.update.coefficient), tolerance) << "coefficient";
  EXPECT_EQ(record.update.skipped, 0);
  if (!record.gradients.empty()) compare_gradients(record.gradients, expected, step, run.staged, tolerance);
  compare_biases(record.biases, run.first_layer, step);
  compare_values(record.values, run.places, expected, step, updates, tolerance);
}

void compare_moments(const std::vector<Floats>& moments, const std::vector<oracle::Array>& oracle, double tolerance,
                     bool staged, const char* what) {
  if (moments.empty()) return;
  ASSERT_EQ(moments.size(), oracle.size());
  for (size_t i = 0; i < moments.size(); ++i)
    if (!staged || !moments[i].empty())
      expect_near(moments[i], oracle[i], tolerance, std::string(what) + " of array " + std::to_string(i));
}

void same_list(const std::vector<Floats>& a, const std::vector<Floats>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << what << " " << i;
}

void same_step(const StepRecord& a, const StepRecord& b) {
  ASSERT_EQ(a.pieces.size(), b.pieces.size());
  for (size_t p = 0; p < a.pieces.size(); ++p) {
    same_list(a.pieces[p].y, b.pieces[p].y, "y");
    same_list(a.pieces[p].dx, b.pieces[p].dx, "dx");
    same_list(a.pieces[p].dlogits, b.pieces[p].dlogits, "dlogits");
    EXPECT_EQ(a.pieces[p].loss, b.pieces[p].loss);
  }
  same_list(a.gradients, b.gradients, "gradient");
  same_list(a.values, b.values, "value");
  same_list(a.biases, b.biases, "bias");
  EXPECT_EQ(a.update.norm, b.update.norm);
  EXPECT_EQ(a.update.coefficient, b.update.coefficient);
}

}  // namespace

void expect_agreement(const RunRecord& run, const Expected& expected, double tolerance) {
  ASSERT_EQ(run.phases.size(), expected.phases.size());
  int updates = 0;
  for (size_t p = 0; p < run.phases.size(); ++p) {
    const ExpectedPhase& phase = expected.phases[p];
    for (size_t s = 0; s < phase.steps.size(); ++s) {
      SCOPED_TRACE("phase " + std::to_string(p) + " step " + std::to_string(s));
      compare_step(run.phases[p].steps.at(s), run, expected, phase.steps[s], ++updates, tolerance);
    }
    compare_moments(run.phases[p].moment1, phase.moment1, tolerance, run.staged, "moment 1");
    compare_moments(run.phases[p].moment2, phase.moment2, 2 * tolerance, run.staged, "moment 2");  // of squares
  }
}

void expect_same_bits(const RunRecord& a, const RunRecord& b) {
  EXPECT_EQ(a.places, b.places);
  ASSERT_EQ(a.phases.size(), b.phases.size());
  for (size_t p = 0; p < a.phases.size(); ++p) {
    ASSERT_EQ(a.phases[p].steps.size(), b.phases[p].steps.size());
    for (size_t s = 0; s < a.phases[p].steps.size(); ++s) {
      SCOPED_TRACE("phase " + std::to_string(p) + " step " + std::to_string(s));
      same_step(a.phases[p].steps[s], b.phases[p].steps[s]);
    }
    same_list(a.phases[p].moment1, b.phases[p].moment1, "moment 1");
    same_list(a.phases[p].moment2, b.phases[p].moment2, "moment 2");
  }
}

}  // namespace moemesh::test
