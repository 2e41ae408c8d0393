/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "dense.h"
#include "matmul.h"

static const double token_size = 0.5;
static const double position_size = 0.5;

static moemesh_family create_family(const Session* session, const Options* options, int32_t kind) {
  moemesh_family_params params;
  moemesh_family family;
  CHECK(moemesh_family_params_init(&params, sizeof params));
  params.kind = kind;
  params.seed = options->seed;
  params.dtype = (int32_t)options->dtype;
  CHECK(moemesh_family_create(session->mesh, &params, &family));
  return family;
}

static void register_ends(Model* model, const Options* options) {
  const int64_t hidden = options->hidden;
  weight_register_matrix(&model->token, model->shared, "token", VOCABULARY, hidden, token_size, WEIGHT_WHOLE);
  weight_register_matrix(&model->position, model->shared, "position", options->sequence, hidden, 0, WEIGHT_WHOLE);
  weight_register_gain(&model->norm, model->shared, "norm", hidden);
  weight_register_matrix(&model->head, model->shared, "head", hidden, VOCABULARY, 0.5 / sqrt((double)hidden),
                         WEIGHT_WHOLE);
}

/* Positions start as sines and cosines of falling frequency, in which "one byte back" is the same turn everywhere: from
 * random positions attention takes hundreds of steps to find that out. */
static void write_positions(Model* model, const Options* options) {
  const double slowest = 1e-3;
  const int64_t hidden = options->hidden;
  float* positions = allocate(options->sequence * hidden, sizeof *positions);
  for (int64_t place = 0; place < options->sequence; ++place)
    for (int64_t h = 0; h < hidden; ++h) {
      const double angle = (double)place * pow(slowest, (double)(h / 2 * 2) / (double)hidden);
      positions[place * hidden + h] = (float)(position_size * (h % 2 == 0 ? sin(angle) : cos(angle)));
    }
  moemesh_view view;
  CHECK(moemesh_view_init(&view, MOEMESH_FLOAT32, 2, (const int64_t[]){options->sequence, hidden}, positions));
  CHECK(moemesh_parameter_write(model->position.handle, MOEMESH_VALUE, 0, &view));
  free(positions);
}

static void allocate_activations(Model* model, int64_t rows) {
  const int64_t hidden = model->shape.hidden;
  model->embedded = allocate(rows * hidden, sizeof(float));
  model->normed = allocate(rows * hidden, sizeof(float));
  model->scale = allocate(rows, sizeof(float));
  model->logits = allocate(rows * VOCABULARY, sizeof(float));
  model->gradient = allocate(rows * hidden, sizeof(float));
  model->head_transposed = allocate(hidden * VOCABULARY, sizeof(float));
  scratch_create(&model->scratch, &model->shape, rows);
}

void model_create(Model* model, const Session* session, const Options* options) {
  const int64_t heads = options->heads / session->tp;
  *model = (Model){.options = options, .layers = options->layers};
  model->shape = (BlockShape){session->mesh, options->hidden, heads, options->hidden / session->tp, options->sequence};
  model->shared = create_family(session, options, MOEMESH_SHARED);
  model->expert = create_family(session, options, MOEMESH_EXPERT);
  model->blocks = allocate(model->layers, sizeof *model->blocks);
  register_ends(model, options);
  for (int64_t i = 0; i < model->layers; ++i)
    block_create(&model->blocks[i], &model->shape, options, model->shared, model->expert, i);
  CHECK(moemesh_family_commit(model->shared));
  CHECK(moemesh_family_commit(model->expert));
  write_positions(model, options);
  allocate_activations(model, options->sequences * options->sequence);
}

void model_destroy(Model* model) {
  for (int64_t i = 0; i < model->layers; ++i) block_destroy(&model->blocks[i]);
  scratch_destroy(&model->scratch);
  float* const arrays[] = {model->embedded, model->normed,   model->scale,
                           model->logits,   model->gradient, model->head_transposed};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) free(arrays[i]);
  free(model->blocks);
  moemesh_family_destroy(&model->shared);
  moemesh_family_destroy(&model->expert);
}

static void embedding_forward(Model* model, const Batch* batch) {
  weight_acquire(&model->token);
  weight_acquire(&model->position);
  embed(batch, model->shape.hidden, model->token.value, model->position.value, model->embedded);
  weight_release(&model->position);
  weight_release(&model->token);
}

static void embedding_backward(Model* model, const Batch* batch) {
  weight_acquire_with_gradient(&model->token);
  weight_acquire_with_gradient(&model->position);
  embed_backward(batch, model->shape.hidden, model->gradient, model->token.gradient, model->position.gradient);
  weight_ready(&model->token);
  weight_ready(&model->position);
  weight_release(&model->position);
  weight_release(&model->token);
}

static void head_forward(Model* model, int64_t rows, const float* x) {
  const int64_t hidden = model->shape.hidden;
  weight_acquire(&model->norm);
  weight_acquire(&model->head);
  rms_norm(rows, hidden, x, model->norm.value, model->normed, model->scale);
  matmul(rows, VOCABULARY, hidden, model->normed, hidden, model->head.value, VOCABULARY, model->logits, VOCABULARY, 0);
  weight_release(&model->head);
  weight_release(&model->norm);
}

/* model->gradient = the gradient of x */
static void head_backward(Model* model, int64_t rows, const float* x) {
  const int64_t hidden = model->shape.hidden;
  float* dnormed = model->scratch.dinput;
  weight_acquire_with_gradient(&model->norm);
  weight_acquire_with_gradient(&model->head);
  matmul_left_transposed(hidden, VOCABULARY, rows, model->normed, hidden, model->logits, VOCABULARY,
                         model->head.gradient, VOCABULARY, 1);
  transpose(hidden, VOCABULARY, model->head.value, VOCABULARY, model->head_transposed);
  matmul(rows, hidden, VOCABULARY, model->logits, VOCABULARY, model->head_transposed, hidden, dnormed, hidden, 0);
  for (int64_t i = 0; i < rows * hidden; ++i) model->gradient[i] = 0;
  rms_norm_backward(rows, hidden, x, model->norm.value, model->scale, dnormed, model->gradient, model->norm.gradient);
  weight_ready(&model->head);
  weight_ready(&model->norm);
  weight_release(&model->head);
  weight_release(&model->norm);
}

/* What block i reads: the embedding or the result of the block before. i = layers: what the head reads. */
static const float* input_of(const Model* model, int64_t i) {
  return i == 0 ? model->embedded : model->blocks[i - 1].result;
}

double model_forward(Model* model, const Batch* batch, int32_t training, int32_t microbatch) {
  const Pass pass = {batch->sequences, training, microbatch};
  const int64_t rows = batch->sequences * batch->sequence;
  embedding_forward(model, batch);
  for (int64_t i = 0; i < model->layers; ++i)
    block_forward(&model->blocks[i], &model->shape, &pass, input_of(model, i));
  head_forward(model, rows, input_of(model, model->layers));
  return cross_entropy(batch, rows, model->logits);
}

void model_backward(Model* model, const Batch* batch, int32_t microbatch) {
  const Pass pass = {batch->sequences, 1, microbatch};
  head_backward(model, batch->sequences * batch->sequence, input_of(model, model->layers));
  for (int64_t i = model->layers - 1; i >= 0; --i)
    block_backward(&model->blocks[i], &model->shape, &pass, input_of(model, i), model->gradient, &model->scratch);
  embedding_backward(model, batch);
}

static int64_t count_elements(moemesh_parameter parameter) {
  moemesh_parameter_info info = {.struct_size = sizeof info};
  CHECK(moemesh_parameter_get_info(parameter, &info));
  int64_t elements = info.experts > 0 ? info.experts : 1;
  for (int32_t i = 0; i < info.rank; ++i) elements *= info.extents[i];
  return elements;
}

static int64_t count_moe_part(moemesh_family family, int64_t index, const char* part) {
  char name[64];
  moemesh_parameter parameter;
  snprintf(name, sizeof name, "block%02" PRId64 ".moe.%s", index, part);
  CHECK(moemesh_parameter_find(family, name, &parameter));
  return count_elements(parameter);
}

/* The layer's own parameters, found by the names that the header gives them. */
static int64_t count_moe_elements(const Model* model, int64_t index, int32_t family) {
  const Options* options = model->options;
  const int gated = options->activation == MOEMESH_SWIGLU || options->activation == MOEMESH_GEGLU;
  if (family == MOEMESH_EXPERT)
    return count_moe_part(model->expert, index, "w1") + count_moe_part(model->expert, index, "w2") +
           (gated ? count_moe_part(model->expert, index, "wg") : 0);
  const int64_t router = count_moe_part(model->shared, index, "router");
  if (options->shared_ffn == 0) return router;
  return router + count_moe_part(model->shared, index, "shared.w1") +
         count_moe_part(model->shared, index, "shared.w2") +
         (gated ? count_moe_part(model->shared, index, "shared.wg") : 0);
}

static int64_t count_attention_elements(const Block* block) {
  const Weight* const weights[] = {&block->attention_norm, &block->query,  &block->key,
                                   &block->value,          &block->output, &block->moe_norm};
  int64_t elements = 0;
  for (size_t i = 0; i < sizeof weights / sizeof *weights; ++i) elements += count_elements(weights[i]->handle);
  return elements;
}

int64_t model_count_elements(const Model* model, int32_t family) {
  int64_t elements = 0;
  for (int64_t i = 0; i < model->layers; ++i) {
    elements += count_moe_elements(model, i, family);
    if (family == MOEMESH_SHARED) elements += count_attention_elements(&model->blocks[i]);
  }
  if (family == MOEMESH_SHARED)
    elements += count_elements(model->token.handle) + count_elements(model->position.handle) +
                count_elements(model->norm.handle) + count_elements(model->head.handle);
  return elements;
}
