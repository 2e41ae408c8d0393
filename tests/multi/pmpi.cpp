// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "pmpi.hpp"

#include <mpi.h>

#include <mutex>

namespace pmpi {
namespace {

std::mutex mutex;
Counts totals;

void count_send(const char* name, int count, MPI_Datatype type, int peer, MPI_Comm comm) {
  int size = 0, rank = -1;
  PMPI_Type_size(type, &size);
  PMPI_Comm_rank(comm, &rank);
  const int64_t bytes = static_cast<int64_t>(count) * size;
  const std::lock_guard lock(mutex);
  ++totals.by_name[name];
  if (peer == MPI_PROC_NULL) return;
  (peer == rank ? totals.own_messages : totals.messages) += 1;
  (peer == rank ? totals.own_bytes : totals.bytes) += bytes;
  if (peer != rank && bytes == 0) ++totals.empty;
}

void count_call(const char* name, int64_t Counts::*which) {
  const std::lock_guard lock(mutex);
  ++totals.by_name[name];
  ++(totals.*which);
}

}  // namespace

Counts counts() {
  const std::lock_guard lock(mutex);
  return totals;
}

void reset() {
  const std::lock_guard lock(mutex);
  totals = Counts{};
}

}  // namespace pmpi

extern "C" {

#define PMPI_SEND(name)                                                                              \
  int MPI_##name(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) { \
    pmpi::count_send("MPI_" #name, count, type, peer, comm);                                         \
    return PMPI_##name(data, count, type, peer, tag, comm);                                          \
  }
#define PMPI_ISEND(name)                                                                           \
  int MPI_##name(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
                 MPI_Request* request) {                                                           \
    pmpi::count_send("MPI_" #name, count, type, peer, comm);                                       \
    return PMPI_##name(data, count, type, peer, tag, comm, request);                               \
  }
PMPI_SEND(Send)
PMPI_SEND(Ssend)
PMPI_SEND(Bsend)
PMPI_SEND(Rsend)
PMPI_ISEND(Isend)
PMPI_ISEND(Issend)
PMPI_ISEND(Ibsend)
PMPI_ISEND(Irsend)

// Persistent sends are counted when made, not when started: the library uses none, so any is a finding.
PMPI_ISEND(Send_init)
PMPI_ISEND(Ssend_init)

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  pmpi::count_send("MPI_Sendrecv", out_count, out_type, to, comm);
  return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}

#define PMPI_CALL(name, which, parameters, arguments)     \
  int MPI_##name parameters {                             \
    pmpi::count_call("MPI_" #name, &pmpi::Counts::which); \
    return PMPI_##name arguments;                         \
  }

PMPI_CALL(Barrier, collectives, (MPI_Comm comm), (comm))
PMPI_CALL(Ibarrier, collectives, (MPI_Comm comm, MPI_Request* request), (comm, request))
PMPI_CALL(Bcast, collectives, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
          (data, count, type, root, comm))
PMPI_CALL(Ibcast, collectives,
          (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
          (data, count, type, root, comm, request))
PMPI_CALL(Allreduce, collectives, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
          (in, out, count, type, op, comm))
PMPI_CALL(Iallreduce, collectives,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
          (in, out, count, type, op, comm, request))
PMPI_CALL(Reduce, collectives,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
          (in, out, count, type, op, root, comm))
PMPI_CALL(Ireduce, collectives,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
           MPI_Request* request),
          (in, out, count, type, op, root, comm, request))
PMPI_CALL(Reduce_scatter, collectives,
          (const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
          (in, out, counts, type, op, comm))
PMPI_CALL(Reduce_scatter_block, collectives,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
          (in, out, count, type, op, comm))

#define PMPI_PAIR const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type
PMPI_CALL(Allgather, collectives, (PMPI_PAIR, MPI_Comm comm), (in, in_count, in_type, out, out_count, out_type, comm))
PMPI_CALL(Iallgather, collectives, (PMPI_PAIR, MPI_Comm comm, MPI_Request* request),
          (in, in_count, in_type, out, out_count, out_type, comm, request))
PMPI_CALL(Alltoall, collectives, (PMPI_PAIR, MPI_Comm comm), (in, in_count, in_type, out, out_count, out_type, comm))
PMPI_CALL(Ialltoall, collectives, (PMPI_PAIR, MPI_Comm comm, MPI_Request* request),
          (in, in_count, in_type, out, out_count, out_type, comm, request))
PMPI_CALL(Gather, collectives, (PMPI_PAIR, int root, MPI_Comm comm),
          (in, in_count, in_type, out, out_count, out_type, root, comm))
PMPI_CALL(Scatter, collectives, (PMPI_PAIR, int root, MPI_Comm comm),
          (in, in_count, in_type, out, out_count, out_type, root, comm))

PMPI_CALL(Allgatherv, collectives,
          (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts, const int* places,
           MPI_Datatype out_type, MPI_Comm comm),
          (in, in_count, in_type, out, counts, places, out_type, comm))
PMPI_CALL(Alltoallv, collectives,
          (const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
           const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm comm),
          (in, in_counts, in_places, in_type, out, out_counts, out_places, out_type, comm))
PMPI_CALL(Ialltoallv, collectives,
          (const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
           const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request),
          (in, in_counts, in_places, in_type, out, out_counts, out_places, out_type, comm, request))

PMPI_CALL(Comm_dup, communicators, (MPI_Comm comm, MPI_Comm* out), (comm, out))
PMPI_CALL(Comm_split, communicators, (MPI_Comm comm, int color, int key, MPI_Comm* out), (comm, color, key, out))
PMPI_CALL(Comm_split_type, communicators, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* out),
          (comm, type, key, info, out))
PMPI_CALL(Comm_create, communicators, (MPI_Comm comm, MPI_Group group, MPI_Comm* out), (comm, group, out))
PMPI_CALL(Comm_create_group, communicators, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* out),
          (comm, group, tag, out))
PMPI_CALL(Comm_free, communicators, (MPI_Comm * comm), (comm))

}  // extern "C"
