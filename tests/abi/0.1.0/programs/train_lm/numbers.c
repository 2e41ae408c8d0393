/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 */
#include "numbers.h"

#include <string.h>

#include "moemesh.h"

static float widen(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* A NaN stays one: rounding could carry it over to an infinity. */
static uint16_t narrow(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void numbers_widen(int32_t dtype, int64_t count, const void* from, float* to) {
  if (dtype == MOEMESH_FLOAT32) {
    memcpy(to, from, (size_t)count * sizeof *to);
    return;
  }
  const uint16_t* halves = from;
  for (int64_t i = 0; i < count; ++i) to[i] = widen(halves[i]);
}

void numbers_narrow(int32_t dtype, int64_t count, const float* from, void* to) {
  if (dtype == MOEMESH_FLOAT32) {
    memcpy(to, from, (size_t)count * sizeof *from);
    return;
  }
  uint16_t* halves = to;
  for (int64_t i = 0; i < count; ++i) halves[i] = narrow(from[i]);
}

int64_t numbers_size(int32_t dtype) { return dtype == MOEMESH_FLOAT32 ? 4 : 2; }
