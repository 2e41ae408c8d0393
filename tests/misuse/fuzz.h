/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * What both fuzzers share. They are libFuzzer's (LLVMFuzzerTestOneInput); drive.c runs them without it. */
#ifndef FUZZ_H
#define FUZZ_H

#include "world.h"

/* The input as a stream of choices; zeros when it is used up. */
struct choices {
  const uint8_t* next;
  size_t left;
};
uint8_t choose(struct choices* c);
int64_t choose_integer(struct choices* c);

/* Changes some fields of the struct that argument `a` points to, of structs in it and behind its pointers, and perhaps its size. */
void change_struct(struct choices* c, arguments* passed, const struct field* a);

/* Whether what was changed asks for memory that this program does not have: a view that reaches too far, too few row counts. */
int out_of_reach(void);

/* Calls, and ends the process where the status is not one of the header's, is negative, or came with a change of any argument. */
int32_t checked_call(const struct function* function, const arguments* passed);

/* No request of the library gets more than 16 MiB. */
void limit_memory(int on);

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#endif
