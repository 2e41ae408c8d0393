/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "model.h"

#include <stdlib.h>

#include "check.h"
#include "timeline.h"

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

/* Blocks are dealt out in equal numbers; the first stages have one more where they do not come out even. */
static void choose_blocks(Model* model, const Session* session, int64_t layers) {
  const int64_t each = layers / session->stages;
  const int64_t more = layers % session->stages;
  const int64_t stage = session->stage;
  model->first = stage * each + (stage < more ? stage : more);
  model->count = each + (stage < more);
}

/* 1F1B lets a stage run as far ahead as there are stages after it, GPipe to the step's last microbatch. */
static int64_t count_slots(const Session* session, const Options* options) {
  const int64_t microbatches = options->pieces / session->data_shards;
  const int64_t after = session->stages - session->stage;
  return options->schedule == MOEMESH_SCHEDULE_1F1B && after < microbatches ? after : microbatches;
}

static void microbatch_create(Microbatch* slot, const Model* model, int64_t sequences) {
  const int64_t rows = sequences * model->shape.sequence;
  batch_create(&slot->batch, sequences, model->shape.sequence);
  slot->input = allocate(rows * model->shape.hidden, sizeof(float));
  slot->blocks = allocate(model->count, sizeof *slot->blocks);
  for (int64_t i = 0; i < model->count; ++i) block_activations_create(&slot->blocks[i], &model->shape, rows);
  if (model->ends.has_head) head_activations_create(&slot->head, model->shape.hidden, rows);
}

static void microbatch_destroy(Microbatch* slot, const Model* model) {
  for (int64_t i = 0; i < model->count; ++i) block_activations_destroy(&slot->blocks[i]);
  head_activations_destroy(&slot->head);
  batch_free(&slot->batch);
  free(slot->blocks);
  free(slot->input);
}

static void create_parameters(Model* model, const Session* session, const Options* options, int64_t rows) {
  model->shared = create_family(session, options, MOEMESH_SHARED);
  model->expert = create_family(session, options, MOEMESH_EXPERT);
  ends_create(&model->ends, session, options, model->shared, rows);
  model->blocks = allocate(model->count, sizeof *model->blocks);
  for (int64_t i = 0; i < model->count; ++i)
    block_create(&model->blocks[i], &model->shape, options, model->shared, model->expert, model->first + i);
  CHECK(moemesh_family_commit(model->shared));
  CHECK(moemesh_family_commit(model->expert));
  ends_write_positions(&model->ends, options);
}

static void count_elements(Model* model, const Session* session) {
  int64_t* elements = model->elements;
  elements[MOEMESH_SHARED] = ends_count_elements(&model->ends);
  for (int64_t i = 0; i < model->count; ++i) {
    const Block* block = &model->blocks[i];
    elements[MOEMESH_SHARED] += block_count_elements(block, MOEMESH_SHARED, model->shared, model->first + i);
    elements[MOEMESH_EXPERT] += block_count_elements(block, MOEMESH_EXPERT, model->expert, model->first + i);
  }
  session_sum_integers(session, MOEMESH_AXIS_PP, elements, 3);
}

void model_create(Model* model, const Session* session, const Options* options) {
  const int64_t rows = options->sequences * options->sequence;
  *model = (Model){.options = options, .slots = count_slots(session, options)};
  choose_blocks(model, session, options->layers);
  model->shape = (BlockShape){.mesh = session->mesh, .dtype = (int32_t)options->dtype, .hidden = options->hidden};
  model->shape.heads = options->heads / session->tp;
  model->shape.width = options->hidden / session->tp;
  model->shape.sequence = options->sequence;
  create_parameters(model, session, options, rows);
  count_elements(model, session);
  model->microbatches = allocate(model->slots, sizeof *model->microbatches);
  for (int64_t i = 0; i < model->slots; ++i) microbatch_create(&model->microbatches[i], model, options->sequences);
  model->gradient = allocate(rows * options->hidden, sizeof(float));
  scratch_create(&model->scratch, &model->shape, rows);
}

void model_destroy(Model* model) {
  for (int64_t i = 0; i < model->slots; ++i) microbatch_destroy(&model->microbatches[i], model);
  for (int64_t i = 0; i < model->count; ++i) block_destroy(&model->blocks[i]);
  ends_destroy(&model->ends);
  scratch_destroy(&model->scratch);
  free(model->microbatches);
  free(model->blocks);
  free(model->gradient);
  moemesh_family_destroy(&model->shared);
  moemesh_family_destroy(&model->expert);
}

Microbatch* model_slot(Model* model, int64_t microbatch) { return &model->microbatches[microbatch % model->slots]; }

/* What block i of this stage reads; i = count: what the stage gives on. */
static const float* input_of(const Microbatch* slot, int64_t i) {
  return i == 0 ? slot->input : slot->blocks[i - 1].result;
}

const float* model_forward(Model* model, Microbatch* slot, const Pass* pass) {
  if (model->ends.has_embedding) {
    timeline_begin("embedding");
    embedding_forward(&model->ends, &slot->batch, slot->input);
    timeline_end();
  }
  for (int64_t i = 0; i < model->count; ++i)
    block_forward(&model->blocks[i], &model->shape, pass, input_of(slot, i), &slot->blocks[i], &model->scratch);
  return input_of(slot, model->count);
}

double model_loss(Model* model, Microbatch* slot) {
  timeline_begin("head and loss");
  const double loss = head_forward(&model->ends, &slot->batch, input_of(slot, model->count), &slot->head);
  timeline_end();
  return loss;
}

void model_backward(Model* model, Microbatch* slot, const Pass* pass) {
  const int64_t rows = pass->sequences * model->shape.sequence;
  if (model->ends.has_head) {
    timeline_begin("head, backward");
    head_backward(&model->ends, rows, input_of(slot, model->count), &slot->head, model->gradient);
    timeline_end();
  }
  for (int64_t i = model->count - 1; i >= 0; --i)
    block_backward(&model->blocks[i], &model->shape, pass, input_of(slot, i), &slot->blocks[i], model->gradient,
                   &model->scratch);
  if (!model->ends.has_embedding) return;
  timeline_begin("embedding, backward");
  embedding_backward(&model->ends, &slot->batch, model->gradient);
  timeline_end();
}
