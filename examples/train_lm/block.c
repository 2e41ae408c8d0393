/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "block.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "dense.h"
#include "matmul.h"

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

static void create_moe(Block* block, const Options* options, moemesh_mesh mesh, moemesh_family shared,
                       moemesh_family expert, int64_t index) {
  char name[NAME_BYTES];
  make_name(name, index, "moe");
  moemesh_layer_params params;
  CHECK(moemesh_layer_params_init(&params, sizeof params));
  params.name = name;
  params.hidden = options->hidden;
  params.ffn = options->ffn;
  params.experts = options->experts;
  params.shared_ffn = options->shared_ffn;
  params.top_k = (int32_t)options->top_k;
  params.activation = (int32_t)options->activation;
  params.gate = (int32_t)options->gate;
  params.init_std_router = 1 / sqrt((double)options->hidden);
  params.init_std_in = 1 / sqrt((double)options->hidden);
  params.init_std_out = residual_deviation(options->ffn, options->layers);
  CHECK(moemesh_layer_create(mesh, shared, expert, &params, &block->moe));
}

static void allocate_activations(Block* block, const BlockShape* shape, int64_t rows) {
  const AttentionShape attention_shape = {rows / shape->sequence, shape->sequence, shape->heads, 0};
  block->attention_input = allocate(rows * shape->hidden, sizeof(float));
  block->attention_scale = allocate(rows, sizeof(float));
  block->queries = allocate(rows * shape->width, sizeof(float));
  block->keys = allocate(rows * shape->width, sizeof(float));
  block->values = allocate(rows * shape->width, sizeof(float));
  block->probabilities = allocate(attention_count_probabilities(&attention_shape), sizeof(float));
  block->mixed = allocate(rows * shape->width, sizeof(float));
  block->middle = allocate(rows * shape->hidden, sizeof(float));
  block->moe_input = allocate(rows * shape->hidden, sizeof(float));
  block->moe_scale = allocate(rows, sizeof(float));
  block->result = allocate(rows * shape->hidden, sizeof(float));
}

void block_create(Block* block, const BlockShape* shape, const Options* options, moemesh_family shared,
                  moemesh_family expert, int64_t index) {
  register_attention(block, options, shared, index);
  create_moe(block, options, shape->mesh, shared, expert, index);
  allocate_activations(block, shape, options->sequences * shape->sequence);
}

void block_destroy(Block* block) {
  moemesh_tape_destroy(&block->tape);
  moemesh_layer_destroy(&block->moe);
  float* const arrays[] = {block->attention_input, block->attention_scale, block->queries, block->keys,
                           block->values,          block->probabilities,   block->mixed,   block->middle,
                           block->moe_input,       block->moe_scale,       block->result};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
}

void scratch_create(Scratch* scratch, const BlockShape* shape, int64_t rows) {
  scratch->dmixed = allocate(rows * shape->width, sizeof(float));
  scratch->dqueries = allocate(rows * shape->width, sizeof(float));
  scratch->dkeys = allocate(rows * shape->width, sizeof(float));
  scratch->dvalues = allocate(rows * shape->width, sizeof(float));
  scratch->dinput = allocate(rows * shape->hidden, sizeof(float));
  scratch->transposed = allocate(shape->hidden * shape->width, sizeof(float));
}

void scratch_destroy(Scratch* scratch) {
  float* const arrays[] = {scratch->dmixed,  scratch->dqueries, scratch->dkeys,
                           scratch->dvalues, scratch->dinput,   scratch->transposed};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
}

static int64_t count_rows(const BlockShape* shape, const Pass* pass) { return pass->sequences * shape->sequence; }

static AttentionShape attention_shape_of(const BlockShape* shape, const Pass* pass) {
  return (AttentionShape){pass->sequences, shape->sequence, shape->heads, shape->width / shape->heads};
}

static moemesh_view view_of(const float* data, int64_t rows, int64_t columns) {
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_FLOAT32, 2, (const int64_t[]){rows, columns}, (void*)data));
  return view;
}

/* Sums what the tp ranks' heads contributed. tp peers have the same rows, so none of them is alone in this. */
static void sum_over_tp(const BlockShape* shape, float* data, int64_t rows) {
  if (rows == 0) return;
  const moemesh_view view = view_of(data, rows, shape->hidden);
  CHECK(moemesh_all_reduce(shape->mesh, MOEMESH_AXIS_TP, MOEMESH_SUM, &view));
}

static void for_attention_weights(Block* block, void (*act)(Weight*)) {
  Weight* const weights[] = {&block->attention_norm, &block->query, &block->key, &block->value, &block->output};
  for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) act(weights[i]);
}

static void project(const BlockShape* shape, int64_t rows, const Block* block, const Weight* weight, float* y) {
  matmul(rows, shape->width, shape->hidden, block->attention_input, shape->hidden, weight->value, shape->width, y,
         shape->width, 0);
}

/* block->middle = x + attention(norm(x)) */
static void attention_forward(Block* block, const BlockShape* shape, const Pass* pass, const float* x) {
  const int64_t rows = count_rows(shape, pass);
  const int64_t hidden = shape->hidden;
  const AttentionShape attention_shape = attention_shape_of(shape, pass);
  rms_norm(rows, hidden, x, block->attention_norm.value, block->attention_input, block->attention_scale);
  project(shape, rows, block, &block->query, block->queries);
  project(shape, rows, block, &block->key, block->keys);
  project(shape, rows, block, &block->value, block->values);
  attention(&attention_shape, block->queries, block->keys, block->values, block->probabilities, block->mixed);
  matmul(rows, hidden, shape->width, block->mixed, shape->width, block->output.value, hidden, block->middle, hidden, 0);
  sum_over_tp(shape, block->middle, rows);
  for (int64_t i = 0; i < rows * hidden; ++i) block->middle[i] += x[i];
}

/* block->result = middle + MoE(norm(middle)) */
static void moe_forward(Block* block, const BlockShape* shape, const Pass* pass) {
  const int64_t rows = count_rows(shape, pass);
  rms_norm(rows, shape->hidden, block->middle, block->moe_norm.value, block->moe_input, block->moe_scale);
  const moemesh_view x = view_of(block->moe_input, rows, shape->hidden);
  const moemesh_view y = view_of(block->result, rows, shape->hidden);
  moemesh_forward_params params;
  CHECK(moemesh_forward_params_init(&params, sizeof params));
  params.x = &x;
  params.y = &y;
  params.training = pass->training;
  params.microbatch = pass->microbatch;
  CHECK(moemesh_layer_forward(block->moe, &params, pass->training ? &block->tape : NULL));
  for (int64_t i = 0; i < rows * shape->hidden; ++i) block->result[i] += block->middle[i];
}

void block_forward(Block* block, const BlockShape* shape, const Pass* pass, const float* x) {
  for_attention_weights(block, weight_acquire);
  attention_forward(block, shape, pass, x);
  for_attention_weights(block, weight_release);
  weight_acquire(&block->moe_norm);
  moe_forward(block, shape, pass);
  weight_release(&block->moe_norm);
}

/* gradient: in the result's, out the middle's. */
static void moe_backward(Block* block, const BlockShape* shape, const Pass* pass, float* gradient, Scratch* scratch) {
  const int64_t rows = count_rows(shape, pass);
  const moemesh_view dy = view_of(gradient, rows, shape->hidden);
  const moemesh_view dx = view_of(scratch->dinput, rows, shape->hidden);
  moemesh_backward_params params;
  CHECK(moemesh_backward_params_init(&params, sizeof params));
  params.dy = &dy;
  params.dx = &dx;
  CHECK(moemesh_layer_backward(&block->tape, &params));
  rms_norm_backward(rows, shape->hidden, block->middle, block->moe_norm.value, block->moe_scale, scratch->dinput,
                    gradient, block->moe_norm.gradient);
}

/* From dy of a projection: its weight's gradient, and its share in scratch->dinput. */
static void project_backward(const BlockShape* shape, int64_t rows, const Block* block, const Weight* weight,
                             const float* dy, int accumulate, Scratch* scratch) {
  const int64_t hidden = shape->hidden;
  const int64_t width = shape->width;
  matmul_left_transposed(hidden, width, rows, block->attention_input, hidden, dy, width, weight->gradient, width, 1);
  transpose(hidden, width, weight->value, width, scratch->transposed);
  matmul(rows, hidden, width, dy, width, scratch->transposed, hidden, scratch->dinput, hidden, accumulate);
}

static void output_backward(const BlockShape* shape, int64_t rows, Block* block, const float* gradient,
                            Scratch* scratch) {
  const int64_t hidden = shape->hidden;
  const int64_t width = shape->width;
  matmul_left_transposed(width, hidden, rows, block->mixed, width, gradient, hidden, block->output.gradient, hidden, 1);
  transpose(width, hidden, block->output.value, hidden, scratch->transposed);
  matmul(rows, width, hidden, gradient, hidden, scratch->transposed, width, scratch->dmixed, width, 0);
}

/* gradient: in the middle's, out x's. */
static void attention_part_backward(Block* block, const BlockShape* shape, const Pass* pass, const float* x,
                                    float* gradient, Scratch* scratch) {
  const int64_t rows = count_rows(shape, pass);
  const AttentionShape attention_shape = attention_shape_of(shape, pass);
  output_backward(shape, rows, block, gradient, scratch);
  attention_backward(&attention_shape, block->queries, block->keys, block->values, block->probabilities,
                     scratch->dmixed, scratch->dqueries, scratch->dkeys, scratch->dvalues);
  project_backward(shape, rows, block, &block->query, scratch->dqueries, 0, scratch);
  project_backward(shape, rows, block, &block->key, scratch->dkeys, 1, scratch);
  project_backward(shape, rows, block, &block->value, scratch->dvalues, 1, scratch);
  sum_over_tp(shape, scratch->dinput, rows);
  rms_norm_backward(rows, shape->hidden, x, block->attention_norm.value, block->attention_scale, scratch->dinput,
                    gradient, block->attention_norm.gradient);
}

void block_backward(Block* block, const BlockShape* shape, const Pass* pass, const float* x, float* gradient,
                    Scratch* scratch) {
  weight_acquire_with_gradient(&block->moe_norm);
  moe_backward(block, shape, pass, gradient, scratch);
  weight_ready(&block->moe_norm);
  weight_release(&block->moe_norm);
  for_attention_weights(block, weight_acquire_with_gradient);
  attention_part_backward(block, shape, pass, x, gradient, scratch);
  for_attention_weights(block, weight_ready);
  for_attention_weights(block, weight_release);
}
