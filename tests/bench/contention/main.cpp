// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// How well gradient reductions and all-to-alls share a network: a training step of several MoE layers with large SHARED
// gradients, the same under each policy, in turn (A B C A B C ...). Prints one table. Started by 'run' beside this file.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "model.hpp"
#include "recording.hpp"

namespace contention {
namespace {

// What was seen of one policy. Of times there is one for each counted step.
struct Record {
  std::vector<double> step;                         // of the slowest rank
  std::vector<double> layers, dense, waiting, end;  // mean over the ranks
  std::vector<double> link, sent;                   // bytes of each host, by tc and by the ledger, all steps together
  std::vector<double> exchange, late, blocked;      // of each round, a step's: see Operations
  double exchanges = 0, gradients = 0, parameters = 0;  // of the host that sent most, likewise
  double steps = 0;                                     // that the bytes are of
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1))));
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }

void add_times(const Job& job, const Times& times, Record& record) {
  const std::vector<double> all = job.gather({times.step, times.layers, times.dense, times.waiting, times.end});
  double slowest = 0, sums[5] = {};
  for (size_t i = 0; i < all.size(); ++i) {
    sums[i % 5] += all[i] / static_cast<double>(job.size());
    if (i % 5 == 0) slowest = std::max(slowest, all[i]);
  }
  record.step.push_back(slowest);
  record.layers.push_back(sums[1]);
  record.dense.push_back(sums[2]);
  record.waiting.push_back(sums[3]);
  record.end.push_back(sums[4]);
}

// tc counts a host once, whichever of its ranks asks: the first one does.
void add_bytes(const Job& job, double link, const Sent& sent, Record& record) {
  const std::vector<double> all =
      job.gather({static_cast<double>(job.node()), link, sent.all, sent.exchanges, sent.gradients, sent.parameters});
  const auto hosts = static_cast<size_t>(job.nodes());
  std::vector<double> exchanges(hosts), gradients(hosts), parameters(hosts);
  record.link.resize(hosts);
  record.sent.resize(hosts);
  std::vector<double> links(hosts);
  for (size_t i = 0; i < all.size(); i += 6) {
    const auto host = static_cast<size_t>(all[i]);
    links[host] = std::max(links[host], all[i + 1]);
    record.sent[host] += all[i + 2];
    exchanges[host] += all[i + 3];
    gradients[host] += all[i + 4];
    parameters[host] += all[i + 5];
  }
  for (size_t host = 0; host < hosts; ++host) record.link[host] += links[host];
  const auto most = [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); };
  record.exchanges += most(exchanges);
  record.gradients += most(gradients);
  record.parameters += most(parameters);
}

// Some steps in a row: what one leaves on its way is paid for by the next, and the last one's is waited for outside.
void run_block(const Job& job, const Options& options, Model& model, Record& record) {
  Recording recording(job);
  job.barrier();
  CHECK(moemesh_ledger_reset(job.mesh()));
  const double before = link_bytes(options.device);
  for (int64_t i = 0; i < options.steps; ++i) {
    job.barrier();
    const Times times = model.step();
    if (i > 0) add_times(job, times, record);
  }
  model.drain();
  job.barrier();
  const Sent sent = ledger(job);
  add_bytes(job, link_bytes(options.device) - before, sent, record);
  const Operations operations = recording.end();
  const auto steps = static_cast<double>(options.steps);
  record.exchange.push_back(operations.exchanges / steps);
  record.late.push_back(operations.exchange_waits / steps);
  record.blocked.push_back(operations.exposed_reduction / steps);
  record.steps += steps;
}

// ---- the table

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void print_setting(const Job& job, const Options& options, const Record& record) {
  std::printf("%lld hosts, %lld ranks; %s\n", static_cast<long long>(job.nodes()), static_cast<long long>(job.size()),
              to_string(options).c_str());
  const auto layers = static_cast<double>(options.layers);
  std::printf("a layer: dense compute c %.1f ms (measured)", 1e3 * median(record.dense) / layers);
  const double exchange = record.exchanges / record.steps / layers / 4,
               gradients = record.gradients / record.steps / layers,
               parameters = record.parameters / record.steps / layers;
  std::printf("; a host sends %.2f MB in an all-to-all, %.2f MB of gradients, %.2f MB of parameters", 1e-6 * exchange,
              1e-6 * gradients, 1e-6 * parameters);
  const double ms = 8e-3 / options.link_mbit;
  std::printf(", at %g Mbit %.1f, %.1f and %.1f ms\n", options.link_mbit, ms * exchange, ms * gradients,
              ms * parameters);
}

// What a step's end, and waiting for parameters, take more than where nothing is reduced.
double more(const std::vector<double>& own, const std::vector<double>* base) {
  return median(own) - (base ? median(*base) : 0);
}

double ratio(const std::vector<double>& own, const std::vector<double>* base) {
  return base ? median(own) / median(*base) : NAN;
}

void print_row(const Policy& policy, const Record& record, const Record* none, const Record* after) {
  const double ms = 1e3, mb = 1e-6 / record.steps;
  std::printf("%-6s %8.1f %8.1f %8.1f %6.2f  %8.1f %6.2f  %8.1f %6.2f  %8.1f %8.1f %8.1f %8.1f  %8.2f %8.2f %6.3f\n",
              policy.name.c_str(), ms * median(record.step), ms * quantile(record.step, 0.25),
              ms * quantile(record.step, 0.75), after ? ratio(after->step, &record.step) : NAN,
              ms * median(record.exchange), ratio(record.exchange, none ? &none->exchange : nullptr),
              ms * median(record.layers), ratio(record.layers, none ? &none->layers : nullptr),
              ms * median(record.late), ms * median(record.blocked), ms * more(record.end, none ? &none->end : nullptr),
              ms * more(record.waiting, none ? &none->waiting : nullptr), mb * mean_of(record.link),
              mb * mean_of(record.sent), mean_of(record.link) / mean_of(record.sent));
}

const Record* record_of(const std::vector<Policy>& policies, const std::vector<Record>& records, const char* name) {
  for (size_t i = 0; i < policies.size(); ++i)
    if (policies[i].name == name) return &records[i];
  return nullptr;
}

void print_links(const std::vector<Policy>& policies, const std::vector<Record>& records) {
  std::puts("MB that each host sent in a step, tc / ledger");
  for (size_t i = 0; i < policies.size(); ++i) {
    std::printf("%-6s", policies[i].name.c_str());
    for (size_t host = 0; host < records[i].link.size(); ++host)
      std::printf("  %.3f / %.3f", 1e-6 * records[i].link[host] / records[i].steps,
                  1e-6 * records[i].sent[host] / records[i].steps);
    std::puts("");
  }
}

void print(const Job& job, const Options& options, const std::vector<Policy>& policies,
           const std::vector<Record>& records) {
  const Record* none = record_of(policies, records, "none");
  const Record* after = record_of(policies, records, "after");
  print_setting(job, options, after ? *after : records[0]);
  std::printf(
      "%zu steps of each policy; medians; nan: not known. By the library's timeline: exchange: all-to-alls from the "
      "last rank's post on;\nlate: waits in them for ranks that came late; blocked: by reductions and gathers. By "
      "this program's clock: layers: in the MoE layers'\ncalls (exchanges, waits, the experts' little compute); "
      "end: in optimizer_step, params: waiting for parameters to be gathered, both less those of 'none'.\n",
      records[0].step.size());
  std::puts(
      "           step, ms           after/      exchange         layers        late  blocked      end  params     "
      "MB, host and step");
  std::puts(
      "policy   median       q1       q3   this        ms  /none        ms  /none        ms       ms       ms      ms"
      "        tc   ledger tc/led");
  for (size_t i = 0; i < policies.size(); ++i) print_row(policies[i], records[i], none, after);
  print_links(policies, records);
}

// Whether every policy that reduces has the same weights, on every rank.
bool same_weights(const Job& job, const std::vector<Policy>& policies, std::vector<std::unique_ptr<Model>>& models) {
  std::vector<double> prints;
  for (size_t i = 0; i < policies.size(); ++i)
    if (policies[i].reduces) prints.push_back(models[i]->fingerprint());
  if (prints.empty()) return true;
  const std::vector<double> all = job.gather(prints);
  return std::all_of(all.begin(), all.end(), [&](double value) { return value == all[0]; });
}

int run(const Options& options) {
  const Job job;
  const std::vector<Policy> policies = policies_of(options.policies);
  std::vector<std::unique_ptr<Model>> models;
  for (const Policy& policy : policies) models.push_back(std::make_unique<Model>(job, options, policy));
  std::vector<Record> records(policies.size());
  for (int64_t round = 0; round < options.rounds; ++round)
    for (size_t i = 0; i < policies.size(); ++i) run_block(job, options, *models[i], records[i]);
  const bool same = same_weights(job, policies, models);
  if (job.rank() == 0) {
    print(job, options, policies, records);
    std::printf("weights after the last step: %s\n", same ? "the same bits under every policy" : "THEY DIFFER");
    std::fflush(stdout);
  }
  return same ? 0 : 1;
}

}  // namespace
}  // namespace contention

int main(int argc, char** argv) { return contention::run(contention::parse(argc, argv)); }
