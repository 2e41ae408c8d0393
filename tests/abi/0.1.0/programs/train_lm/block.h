/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * One block of the model: y = m + MoE(norm(m)), m = x + attention(norm(x)). The attention is this program's own, its
 * heads split over tp; the MoE layer is the library's. */
#ifndef TRAIN_LM_BLOCK_H
#define TRAIN_LM_BLOCK_H

#include "block_activations.h"
#include "options.h"
#include "weight.h"

/* One microbatch on its way forward and back. */
typedef struct Pass {
  int64_t sequences; /* 0 where a shard has no data: it joins the layers' collectives all the same */
  int32_t training;
  int32_t microbatch;
} Pass;

typedef struct Block {
  Weight attention_norm;
  Weight query; /* [hidden, hidden], columns split over tp */
  Weight key;
  Weight value;
  Weight output; /* [hidden, hidden], rows split over tp */
  Weight moe_norm;
  moemesh_layer moe;
} Block;

/* The MoE layer of every block, but for its name. */
void block_describe_moe(moemesh_layer_params* params, const Options* options);

/* Before the families are committed. index: of the whole model, so that initial weights do not depend on the mesh.
 * Collective over the stage. */
void block_create(Block* block, const BlockShape* shape, const Options* options, moemesh_family shared,
                  moemesh_family expert, int64_t index);
void block_destroy(Block* block);

/* Elements of its parameters in the family of that kind, unsplit. */
int64_t block_count_elements(const Block* block, int32_t kind, moemesh_family family, int64_t index);

/* x: [sequences*sequence, hidden]; the result is in kept->result. */
void block_forward(Block* block, const BlockShape* shape, const Pass* pass, const float* x, BlockActivations* kept,
                   Scratch* scratch);
/* gradient: in the result's, out x's. Completes the weights' gradients of this microbatch. */
void block_backward(Block* block, const BlockShape* shape, const Pass* pass, const float* x, BlockActivations* kept,
                    float* gradient, Scratch* scratch);

#endif
