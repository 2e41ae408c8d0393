/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * The contract between the core and its MPI module (libmoemesh_mpi.so): a versioned table of point-to-point calls. Where there
 * is no MPI, impl/comm/sockets has the same table.
 * Every collective is built on it in communicator.cpp, so the order of messages, their sizes and every wait are the
 * core's own. C, so that the module can be built by another compiler; private: not installed. */
#ifndef MOEMESH_IMPL_COMM_TRANSPORT_H
#define MOEMESH_IMPL_COMM_TRANSPORT_H

#include <stdint.h>

#define MOEMESH_TRANSPORT_VERSION 3
#define MOEMESH_TRANSPORT_ENTRY "moemesh_mpi_transport"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct moemesh_transport_state {
  int32_t initialized;
  int32_t finalized;
  int32_t thread_level; /* 0 single, 1 funneled, 2 serialized, 3 multiple */
  int32_t main_thread;  /* 1: this is the thread that initialized MPI */
} moemesh_transport_state;

/* Functions return 0, or a non-zero code that error_text explains. `comm` and `request` are the module's own objects. */
typedef struct moemesh_transport {
  int64_t struct_size;
  int32_t version;
  int32_t kind;        /* moemesh_comm_kind of the MPI that the module was built for */
  const char* library; /* its name and version */

  int32_t (*state)(moemesh_transport_state* state);
  int32_t (*initialize)(int32_t multiple); /* MPI_Init_thread; MULTIPLE asked, or FUNNELED */
  int32_t (*finalize)(void);

  /* Duplicates the communicator (world != 0: MPI_COMM_WORLD, handle ignored) with errors returned. Collective. */
  int32_t (*open)(int64_t handle, int32_t world, void** comm);
  /* Collective over `ranks` (ascending ranks of `comm`); tag tells concurrent creations apart. */
  int32_t (*group)(void* comm, const int64_t* ranks, int64_t count, int32_t tag, void** sub);
  int32_t (*close)(void* comm); /* collective */
  int32_t (*rank)(void* comm, int64_t* rank, int64_t* size);
  /* The lowest rank of `comm` that shares memory with this one. Collective. */
  int32_t (*node_leader)(void* comm, int64_t* leader);

  /* One message, any size (cut into pieces that fit MPI's int inside), `bytes` 0 included. */
  int32_t (*send)(void* comm, const void* data, int64_t bytes, int64_t peer, int32_t tag, void** request);
  /* capacity: the largest size expected; a message may be shorter (see test). */
  int32_t (*receive)(void* comm, void* data, int64_t capacity, int64_t peer, int32_t tag, void** request);
  /* done = 1: the request is freed and set to NULL; bytes (may be NULL) = the size received, or sent. */
  int32_t (*test)(void** request, int32_t* done, int64_t* bytes);
  /* 1: all pieces of this send are with MPI, so that a later one to the same peer and tag comes after it. */
  int32_t (*handed_over)(void* request);
  /* Takes one message of any size from the peer and throws it away; done = 0: it has not come yet. */
  int32_t (*drain)(void* comm, int64_t peer, int32_t tag, int32_t* done, int64_t* bytes);
  /* Gives up a request whose peer is lost: frees what can be freed. */
  void (*abandon)(void** request);

  void (*error_text)(int32_t code, char* text, int64_t capacity);
} moemesh_transport;

/* The module's one entry: its table, or NULL for a version that it does not have. */
typedef const moemesh_transport* (*moemesh_transport_entry)(int32_t version);

#ifdef __cplusplus
}
#endif
#endif
