/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "moemesh.h"

/* Long options only: their keys are the indices of the tables below, moved out of the range of characters. */
enum { KEY_INTEGERS = 1000, KEY_REALS = 2000, KEY_CHOICES = 3000, KEY_FLAGS = 4000, KEY_WORDS = 5000 };

typedef struct IntegerOption {
  size_t offset;
  int64_t least;
} IntegerOption;

typedef struct Choice {
  const char* word;
  int64_t value;
} Choice;

typedef struct ChoiceOption {
  size_t offset;
  Choice choices[8];
} ChoiceOption;

enum {
  TP,
  EXPERT_TP,
  EP,
  PP,
  DP,
  HIDDEN,
  FFN,
  LAYERS,
  HEADS,
  EXPERTS,
  TOP_K,
  SHARED_FFN,
  CHUNKS,
  SEQUENCE,
  SEQUENCES,
  PIECES,
  MICROBATCHES,
  STEPS,
  WARMUP,
  SEED,
  THREADS,
  EVAL_EVERY,
  LOG_EVERY,
  INTEGER_COUNT
};
enum { LEARNING_RATE, WEIGHT_DECAY, CAPACITY, AUX, Z, BIAS_RATE, REAL_COUNT };
enum { ACTIVATION, GATE, DTYPE, DROP, AUX_SCOPE, SCHEDULE, OPTIMIZER, STAGE, RECOMPUTE, PROGRESS, CHOICE_COUNT };
enum { MPI, CHECK_ONLY, TIED, FLAG_COUNT };
enum { ORDER, LOSSES, TIMELINE, WORD_COUNT };

static const IntegerOption integers[INTEGER_COUNT] = {
    [TP] = {offsetof(Options, tp), 1},
    [EXPERT_TP] = {offsetof(Options, expert_tp), 1},
    [EP] = {offsetof(Options, ep), 1},
    [PP] = {offsetof(Options, pp), 1},
    [DP] = {offsetof(Options, dp), 1},
    [HIDDEN] = {offsetof(Options, hidden), 1},
    [FFN] = {offsetof(Options, ffn), 1},
    [LAYERS] = {offsetof(Options, layers), 1},
    [HEADS] = {offsetof(Options, heads), 1},
    [EXPERTS] = {offsetof(Options, experts), 1},
    [TOP_K] = {offsetof(Options, top_k), 1},
    [SHARED_FFN] = {offsetof(Options, shared_ffn), 0},
    [CHUNKS] = {offsetof(Options, chunks), 1},
    [SEQUENCE] = {offsetof(Options, sequence), 1},
    [SEQUENCES] = {offsetof(Options, sequences), 1},
    [PIECES] = {offsetof(Options, pieces), 1},
    [MICROBATCHES] = {offsetof(Options, microbatches), 1},
    [STEPS] = {offsetof(Options, steps), 0},
    [WARMUP] = {offsetof(Options, warmup), 0},
    [SEED] = {offsetof(Options, seed), 0},
    [THREADS] = {offsetof(Options, threads), 0},
    [EVAL_EVERY] = {offsetof(Options, eval_every), 0},
    [LOG_EVERY] = {offsetof(Options, log_every), 1},
};

static const size_t reals[REAL_COUNT] = {
    [LEARNING_RATE] = offsetof(Options, learning_rate),
    [WEIGHT_DECAY] = offsetof(Options, weight_decay),
    [CAPACITY] = offsetof(Options, capacity),
    [AUX] = offsetof(Options, aux),
    [Z] = offsetof(Options, z),
    [BIAS_RATE] = offsetof(Options, bias_rate),
};

static const size_t flags[FLAG_COUNT] = {
    [MPI] = offsetof(Options, mpi),
    [CHECK_ONLY] = offsetof(Options, check),
    [TIED] = offsetof(Options, tied),
};

static const size_t words[WORD_COUNT] = {
    [ORDER] = offsetof(Options, order),
    [LOSSES] = offsetof(Options, losses),
    [TIMELINE] = offsetof(Options, timeline),
};

static const ChoiceOption choices[CHOICE_COUNT] = {
    [ACTIVATION] = {offsetof(Options, activation),
                    {{"swiglu", MOEMESH_SWIGLU},
                     {"geglu", MOEMESH_GEGLU},
                     {"gelu", MOEMESH_GELU_ERF},
                     {"gelu-tanh", MOEMESH_GELU_TANH},
                     {"silu", MOEMESH_SILU},
                     {"relu", MOEMESH_RELU}}},
    [GATE] = {offsetof(Options, gate), {{"renorm", MOEMESH_GATE_RENORM}, {"raw", MOEMESH_GATE_RAW}}},
    [DTYPE] = {offsetof(Options, dtype), {{"fp32", MOEMESH_FLOAT32}, {"bf16", MOEMESH_BFLOAT16}}},
    [DROP] = {offsetof(Options, drop), {{"position", MOEMESH_DROP_BY_POSITION}, {"gate", MOEMESH_DROP_BY_GATE}}},
    [AUX_SCOPE] = {offsetof(Options, aux_scope), {{"shard", MOEMESH_AUX_SHARD}, {"sequence", MOEMESH_AUX_SEQUENCE}}},
    [SCHEDULE] = {offsetof(Options, schedule), {{"1f1b", MOEMESH_SCHEDULE_1F1B}, {"gpipe", MOEMESH_SCHEDULE_GPIPE}}},
    [STAGE] = {offsetof(Options, stage), {{"0", 0}, {"1", 1}, {"2", 2}}},
    [RECOMPUTE] = {offsetof(Options, recompute),
                   {{"none", MOEMESH_RECOMPUTE_NONE},
                    {"selective", MOEMESH_RECOMPUTE_SELECTIVE},
                    {"full", MOEMESH_RECOMPUTE_FULL}}},
    [OPTIMIZER] = {offsetof(Options, optimizer), {{"adamw", MOEMESH_ADAMW}, {"sgd", MOEMESH_SGD}}},
    [PROGRESS] = {offsetof(Options, progress),
                  {{"auto", PROGRESS_AUTO}, {"bar", PROGRESS_BAR}, {"lines", PROGRESS_LINES}}},
};

static const Options defaults = {
    .tp = 1,
    .ep = 1,
    .pp = 1,
    .dp = 1,
    .hidden = 64,
    .ffn = 128,
    .layers = 2,
    .heads = 4,
    .experts = 4,
    .top_k = 2,
    .activation = MOEMESH_SWIGLU,
    .gate = MOEMESH_GATE_RENORM,
    .dtype = MOEMESH_FLOAT32,
    .drop = MOEMESH_DROP_BY_POSITION,
    .aux_scope = MOEMESH_AUX_SHARD,
    .recompute = MOEMESH_RECOMPUTE_NONE,
    .chunks = 1,
    .schedule = MOEMESH_SCHEDULE_1F1B,
    .sequence = 64,
    .sequences = 4,
    .pieces = 8,
    .steps = 300,
    .warmup = 40,
    .optimizer = MOEMESH_ADAMW,
    .stage = 1,
    .learning_rate = 5e-3,
    .weight_decay = 0.1,
    .seed = 1,
    .eval_every = 100,
    .log_every = 10,
    .progress = PROGRESS_AUTO,
};

#define INTEGER(name, key, text) \
  { name, KEY_INTEGERS + (key), "N", 0, text, 0 }
#define REAL(name, key, text) \
  { name, KEY_REALS + (key), "X", 0, text, 0 }
#define CHOICE(name, key, words, text) \
  { name, KEY_CHOICES + (key), words, 0, text, 0 }
#define FLAG(name, key, text) \
  { name, KEY_FLAGS + (key), NULL, 0, text, 0 }
#define WORD(name, key, what, text) \
  { name, KEY_WORDS + (key), what, 0, text, 0 }
#define TITLE(text, group) \
  { NULL, 0, NULL, 0, text, group }

static const struct argp_option argp_options[] = {
    TITLE("Ranks and mesh (tp*ep*pp*dp is the number of ranks):", 1),
    FLAG("mpi", MPI, "Use every rank that mpirun started (default: one rank, without MPI)"),
    INTEGER("tp", TP, "Tensor axis: heads are split, and expert widths (1)"),
    INTEGER("expert-tp", EXPERT_TP, "Tensor axis of the experts, a divisor of tp: their widths are split over it (tp)"),
    INTEGER("ep", EP, "Expert axis: experts are split (1)"),
    INTEGER("pp", PP, "Pipeline axis: blocks are dealt out to the stages, at least one each (1)"),
    INTEGER("dp", DP, "Data axis (1)"),
    WORD("order", ORDER, "AXES", "Axes joined by '-', the fastest first (tp-ep-pp-dp)"),
    CHOICE("schedule", SCHEDULE, "KIND", "Of the pipeline: 1f1b or gpipe (1f1b)"),
    INTEGER("threads", THREADS, "Threads of each rank's kernels (0: the library chooses)"),
    TITLE("Model:", 2),
    INTEGER("hidden", HIDDEN, "Width of the model (64)"),
    INTEGER("layers", LAYERS, "Blocks of attention and MoE layer (2)"),
    INTEGER("heads", HEADS, "Attention heads (4)"),
    INTEGER("ffn", FFN, "Width of each expert (128)"),
    INTEGER("experts", EXPERTS, "Experts of each layer (4)"),
    INTEGER("top-k", TOP_K, "Experts of each token (2)"),
    INTEGER("shared-ffn", SHARED_FFN, "Width of the shared expert (0: none)"),
    CHOICE("activation", ACTIVATION, "KIND", "swiglu, geglu, gelu, gelu-tanh, silu or relu (swiglu)"),
    CHOICE("gate", GATE, "KIND", "renorm or raw (renorm)"),
    REAL("capacity", CAPACITY,
         "Rows that an expert takes, as a multiple, from 0.0001 on, of an even share (0: all, nothing is dropped)"),
    CHOICE("drop", DROP, "KIND",
           "What a capacity drops: the last rows by position, or the smallest by gate (position)"),
    REAL("aux", AUX, "Coefficient of the balance loss (0: none)"),
    CHOICE("aux-scope", AUX_SCOPE, "KIND", "Whose balance: a shard's piece or each sequence (shard)"),
    REAL("bias-rate", BIAS_RATE, "What each step moves the experts' selection biases by, to balance them (0: none)"),
    REAL("z", Z, "Coefficient of the router's z-loss (0: none)"),
    CHOICE("recompute", RECOMPUTE, "KIND",
           "What MoE layers drop after a forward and make again: none, selective (hidden activations) or full (none)"),
    INTEGER("chunks", CHUNKS,
            "Chunks of an MoE layer's tokens, 1 to 1024: one is exchanged while another is computed (1)"),
    FLAG("tied", TIED, "The head is the bytes' embedding: one parameter over the first and the last stage"),
    CHOICE("dtype", DTYPE, "TYPE", "Of parameters, MoE layers and rows between stages: fp32 or bf16 (fp32)"),
    TITLE("Training:", 3),
    INTEGER("seq", SEQUENCE, "Bytes of one sequence (64)"),
    INTEGER("sequences", SEQUENCES, "Sequences of one piece (4)"),
    INTEGER("pieces", PIECES,
            "Pieces of each step's global batch, whatever the mesh; each is a microbatch; dp*ep must divide it (8)"),
    INTEGER("microbatches", MICROBATCHES,
            "Microbatches of each step and data shard: sets --pieces to N*dp*ep, which then depends on the mesh"),
    INTEGER("steps", STEPS, "Optimizer steps (300)"),
    INTEGER("warmup", WARMUP, "Steps until the learning rate is whole (40); then it falls as a cosine to a tenth"),
    CHOICE("optimizer", OPTIMIZER, "KIND", "adamw or sgd (adamw)"),
    CHOICE("stage", STAGE, "N", "Sharding stage of both families: 0, 1 or 2 (1)"),
    REAL("lr", LEARNING_RATE, "Learning rate (0.005)"),
    REAL("weight-decay", WEIGHT_DECAY, "Weight decay of the matrices (0.1)"),
    INTEGER("seed", SEED, "Of weights and batches (1)"),
    TITLE("Output:", 4),
    INTEGER("eval-every", EVAL_EVERY, "Steps between held-out losses (100); 0: only one at the end"),
    INTEGER("log-every", LOG_EVERY, "Steps between plain lines (10)"),
    CHOICE("progress", PROGRESS, "KIND",
           "bar, lines, or auto (auto: a bar on a terminal; lines elsewhere and under --mpi)"),
    WORD("losses", LOSSES, "FILE", "Write the losses to FILE in full: training's, step by step, then the held-out one"),
    WORD("timeline", TIMELINE, "DIR",
         "Record where the time of each step goes and who is late; write a table, a trace, pictures and a series to DIR"),
    FLAG("check", CHECK_ONLY, "Only say what is wrong with the command line, if anything"),
    {0},
};

static const char* option_name(int key) {
  const struct argp_option* option = argp_options;
  while (option->key != key) ++option;
  return option->name;
}

static void parse_integer(Options* options, int key, const char* word, struct argp_state* state) {
  const IntegerOption* option = &integers[key - KEY_INTEGERS];
  char* end;
  errno = 0;
  const long long value = strtoll(word, &end, 10);
  if (errno != 0 || end == word || *end != 0 || value < option->least || value > INT32_MAX)
    argp_error(state, "--%s takes an integer from %lld to %d, not '%s'", option_name(key), (long long)option->least,
               INT32_MAX, word);
  *(int64_t*)((char*)options + option->offset) = value;
}

static void parse_real(Options* options, int key, const char* word, struct argp_state* state) {
  char* end;
  const double value = strtod(word, &end);
  if (end == word || *end != 0 || !isfinite(value) || value < 0)
    argp_error(state, "--%s takes a number >= 0, not '%s'", option_name(key), word);
  *(double*)((char*)options + reals[key - KEY_REALS]) = value;
}

static void parse_choice(Options* options, int key, const char* word, struct argp_state* state) {
  const ChoiceOption* option = &choices[key - KEY_CHOICES];
  for (const Choice* choice = option->choices; choice->word != NULL; ++choice)
    if (strcmp(choice->word, word) == 0) {
      *(int64_t*)((char*)options + option->offset) = choice->value;
      return;
    }
  argp_error(state, "--%s does not know '%s'; --help lists its words", option_name(key), word);
}

static void apply_microbatches(Options* options) {
  if (options->microbatches > 0) options->pieces = options->microbatches * options->dp * options->ep;
}

/* What the library can't check, because it concerns this program's own parts. */
static void check_sizes(const Options* options, struct argp_state* state) {
  if (options->hidden % options->heads != 0) argp_error(state, "--heads must divide --hidden");
  if (options->heads % options->tp != 0) argp_error(state, "--tp must divide --heads");
  if (options->expert_tp > 0 && options->tp % options->expert_tp != 0)
    argp_error(state, "--expert-tp must divide --tp");
  if (options->pp > options->layers) argp_error(state, "--pp must be at most --layers: each stage needs a block");
  if (options->pieces % (options->dp * options->ep) != 0)
    argp_error(state, "dp*ep must divide --pieces; --microbatches sets them to fit the mesh");
}

static error_t parse_option(int key, char* word, struct argp_state* state) {
  Options* options = state->input;
  if (key >= KEY_INTEGERS && key < KEY_INTEGERS + INTEGER_COUNT) {
    parse_integer(options, key, word, state);
  } else if (key >= KEY_REALS && key < KEY_REALS + REAL_COUNT) {
    parse_real(options, key, word, state);
  } else if (key >= KEY_CHOICES && key < KEY_CHOICES + CHOICE_COUNT) {
    parse_choice(options, key, word, state);
  } else if (key >= KEY_FLAGS && key < KEY_FLAGS + FLAG_COUNT) {
    *(int64_t*)((char*)options + flags[key - KEY_FLAGS]) = 1;
  } else if (key >= KEY_WORDS && key < KEY_WORDS + WORD_COUNT) {
    *(const char**)((char*)options + words[key - KEY_WORDS]) = word;
  } else if (key == ARGP_KEY_ARGS) {
    options->files = state->argv + state->next;
    options->file_count = state->argc - state->next;
  } else if (key == ARGP_KEY_END) {
    apply_microbatches(options);
    check_sizes(options, state);
  } else {
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

Options options_parse(int argc, char** argv) {
  static const char about[] =
      "Trains a byte-level language model with mixture-of-experts layers on the FILEs, or on the licence texts under "
      "/usr/share/common-licenses, and compares it with a bigram on text that was held out.";
  const struct argp argp = {argp_options, parse_option, "[FILE...]", about, NULL, NULL, NULL};
  Options options = defaults;
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  return options;
}
