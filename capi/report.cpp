// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/report.hpp"

#include "capi/call.hpp"

using namespace moemesh;
using namespace moemesh::capi;
using timeline::Report;

namespace {

constexpr moemesh_report_params defaults{sizeof(moemesh_report_params), 32768, 4096, 0, INT64_MAX, 16, 2};

using P = moemesh_report_params;
static_assert(no_padding(&P::struct_size, &P::events, &P::steps, &P::first_step, &P::last_step, &P::start_pings,
                         &P::step_pings));
using S = moemesh_report_summary;
static_assert(no_padding(&S::struct_size, &S::steps, &S::first_step, &S::layers, &S::events, &S::lost_events,
                         &S::late_rank, &S::late_seconds, &S::idle_seconds, &S::seconds, &S::rows_ratio,
                         &S::clock_error, &S::clock_offset, &S::wait, &S::transfer, &S::exposed, &S::idle));
using L = moemesh_report_layer;
static_assert(no_padding(&L::struct_size, &L::name, &L::stage, &L::late_rank, &L::late_seconds, &L::late_rows,
                         &L::rows_ratio, &L::rows, &L::idle_seconds, &L::dispatch_wait, &L::combine_wait,
                         &L::combine_backward_wait, &L::dispatch_backward_wait, &L::tensor_wait, &L::transfer,
                         &L::exposed, &L::expert_seconds));
using T = moemesh_report_step;
static_assert(no_padding(&T::struct_size, &T::late_rank, &T::late_seconds, &T::idle_seconds, &T::seconds,
                         &T::rows_ratio, &T::idle, &T::transfer, &T::exposed));

std::shared_ptr<Report> report_of(Call& call, moemesh_report handle) {
  auto report = object_of<Report>(handle, "report");
  call.in(report->mesh());
  return report;
}

}  // namespace

int32_t moemesh_report_params_init(moemesh_report_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, defaults, sizeof defaults, "report_params");
}

int32_t moemesh_report_create(moemesh_mesh mesh, const moemesh_report_params* params, moemesh_report* report) {
  return guarded([&](Call& call) {
    auto object = object_of<Mesh>(mesh, "mesh");
    call.in(*object);
    required(report, "report");
    object->require_usable();
    moemesh_report_params p = defaults;
    const Finding problem = attempt([&] { p = read_struct(params, defaults, sizeof defaults, "report_params"); });
    *report = new_handle<moemesh_report>(Report::create(std::move(object), p, problem));
  });
}

void moemesh_report_destroy(moemesh_report* report) { destroy_handle<Report>(report); }

int32_t moemesh_report_stop(moemesh_report report) {
  return guarded([&](Call& call) { report_of(call, report)->stop(); });
}

int32_t moemesh_report_mark_begin(moemesh_report report, const char* name) {
  return guarded([&](Call& call) {
    const auto object = report_of(call, report);
    object->mark_begin(&required(name, "name"));
  });
}

int32_t moemesh_report_mark_end(moemesh_report report) {
  return guarded([&](Call& call) { report_of(call, report)->mark_end(); });
}

int32_t moemesh_report_collect(moemesh_report report) {
  return guarded([&](Call& call) { report_of(call, report)->collect(); });
}

int32_t moemesh_report_get_summary(moemesh_report report, moemesh_report_summary* summary) {
  return guarded([&](Call& call) {
    const auto object = report_of(call, report);
    check_result_struct(summary, sizeof *summary, "summary");
    write_struct(summary, object->results().summary);
  });
}

int32_t moemesh_report_get_layer(moemesh_report report, int64_t index, moemesh_report_layer* layer) {
  return guarded([&](Call& call) {
    const auto object = report_of(call, report);
    check_result_struct(layer, sizeof *layer, "layer");
    const auto& layers = object->results().layers;
    require(index >= 0 && index < std::ssize(layers), MOEMESH_ERROR_INVALID_ARGUMENT,
            "index: expected less than the {} layers, got {}", layers.size(), index);
    write_struct(layer, layers[static_cast<size_t>(index)]);
  });
}

int32_t moemesh_report_get_step(moemesh_report report, int64_t index, moemesh_report_step* step) {
  return guarded([&](Call& call) {
    const auto object = report_of(call, report);
    check_result_struct(step, sizeof *step, "step");
    const auto& results = object->results();
    const int64_t first = results.summary.first_step;
    require(index >= first && index < results.summary.steps, MOEMESH_ERROR_INVALID_ARGUMENT,
            "index: expected {}..{}, got {}", first, results.summary.steps - 1, index);
    write_struct(step, results.steps[static_cast<size_t>(index - first)]);
  });
}

int32_t moemesh_report_write(moemesh_report report, int32_t output, int64_t step, const char* path) {
  return guarded([&](Call& call) { report_of(call, report)->write(output, step, path); });
}
