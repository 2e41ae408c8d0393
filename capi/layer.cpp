// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <algorithm>
#include <cmath>

#include "capi/call.hpp"
#include "impl/base/view.hpp"
#include "impl/moe/layer.hpp"

using namespace moemesh;
using namespace moemesh::capi;

constexpr moemesh_layer_params capi::layer_defaults{sizeof(moemesh_layer_params),
                                                    nullptr,
                                                    0,
                                                    0,
                                                    0,
                                                    0,
                                                    1.0,
                                                    0.02,
                                                    0.02,
                                                    0.02,
                                                    0,
                                                    0,
                                                    0,
                                                    0,
                                                    0,
                                                    MOEMESH_SWIGLU,
                                                    MOEMESH_SCORE_SOFTMAX,
                                                    MOEMESH_GATE_RENORM,
                                                    MOEMESH_ROUTER_LINEAR,
                                                    MOEMESH_NONFINITE_ERROR,
                                                    MOEMESH_DROP_BY_POSITION,
                                                    MOEMESH_AUX_SHARD,
                                                    0,
                                                    MOEMESH_RECOMPUTE_NONE,
                                                    1,
                                                    MOEMESH_PRODUCTS_FAST};

namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

constexpr moemesh_forward_params forward_defaults{
    sizeof(moemesh_forward_params), nullptr, nullptr, nullptr, nullptr, nullptr, 1, MOEMESH_SEQUENCE_MAJOR, 0, 1, 0};
constexpr moemesh_backward_params backward_defaults{
    sizeof(moemesh_backward_params), nullptr, nullptr, nullptr, nullptr, nullptr};
constexpr moemesh_layer_load load_defaults{sizeof(moemesh_layer_load), 0, 1, 0, 0, 0, 0, 0, 0};
constexpr moemesh_replay_params replay_defaults{sizeof(moemesh_replay_params), nullptr, nullptr, nullptr};

using L = moemesh_layer_params;
static_assert(no_padding(&L::struct_size, &L::name, &L::hidden, &L::ffn, &L::experts, &L::shared_ffn, &L::gate_scale,
                         &L::init_std_router, &L::init_std_in, &L::init_std_out, &L::capacity_factor,
                         &L::aux_coefficient, &L::z_coefficient, &L::bias_rate, &L::top_k, &L::activation, &L::score,
                         &L::gate, &L::router, &L::nonfinite, &L::drop, &L::aux_scope, &L::combine_dtype, &L::recompute,
                         &L::chunks, &L::products));
using F = moemesh_forward_params;
static_assert(no_padding(&F::struct_size, &F::x, &F::y, &F::mask, &F::logits, &F::stream, &F::sequences,
                         &F::sequence_layout, &F::reserved, &F::training, &F::microbatch));
using B = moemesh_backward_params;
static_assert(no_padding(&B::struct_size, &B::dy, &B::x, &B::dx, &B::dlogits, &B::stream));
using R = moemesh_replay_params;
static_assert(no_padding(&R::struct_size, &R::x, &R::y, &R::stream));

// A tape and the layer that it goes back to.
struct TapeObject {
  std::shared_ptr<Layer> layer;
  std::unique_ptr<Tape> tape;
  TapeObject(std::shared_ptr<Layer> its_layer, std::unique_ptr<Tape> its_tape)
      : layer(std::move(its_layer)), tape(std::move(its_tape)) {}  // clang before 16 needs it said
  ~TapeObject() {
    if (tape) layer->recycle(std::move(tape));
  }
};

std::shared_ptr<TapeObject> tape_of(Call& call, moemesh_tape* tape) {
  required(tape, "tape");
  auto object = object_of<TapeObject>(*tape, "tape");
  call.in(object->layer->mesh());
  object->layer->require_ready();
  return object;
}

// The handle goes where `work` has consumed the tape, whether or not it failed.
template <class F>
void run_on_tape(moemesh_tape* tape, const TapeObject& object, F&& work) {
  try {
    work();
  } catch (...) {
    if (!object.tape) destroy_handle<TapeObject>(tape);
    throw;
  }
  if (!object.tape) destroy_handle<TapeObject>(tape);
}

std::shared_ptr<Layer> layer_of(Call& call, moemesh_layer handle) {
  auto layer = object_of<Layer>(handle, "layer");
  call.in(layer->mesh());
  return layer;
}

ForwardArguments check_forward(const Layer& layer, const moemesh_forward_params* user, const moemesh_tape* tape) {
  const auto p = read_struct(user, forward_defaults, sizeof forward_defaults, "forward_params");
  const auto& config = layer.params();
  ForwardArguments arguments;
  require(p.training == 0 || p.training == 1, bad, "training: expected 0 or 1, got {}", p.training);
  check_stream(p.stream);
  arguments.stream = p.stream;
  require(p.reserved == 0, bad, "reserved: expected 0, got {}", p.reserved);
  require(p.training == 0 || tape != nullptr, bad, "tape: expected a pointer where training = 1, got NULL");
  require(p.sequence_layout >= MOEMESH_SEQUENCE_MAJOR && p.sequence_layout <= MOEMESH_POSITION_MAJOR, bad,
          "sequence_layout: expected {}..{}, got {}", int32_t{MOEMESH_SEQUENCE_MAJOR}, int32_t{MOEMESH_POSITION_MAJOR},
          p.sequence_layout);
  arguments.training = p.training == 1;
  arguments.microbatch = p.microbatch;
  arguments.x = check_typed_rows(p.x, "x", layer.dtype(), -1, config.hidden);
  arguments.y = check_typed_rows(p.y, "y", layer.dtype(), arguments.x.rows, config.hidden);
  require(!overlap(arguments.x, arguments.y), bad, "y: overlaps x");
  if (p.mask) {
    const Vector mask = check_vector(p.mask, "mask", MOEMESH_UINT8, arguments.x.rows);
    arguments.mask = static_cast<const uint8_t*>(mask.data);
    arguments.mask_stride = mask.stride;
    arguments.mask_on_host = mask.on_host;
  }
  require((p.logits != nullptr) == layer.caller_router(), bad, "logits: expected {}",
          layer.caller_router() ? "a view (ROUTER_CALLER)" : "NULL (the layer has a router)");
  if (p.logits) arguments.logits = check_rows(p.logits, "logits", arguments.x.rows, config.experts);
  if (layer.needs_sequences()) {
    require(p.sequences >= 1, bad, "sequences: expected >= 1, got {}", p.sequences);
    require(arguments.x.rows % p.sequences == 0, bad, "sequences: expected a divisor of the {} rows of x, got {}",
            arguments.x.rows, p.sequences);
    if (arguments.x.rows > 0) arguments.sequences = p.sequences;
    arguments.sequence_layout = p.sequence_layout;
  }
  if (arguments.training) layer.require_step(p.microbatch);
  return arguments;
}

BackwardArguments check_backward(const Layer& layer, const Tape& tape, const moemesh_backward_params* user) {
  const auto p = read_struct(user, backward_defaults, sizeof backward_defaults, "backward_params");
  const auto& config = layer.params();
  const int64_t tokens = tape.decision.tokens;
  BackwardArguments arguments;
  check_stream(p.stream);
  arguments.stream = p.stream;
  arguments.dy = check_typed_rows(p.dy, "dy", layer.dtype(), tokens, config.hidden);
  arguments.dx = check_typed_rows(p.dx, "dx", layer.dtype(), tokens, config.hidden);
  arguments.x = p.x ? check_typed_rows(p.x, "x", layer.dtype(), tokens, config.hidden) : tape.x;
  require(!overlap(arguments.dx, arguments.dy), bad, "dx: overlaps dy");
  require(!overlap(arguments.dx, arguments.x), bad, "dx: overlaps x");
  require((p.dlogits != nullptr) == layer.caller_router(), bad, "dlogits: expected {}",
          layer.caller_router() ? "a view (ROUTER_CALLER)" : "NULL (the layer has a router)");
  if (p.dlogits) arguments.dlogits = check_rows(p.dlogits, "dlogits", tokens, config.experts);
  layer.require_backward(tape);
  return arguments;
}

ReplayArguments check_replay(const Layer& layer, const Tape& tape, const moemesh_replay_params* user) {
  const auto p = read_struct(user, replay_defaults, sizeof replay_defaults, "replay_params");
  const int64_t tokens = tape.decision.tokens, hidden = layer.params().hidden;
  check_stream(p.stream);
  const ReplayArguments arguments{check_typed_rows(p.x, "x", layer.dtype(), tokens, hidden),
                                  check_typed_rows(p.y, "y", layer.dtype(), tokens, hidden), p.stream};
  require(!overlap(arguments.x, arguments.y), bad, "y: overlaps x");
  layer.require_backward(tape);
  return arguments;
}

// Of numbers that a plan multiplies with widths of less than 2^31.
constexpr int64_t most_tokens = int64_t{1} << 32;

void check_load(const moemesh_layer_load& load) {
  const auto check = [](const char* name, int64_t value, int64_t least, int64_t most) {
    require(value >= least && value <= most, bad, "{}: expected {}..{}, got {}", name, least, most, value);
  };
  check("tokens", load.tokens, 0, most_tokens);
  check("sequences", load.sequences, 1, most_tokens);
  check("copies_sent", load.copies_sent, 0, most_tokens);
  check("rows_sent", load.rows_sent, load.copies_sent, most_tokens);
  check("copies_received", load.copies_received, 0, most_tokens);
  check("rows_received", load.rows_received, load.copies_received, most_tokens);
  check("own_copies", load.own_copies, 0, load.copies_received);
  check("own_rows", load.own_rows, load.own_copies, load.rows_received);
}

int64_t* rows_array(const moemesh_view* view, const char* name, int64_t experts) {
  const Vector array = check_vector(view, name, MOEMESH_INT64, experts);
  require(array.stride == 1, bad, "{}.strides[0]: expected 1, got {}", name, array.stride);
  return static_cast<int64_t*>(array.data);
}

float* bias_array(const moemesh_view* view, int64_t experts) {
  const Vector array = check_vector(view, "bias", MOEMESH_FLOAT32, experts);
  require(array.stride == 1, bad, "bias.strides[0]: expected 1, got {}", array.stride);
  return static_cast<float*>(array.data);
}

void check_choices(const moemesh_view* view, const char* name, int32_t dtype, int64_t tokens, int64_t k) {
  check_dense(view, name);
  require(view->dtype == dtype, bad, "{}.dtype: expected {}, got {}", name, dtype, view->dtype);
  require(view->rank == 2 && view->extents[0] == tokens && view->extents[1] == k, bad, "{}: expected [{}, {}]", name,
          tokens, k);
}

}  // namespace

int32_t moemesh_layer_params_init(moemesh_layer_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, layer_defaults, sizeof layer_defaults, "layer_params");
}

int32_t moemesh_forward_params_init(moemesh_forward_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, forward_defaults, sizeof forward_defaults, "forward_params");
}

int32_t moemesh_backward_params_init(moemesh_backward_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, backward_defaults, sizeof backward_defaults, "backward_params");
}

int32_t moemesh_replay_params_init(moemesh_replay_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, replay_defaults, sizeof replay_defaults, "replay_params");
}

int32_t moemesh_layer_create(moemesh_mesh mesh, moemesh_family shared, moemesh_family expert,
                             const moemesh_layer_params* params, moemesh_layer* layer) {
  return guarded([&](Call& call) {
    required(layer, "layer");
    const auto object = object_of<Mesh>(mesh, "mesh");
    call.in(*object);
    moemesh_layer_params p = layer_defaults;
    std::shared_ptr<Family> shared_family, expert_family;
    const Finding problem = attempt([&] {
      shared_family = object_of<Family>(shared, "shared");
      expert_family = object_of<Family>(expert, "expert");
      p = read_struct(params, layer_defaults, sizeof layer_defaults, "layer_params");
    });
    *layer = new_handle<moemesh_layer>(Layer::create(object, shared_family, expert_family, p, problem));
  });
}

void moemesh_layer_destroy(moemesh_layer* layer) { destroy_handle<Layer>(layer); }

int32_t moemesh_layer_forward(moemesh_layer layer, const moemesh_forward_params* params, moemesh_tape* tape) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    object->require_ready();
    ForwardArguments arguments;
    const Finding problem = attempt([&] { arguments = check_forward(*object, params, tape); });
    const kernels::StreamScope on(arguments.stream);
    auto made = object->forward(arguments, problem);
    if (!made && tape) *tape = nullptr;
    if (made)
      *tape = new_handle<moemesh_tape>(
          std::allocate_shared<TapeObject>(RecyclingAllocator<TapeObject>(), object, std::move(made)));
  });
}

int32_t moemesh_layer_backward(moemesh_tape* tape, const moemesh_backward_params* params) {
  return guarded([&](Call& call) {
    const auto object = tape_of(call, tape);
    BackwardArguments arguments;
    const Finding problem = attempt([&] { arguments = check_backward(*object->layer, *object->tape, params); });
    const kernels::StreamScope on(arguments.stream);
    run_on_tape(tape, *object, [&] { object->layer->backward(object->tape, arguments, problem); });
  });
}

int32_t moemesh_layer_replay(moemesh_tape* tape, const moemesh_replay_params* params) {
  return guarded([&](Call& call) {
    const auto object = tape_of(call, tape);
    ReplayArguments arguments;
    const Finding problem = attempt([&] { arguments = check_replay(*object->layer, *object->tape, params); });
    const kernels::StreamScope on(arguments.stream);
    run_on_tape(tape, *object, [&] { object->layer->replay(object->tape, arguments, problem); });
  });
}

void moemesh_tape_destroy(moemesh_tape* tape) { destroy_handle<TapeObject>(tape); }

int32_t moemesh_tape_get_routing(moemesh_tape tape, const moemesh_view* experts, const moemesh_view* gates) {
  return guarded([&](Call& call) {
    const auto object = object_of<TapeObject>(tape, "tape");
    call.in(object->layer->mesh());
    const Decision& decision = object->tape->decision;
    const int64_t k = object->layer->params().top_k, n = decision.tokens * k;
    if (experts) check_choices(experts, "experts", MOEMESH_INT32, decision.tokens, k);
    if (gates) check_choices(gates, "gates", MOEMESH_FLOAT32, decision.tokens, k);
    if (experts) kernels::copy_bytes(experts->data, decision.sent(), n * int64_t{sizeof(int32_t)});
    if (gates) kernels::copy_bytes(gates->data, decision.gates.data(), n * int64_t{sizeof(float)});
    kernels::finish();
  });
}

int32_t moemesh_layer_get_statistics(moemesh_layer layer, moemesh_layer_statistics* statistics) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    check_result_struct(statistics, sizeof *statistics, "statistics");
    const LayerStatistics& s = object->statistics();
    write_struct(statistics,
                 moemesh_layer_statistics{0, s.tokens, s.rows, s.copies_sent, s.rows_received, s.dropped_rows,
                                          s.nonfinite_tokens, s.slots, s.aux_loss, s.z_loss});
  });
}

int32_t moemesh_layer_get_rows(moemesh_layer layer, const moemesh_view* rows_per_expert,
                               const moemesh_view* rows_received) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    const int64_t experts = object->params().experts;
    int64_t* routed = rows_array(rows_per_expert, "rows_per_expert", experts);
    int64_t* received = rows_received ? rows_array(rows_received, "rows_received", experts) : nullptr;
    const LayerStatistics& s = object->statistics();
    const auto fill = [&](const std::vector<int64_t>& from, int64_t* to) {
      if (!to) return;
      if (from.empty())
        std::fill_n(to, experts, 0);
      else
        std::copy(from.begin(), from.end(), to);
    };
    fill(s.rows_per_expert, routed);
    fill(s.rows_received_per_expert, received);
  });
}

int32_t moemesh_layer_get_bias(moemesh_layer layer, const moemesh_view* bias) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    float* to = bias_array(bias, object->params().experts);
    std::copy(object->bias().all().begin(), object->bias().all().end(), to);
  });
}

int32_t moemesh_layer_set_bias(moemesh_layer layer, const moemesh_view* bias) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    const int64_t experts = object->params().experts;
    const float* from = bias_array(bias, experts);
    require(!object->step_open(), MOEMESH_ERROR_INVALID_STATE, "layer_set_bias: a step is open");
    for (int64_t e = 0; e < experts; ++e)
      require(std::isfinite(from[e]), bad, "bias[{}]: expected a finite number, got {}", e, from[e]);
    object->bias().set(from);
  });
}

int32_t moemesh_tape_get_bytes(moemesh_tape tape, moemesh_tape_bytes* bytes) {
  return guarded([&](Call& call) {
    const auto object = object_of<TapeObject>(tape, "tape");
    call.in(object->layer->mesh());
    check_result_struct(bytes, sizeof *bytes, "bytes");
    write_struct(bytes, Layer::bytes_of(*object->tape));
  });
}

int32_t moemesh_layer_plan_bytes(moemesh_layer layer, const moemesh_layer_load* load, int32_t recompute,
                                 moemesh_tape_bytes* bytes) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    const auto numbers = read_struct(load, load_defaults, sizeof load_defaults, "layer_load");
    check_load(numbers);
    require(recompute >= 0 && recompute <= MOEMESH_RECOMPUTE_FULL, bad, "recompute: expected 0..3, got {}", recompute);
    check_result_struct(bytes, sizeof *bytes, "bytes");
    write_struct(bytes, object->plan_bytes(numbers, recompute == 0 ? object->params().recompute : recompute));
  });
}

int32_t moemesh_layer_balanced_load(moemesh_layer layer, int64_t tokens, moemesh_layer_load* load) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    check_result_struct(load, sizeof *load, "layer_load");
    require(tokens >= 0 && tokens <= most_tokens, bad, "tokens: expected 0..{}, got {}", most_tokens, tokens);
    write_struct(load, object->balanced_load(tokens));
  });
}

int32_t moemesh_layer_get_memory(moemesh_layer layer, moemesh_layer_memory* memory) {
  return guarded([&](Call& call) {
    const auto object = layer_of(call, layer);
    check_result_struct(memory, sizeof *memory, "memory");
    const LayerMemory m = object->memory();
    write_struct(memory, moemesh_layer_memory{0, m.tapes, m.live, m.peak, m.reserved});
  });
}
