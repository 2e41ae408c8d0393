// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "impl/base/format.hpp"

namespace moemesh::timeline {

inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return result;
}

// A self-contained SVG, closed when it goes.
class Svg {
 public:
  Svg(std::ostream& out, double width, double height) : out_(out) {
    out_ << format_message(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Helvetica, sans-serif\">\n"
        "<defs><pattern id=\"wait\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fde3dd\"/><rect width=\"1.6\" "
        "height=\"5\" fill=\"#d5402b\"/></pattern></defs>\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
        width, height);
  }
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;
  ~Svg() { out_ << "</svg>\n"; }

  // title: shown where a reader points at it.
  void rect(double x, double y, double w, double h, std::string_view fill, std::string_view title = {},
            std::string_view more = {}) {
    out_ << format_message("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}", x, y, w,
                           h, fill, more);
    if (title.empty())
      out_ << "/>\n";
    else
      out_ << format_message("><title>{}</title></rect>\n", escaped(title));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
            std::string_view more = {}) {
    out_ << format_message(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n", x1,
        y1, x2, y2, colour, width, more);
  }
  void text(double x, double y, double size, std::string_view text, std::string_view more = {}) {
    out_ << format_message("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:.1f}\"{}>{}</text>\n", x, y, size, more,
                           escaped(text));
  }
  std::ostream& raw() { return out_; }

 private:
  std::ostream& out_;
};

// A round number of which at most `most` fit into `range`.
double round_tick(double range, int most);

}  // namespace moemesh::timeline
