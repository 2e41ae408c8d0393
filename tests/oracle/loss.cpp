// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "step.hpp"

namespace oracle {
namespace {

// Calls token(index of the first element of the row) for every real row of the piece; returns their number.
template <typename Function>
std::int64_t for_real_rows(const Piece& piece, std::int64_t rows, std::int64_t width, Function token) {
  std::int64_t count = 0;
  for (std::int64_t t = 0; t < rows; ++t) {
    if (!piece.mask.empty() && piece.mask[t] == 0) continue;
    for (std::int64_t i = t * width; i < (t + 1) * width; ++i) token(i);
    ++count;
  }
  return count;
}

template <typename Function>
Loss sum_over_elements(const Piece& piece, const Array& y, Function element) {
  require_size(piece.target, static_cast<std::int64_t>(y.size()), "target");
  Loss loss;
  loss.dy.assign(y.size(), 0.0);
  const auto add = [&](std::int64_t i) { loss.sum += element(y[i], piece.target[i], &loss.dy[i]); };
  const std::int64_t rows = piece.tokens;
  if (rows > 0) loss.tokens = for_real_rows(piece, rows, static_cast<std::int64_t>(y.size()) / rows, add);
  return loss;
}

}  // namespace

Loss dot_loss(const Piece& piece, const Array& y, const std::vector<Array>& /*shared*/) {
  return sum_over_elements(piece, y, [](double value, double target, double* d) {
    *d = target;
    return target * value;
  });
}

Loss squared_loss(const Piece& piece, const Array& y, const std::vector<Array>& /*shared*/) {
  return sum_over_elements(piece, y, [](double value, double target, double* d) {
    *d = value - target;
    return 0.5 * (value - target) * (value - target);
  });
}

Front channel_scale(std::size_t index) {
  Front front;
  front.forward = [index](const Array& x, const std::vector<Array>& shared) {
    const Array& scale = shared.at(index);
    Array y = x;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= scale[i % scale.size()];
    return y;
  };
  front.backward = [index](const Array& x, const Array& d, const std::vector<Array>& shared, std::vector<Array>* sum) {
    const std::size_t width = shared.at(index).size();
    for (std::size_t i = 0; i < x.size(); ++i) (*sum)[index][i % width] += x[i] * d[i];
  };
  return front;
}

}  // namespace oracle
