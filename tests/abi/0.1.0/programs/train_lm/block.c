/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "block.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attention.h"
#include "check.h"
#include "dense.h"
#include "matmul.h"
#include "numbers.h"
#include "timeline.h"

enum { NAME_BYTES = 64 };

static void make_name(char name[NAME_BYTES], int64_t index, const char* part) {
  snprintf(name, NAME_BYTES, "block%02" PRId64 ".%s", index, part);
}

static void register_matrix(Weight* weight, moemesh_family family, int64_t index, const char* part, int64_t size,
                            double deviation, WeightSplit split) {
  char name[NAME_BYTES];
  make_name(name, index, part);
  weight_register_matrix(weight, family, name, size, size, deviation, split);
}

static void register_gain(Weight* weight, moemesh_family family, int64_t index, const char* part, int64_t size) {
  char name[NAME_BYTES];
  make_name(name, index, part);
  weight_register_gain(weight, family, name, size);
}

/* What flows into the residual starts smaller the more blocks add to it. */
static double residual_deviation(int64_t width, int64_t layers) { return 1 / sqrt((double)width * 2 * (double)layers); }

static void register_attention(Block* block, const Options* options, moemesh_family family, int64_t index) {
  const int64_t size = options->hidden;
  const double deviation = 1 / sqrt((double)size);
  register_gain(&block->attention_norm, family, index, "attention.norm", size);
  register_matrix(&block->query, family, index, "attention.query", size, deviation, WEIGHT_BY_COLUMNS);
  register_matrix(&block->key, family, index, "attention.key", size, deviation, WEIGHT_BY_COLUMNS);
  register_matrix(&block->value, family, index, "attention.value", size, deviation, WEIGHT_BY_COLUMNS);
  register_matrix(&block->output, family, index, "attention.output", size, residual_deviation(size, options->layers),
                  WEIGHT_BY_ROWS);
  register_gain(&block->moe_norm, family, index, "moe.norm", size);
}

void block_describe_moe(moemesh_layer_params* params, const Options* options) {
  CHECK(moemesh_layer_params_init(params, sizeof *params));
  params->hidden = options->hidden;
  params->ffn = options->ffn;
  params->experts = options->experts;
  params->shared_ffn = options->shared_ffn;
  params->top_k = (int32_t)options->top_k;
  params->activation = (int32_t)options->activation;
  params->gate = (int32_t)options->gate;
  params->capacity_factor = options->capacity;
  params->drop = (int32_t)options->drop;
  params->aux_coefficient = options->aux;
  params->aux_scope = (int32_t)options->aux_scope;
  params->z_coefficient = options->z;
  params->bias_rate = options->bias_rate;
  params->recompute = (int32_t)options->recompute;
  params->chunks = (int32_t)options->chunks;
  params->init_std_router = 1 / sqrt((double)options->hidden);
  params->init_std_in = 1 / sqrt((double)options->hidden);
  params->init_std_out = residual_deviation(options->ffn, options->layers);
}

static void create_moe(Block* block, const Options* options, moemesh_mesh mesh, moemesh_family shared,
                       moemesh_family expert, int64_t index) {
  char name[NAME_BYTES];
  make_name(name, index, "moe");
  moemesh_layer_params params;
  block_describe_moe(&params, options);
  params.name = name;
  CHECK(moemesh_layer_create(mesh, shared, expert, &params, &block->moe));
}

void block_create(Block* block, const BlockShape* shape, const Options* options, moemesh_family shared,
                  moemesh_family expert, int64_t index) {
  register_attention(block, options, shared, index);
  create_moe(block, options, shape->mesh, shared, expert, index);
}

void block_destroy(Block* block) {
  Weight* const weights[] = {&block->attention_norm, &block->query,  &block->key,
                             &block->value,          &block->output, &block->moe_norm};
  for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) weight_free(weights[i]);
  moemesh_layer_destroy(&block->moe);
}

/* A parameter of the layer's own, found by the name that the header gives it; 0 where it has none of that name. */
static int64_t count_moe_part(moemesh_family family, int64_t index, const char* part) {
  char name[NAME_BYTES];
  moemesh_parameter parameter;
  make_name(name, index, part);
  const int32_t status = moemesh_parameter_find(family, name, &parameter);
  if (status == MOEMESH_ERROR_NOT_FOUND) return 0;
  check_status(status, "moemesh_parameter_find");
  return weight_count(parameter);
}

static int64_t count_attention(const Block* block) {
  const Weight* const weights[] = {&block->attention_norm, &block->query,  &block->key,
                                   &block->value,          &block->output, &block->moe_norm};
  int64_t elements = 0;
  for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) elements += weight_count(weights[i]->handle);
  return elements;
}

int64_t block_count_elements(const Block* block, int32_t kind, moemesh_family family, int64_t index) {
  static const char* const shared[] = {"moe.router", "moe.shared.w1", "moe.shared.wg", "moe.shared.w2"};
  static const char* const expert[] = {"moe.w1", "moe.wg", "moe.w2"};
  int64_t elements = kind == MOEMESH_SHARED ? count_attention(block) : 0;
  for (size_t i = 0; i < 4 && kind == MOEMESH_SHARED; ++i) elements += count_moe_part(family, index, shared[i]);
  for (size_t i = 0; i < 3 && kind == MOEMESH_EXPERT; ++i) elements += count_moe_part(family, index, expert[i]);
  return elements;
}

static int64_t count_rows(const BlockShape* shape, const Pass* pass) { return pass->sequences * shape->sequence; }

static AttentionShape attention_shape_of(const BlockShape* shape, const Pass* pass) {
  return (AttentionShape){pass->sequences, shape->sequence, shape->heads, shape->width / shape->heads};
}

static moemesh_view view_of(int32_t dtype, const void* data, int64_t rows, int64_t columns) {
  moemesh_view view;
  CHECK(moemesh_view_init(&view, dtype, 2, (const int64_t[]){rows, columns}, (void*)data));
  return view;
}

/* Sums what the tp ranks' heads contributed. tp peers have the same rows, so none of them is alone in this. */
static void sum_over_tp(const BlockShape* shape, float* data, int64_t rows) {
  if (rows == 0) return;
  const moemesh_view view = view_of(MOEMESH_FLOAT32, data, rows, shape->hidden);
  CHECK(moemesh_all_reduce(shape->mesh, MOEMESH_AXIS_TP, MOEMESH_SUM, &view));
}

static void for_attention_weights(Block* block, void (*act)(Weight*)) {
  Weight* const weights[] = {&block->attention_norm, &block->query, &block->key, &block->value, &block->output};
  for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) act(weights[i]);
}

static void project(const BlockShape* shape, int64_t rows, const BlockActivations* kept, const Weight* weight,
                    float* y) {
  matmul(rows, shape->width, shape->hidden, kept->attention_input, shape->hidden, weight->value, shape->width, y,
         shape->width, 0);
}

/* kept->middle = x + attention(norm(x)) */
static void attention_forward(Block* block, const BlockShape* shape, const Pass* pass, const float* x,
                              BlockActivations* kept) {
  const int64_t rows = count_rows(shape, pass);
  const int64_t hidden = shape->hidden;
  const AttentionShape attention_shape = attention_shape_of(shape, pass);
  rms_norm(rows, hidden, x, block->attention_norm.value, kept->attention_input, kept->attention_scale);
  project(shape, rows, kept, &block->query, kept->queries);
  project(shape, rows, kept, &block->key, kept->keys);
  project(shape, rows, kept, &block->value, kept->values);
  attention(&attention_shape, kept->queries, kept->keys, kept->values, kept->probabilities, kept->mixed);
  matmul(rows, hidden, shape->width, kept->mixed, shape->width, block->output.value, hidden, kept->middle, hidden, 0);
  sum_over_tp(shape, kept->middle, rows);
  for (int64_t i = 0; i < rows * hidden; ++i) kept->middle[i] += x[i];
}

/* What the MoE layer reads: the floats themselves, or `room` with them in bf16. */
static const void* layer_rows(const BlockShape* shape, int64_t rows, const float* data, void* room) {
  if (shape->dtype == MOEMESH_FLOAT32) return data;
  numbers_narrow(shape->dtype, rows * shape->hidden, data, room);
  return room;
}

/* kept->result = middle + MoE(norm(middle)) */
static void moe_forward(Block* block, const BlockShape* shape, const Pass* pass, BlockActivations* kept,
                        Scratch* scratch) {
  const int64_t rows = count_rows(shape, pass);
  rms_norm(rows, shape->hidden, kept->middle, block->moe_norm.value, kept->moe_input, kept->moe_scale);
  const void* layer_input = layer_rows(shape, rows, kept->moe_input, kept->moe_rows);
  const moemesh_view x = view_of(shape->dtype, layer_input, rows, shape->hidden);
  const int narrow = shape->dtype != MOEMESH_FLOAT32;
  const moemesh_view y = view_of(shape->dtype, narrow ? scratch->rows_out : kept->result, rows, shape->hidden);
  moemesh_forward_params params;
  CHECK(moemesh_forward_params_init(&params, sizeof params));
  params.x = &x;
  params.y = &y;
  params.training = pass->training;
  params.microbatch = pass->microbatch;
  params.sequences = pass->sequences > 0 ? pass->sequences : 1;
  CHECK(moemesh_layer_forward(block->moe, &params, pass->training ? &kept->tape : NULL));
  if (narrow) numbers_widen(shape->dtype, rows * shape->hidden, scratch->rows_out, kept->result);
  for (int64_t i = 0; i < rows * shape->hidden; ++i) kept->result[i] += kept->middle[i];
}

void block_forward(Block* block, const BlockShape* shape, const Pass* pass, const float* x, BlockActivations* kept,
                   Scratch* scratch) {
  timeline_begin("attention");
  for_attention_weights(block, weight_acquire);
  attention_forward(block, shape, pass, x, kept);
  for_attention_weights(block, weight_release);
  timeline_end();
  weight_acquire(&block->moe_norm);
  moe_forward(block, shape, pass, kept, scratch);
  weight_release(&block->moe_norm);
}

/* gradient: in the result's, out the middle's. */
static void moe_backward(Block* block, const BlockShape* shape, const Pass* pass, BlockActivations* kept,
                         float* gradient, Scratch* scratch) {
  const int64_t rows = count_rows(shape, pass);
  const int narrow = shape->dtype != MOEMESH_FLOAT32;
  const void* layer_gradient = layer_rows(shape, rows, gradient, scratch->rows_in);
  const moemesh_view dy = view_of(shape->dtype, layer_gradient, rows, shape->hidden);
  const moemesh_view dx = view_of(shape->dtype, narrow ? scratch->rows_out : scratch->dinput, rows, shape->hidden);
  moemesh_backward_params params;
  CHECK(moemesh_backward_params_init(&params, sizeof params));
  params.dy = &dy;
  params.dx = &dx;
  CHECK(moemesh_layer_backward(&kept->tape, &params));
  if (narrow) numbers_widen(shape->dtype, rows * shape->hidden, scratch->rows_out, scratch->dinput);
  rms_norm_backward(rows, shape->hidden, kept->middle, block->moe_norm.value, kept->moe_scale, scratch->dinput,
                    gradient, block->moe_norm.gradient);
}

/* From dy of a projection: its weight's gradient, and its share in scratch->dinput. */
static void project_backward(const BlockShape* shape, int64_t rows, const BlockActivations* kept, const Weight* weight,
                             const float* dy, int accumulate, Scratch* scratch) {
  const int64_t hidden = shape->hidden;
  const int64_t width = shape->width;
  matmul_left_transposed(hidden, width, rows, kept->attention_input, hidden, dy, width, weight->gradient, width, 1);
  transpose(hidden, width, weight->value, width, scratch->transposed);
  matmul(rows, hidden, width, dy, width, scratch->transposed, hidden, scratch->dinput, hidden, accumulate);
}

static void output_backward(const BlockShape* shape, int64_t rows, const Block* block, const BlockActivations* kept,
                            const float* gradient, Scratch* scratch) {
  const int64_t hidden = shape->hidden;
  const int64_t width = shape->width;
  matmul_left_transposed(width, hidden, rows, kept->mixed, width, gradient, hidden, block->output.gradient, hidden, 1);
  transpose(width, hidden, block->output.value, hidden, scratch->transposed);
  matmul(rows, width, hidden, gradient, hidden, scratch->transposed, width, scratch->dmixed, width, 0);
}

/* gradient: in the middle's, out x's. */
static void attention_part_backward(Block* block, const BlockShape* shape, const Pass* pass, const float* x,
                                    const BlockActivations* kept, float* gradient, Scratch* scratch) {
  const int64_t rows = count_rows(shape, pass);
  const AttentionShape attention_shape = attention_shape_of(shape, pass);
  output_backward(shape, rows, block, kept, gradient, scratch);
  attention_backward(&attention_shape, kept->queries, kept->keys, kept->values, kept->probabilities, scratch->dmixed,
                     scratch->dqueries, scratch->dkeys, scratch->dvalues);
  project_backward(shape, rows, kept, &block->query, scratch->dqueries, 0, scratch);
  project_backward(shape, rows, kept, &block->key, scratch->dkeys, 1, scratch);
  project_backward(shape, rows, kept, &block->value, scratch->dvalues, 1, scratch);
  sum_over_tp(shape, scratch->dinput, rows);
  rms_norm_backward(rows, shape->hidden, x, block->attention_norm.value, kept->attention_scale, scratch->dinput,
                    gradient, block->attention_norm.gradient);
}

void block_backward(Block* block, const BlockShape* shape, const Pass* pass, const float* x, BlockActivations* kept,
                    float* gradient, Scratch* scratch) {
  weight_acquire_with_gradient(&block->moe_norm);
  moe_backward(block, shape, pass, kept, gradient, scratch);
  weight_ready(&block->moe_norm);
  weight_release(&block->moe_norm);
  timeline_begin("attention, backward");
  for_attention_weights(block, weight_acquire_with_gradient);
  attention_part_backward(block, shape, pass, x, kept, gradient, scratch);
  for_attention_weights(block, weight_ready);
  for_attention_weights(block, weight_release);
  timeline_end();
}
