/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * Errors: the program stops on the first one, with the library's own words where the library found it. */
#ifndef TRAIN_LM_CHECK_H
#define TRAIN_LM_CHECK_H

#include <stddef.h>

#include "moemesh.h"

/* Whose last error check_status prints; NULL before a context exists. */
void check_use_context(moemesh_context context, int64_t rank);

/* Returns if `status` is MOEMESH_OK, else prints the call's name, the status and the last error and exits with 1. */
void check_status(int32_t status, const char* call);
#define CHECK(call) check_status((call), #call)

/* Prints the message with this rank in front and exits with 1. */
_Noreturn void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the message and exits as the parser does on a wrong command line. To be called by every rank: one that ended
 * in silence could end the others before they have said why. */
_Noreturn void fail_option(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* Returns if `status` is MOEMESH_OK, else the options made the library say no: fail_option with its words. */
void check_options(int32_t status);

/* Zeroed memory; stops the program where there is none. count may be 0. */
void* allocate(int64_t count, size_t size);

#endif
