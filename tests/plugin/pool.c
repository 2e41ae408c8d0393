/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * pool FOLDER: the library's OpenMP threads, which wait for more work when it is unloaded, are still in code that is
 * there. The script gives it an empty libdnnl, because the real one happens to keep OpenMP's library loaded. */
#include <stdio.h>
#include <unistd.h>

#include "counts.h"
#include "round.h"

enum { ROUNDS = 3 };

int main(int argc, char** argv) {
  plugin library;
  if (argc < 2) return 2;
  for (int i = 0; i < ROUNDS; ++i) {
    if (!open_library(&library, argv[1])) return 1;
    EXPECT(try_create(library.api, no_communicator(), 0, MOEMESH_PROGRESS_AUTO, NULL, 0) == MOEMESH_OK);
    EXPECT(count_process().threads == 2);
    close_library(&library);
    EXPECT(!is_mapped("libmoemesh.so"));
    EXPECT(!is_mapped("libdnnl"));
    usleep(20000);
  }
  return failures == 0 ? 0 : 1;
}
