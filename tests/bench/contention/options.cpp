// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace contention {
namespace {

struct Integer {
  const char* name;
  int64_t Options::*member;
  int64_t least;
  const char* text;
};

constexpr Integer integers[] = {
    {"--layers", &Options::layers, 1, "MoE layers, each behind a dense part"},
    {"--hidden", &Options::hidden, 0, "width of the model; by the links' rate where 0"},
    {"--dense", &Options::dense, 0, "width of the dense parts; likewise"},
    {"--ffn", &Options::ffn, 1, "width of an expert"},
    {"--experts", &Options::experts, 1, "of each layer, spread over all ranks"},
    {"--top-k", &Options::top_k, 1, "experts of a token"},
    {"--tokens", &Options::tokens, 0, "of each rank and step; likewise"},
    {"--stage", &Options::stage, 0, "sharding stage of both families, 0 or 1"},
    {"--rounds", &Options::rounds, 1, "rounds of all policies"},
    {"--steps", &Options::steps, 2, "steps of a policy in a round, the first not counted"},
    {"--prefetch", &Options::prefetch, 0,
     "1: parameters are gathered under the next forward; 0: within optimizer_step"},
    {"--checkpoint", &Options::checkpoint, 0, "1: a dense part's forward is computed again in its backward"},
    {"--bucket-bytes", &Options::bucket_bytes, 0, "gradients of one bucket; both matrices of a layer where 0"},
    {"--chunk-bytes", &Options::chunk_bytes, 0, "of one message of a reduction; likewise"},
};

[[noreturn]] void usage(const Options& defaults) {
  for (const Integer& option : integers)
    std::printf("  %-16s %s (%lld)\n", option.name, option.text, static_cast<long long>(defaults.*option.member));
  std::puts(
      "  --policies       of none,after,eager,pieces,gaps, those to run (all); none: the dense gradients are not "
      "reduced;\n"
      "                   eager: a bucket in one piece; pieces: the same in chunks");
  std::puts("  --link-mbit X    rate of a host's link (1000)");
  std::puts("  --device NAME    of this host's link, whose bytes 'tc -s qdisc' counts");
  std::exit(0);
}

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "contention_bench: %s; --help lists the options\n", what.c_str());
  std::exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

bool set_integer(Options& options, std::string_view name, const char* value) {
  for (const Integer& option : integers) {
    if (name != option.name) continue;
    char* end = nullptr;
    options.*option.member = std::strtoll(value, &end, 10);
    if (*end != 0 || options.*option.member < option.least) refuse(std::string(name) + " does not take " + value);
    return true;
  }
  return false;
}

// Bytes of an all-to-all ~ hidden * tokens and of a reduction ~ hidden * dense stay, the products ~ hidden * dense * tokens get
// as much less as the link gets faster.
void follow_link(Options& options) {
  const double rate = options.link_mbit / 100;
  const auto choose = [](int64_t& value, double by_rate) {
    if (value == 0) value = std::max<int64_t>(1, std::llround(by_rate));
  };
  choose(options.hidden, 208 * rate);
  choose(options.dense, 2030 / rate);
  choose(options.tokens, 832 / rate);
  choose(options.chunk_bytes, std::min(32.0 * rate, 128.0) * 1024);
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help") usage(Options());
    if (i + 1 == argc) refuse(std::string(name) + " wants a value");
    const char* value = argv[++i];
    if (name == "--policies")
      options.policies = split(value);
    else if (name == "--link-mbit")
      options.link_mbit = std::atof(value);
    else if (name == "--device")
      options.device = value;
    else if (!set_integer(options, name, value))
      refuse("unknown option " + std::string(name));
  }
  if (options.stage > 1) refuse("--stage: 0 or 1, as stage 2 reduces within the microbatch whatever the policy");
  if (options.prefetch > 1) refuse("--prefetch: 0 or 1");
  if (options.checkpoint > 1) refuse("--checkpoint: 0 or 1");
  if (!(options.link_mbit > 0)) refuse("--link-mbit: expected > 0");
  follow_link(options);
  return options;
}

std::string to_string(const Options& options) {
  std::ostringstream text;
  for (const Integer& option : integers) text << option.name + 2 << ' ' << options.*option.member << "  ";
  return text.str();
}

}  // namespace contention
