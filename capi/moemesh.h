/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors
 *
 * moemesh: the training step of a mixture-of-experts (MoE) model over a device mesh.
 *
 * This is the only header a program needs. It is C11 (and C++), uses <stdint.h> alone, and names no MPI, CUDA or
 * Kokkos type. moemesh_mpi.h adds one inline that turns an MPI_Comm into a moemesh_comm.
 *
 * Rules that hold for every function
 * ----------------------------------
 * Status     Returns MOEMESH_OK (0) or a status of MOEMESH_STATUS_LIST. Positive: the objects are unchanged and usable.
 *            Negative: of the object and its context only destroy is left. On any error every output is untouched
 *            (stated where it can't be so). moemesh_last_error has a text: argument, expected, got, rank.
 * Handles    Opaque. `create` returns one, `destroy` takes its address, sets it to NULL, accepts NULL, is local and can't
 *            fail. A stale or foreign handle is MOEMESH_ERROR_INVALID_HANDLE, never a crash. A parent outlives its
 *            children: destroying a context or mesh that objects still use frees it when the last of them goes.
 * Finalize   Contexts and meshes own communicators: `finalize` (collective) frees them. Destroy without it leaks them
 *            and says so in the log.
 * Collective "Collective over X" means: every rank of X makes the call, in the same order as its other collective calls.
 *            Collective create calls compare their whole configuration over the ranks: a difference, or an error found on
 *            one rank alone, comes back as an error on all of them. A call made with a dead handle or a NULL output
 *            pointer for a handle can't take part: it fails on its rank only.
 * Threads    A context and everything made from it belong to one thread at a time. Different contexts may be used from
 *            different threads at once only where MPI was started with MPI_THREAD_MULTIPLE.
 *            Kernels run on one pool of threads for the whole process; see moemesh_context_params.threads.
 * Arrays     moemesh_view. Row-major: the last extent varies fastest. A Fortran array x(H, T) is the C array [T][H].
 *            Units are elements unless a name says bytes. Each says in which memory it lies (moemesh_memory).
 * Streams    `stream` is a cudaStream_t where the library works on a CUDA device: it reads its inputs and writes its outputs in
 *            the order of that stream; NULL is the device's default stream. On a host it must be NULL (else NOT_SUPPORTED).
 * Structs    Start with struct_size = sizeof of the struct that the caller compiled; fill them by *_init first. A smaller
 *            (older) struct is accepted, a larger one if its unknown tail is zero. `reserved` fields must be 0.
 * Printing   The library prints nothing, never exits, aborts or throws. Messages go to the log callback. (MPI itself may end a
 *            program whose MPI_Init fails, before any error handler can be set: with mpi_init = 1 too.)
 * Order      context -> mesh -> two families -> layers and parameter_register -> family_commit (both) -> optimizer; then a
 *            step is step_begin, for each microbatch forward, backward (and gradient_ready), in the order that a
 *            moemesh_pipeline gives where pp > 1, then optimizer_step; at the end
 *            destroy all, mesh_finalize and context_finalize before their destroys, shutdown last.
 *            params pointers of context_create, step_begin and optimizer_step may be NULL (defaults); others may not.
 * Symbols    T tokens of this rank's data shard and microbatch, H hidden, F ffn, E experts, k experts a token.
 */
#ifndef MOEMESH_H
#define MOEMESH_H

#include <stdint.h>

#if defined(_WIN32)
#error "moemesh supports ELF platforms only"
#endif
#define MOEMESH_API __attribute__((visibility("default")))

#define MOEMESH_VERSION_MAJOR 0
#define MOEMESH_VERSION_MINOR 1
#define MOEMESH_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ status */

/* The one list of statuses: X(name, value, text). 0 = ok, positive = nothing changed, negative = only destroy is left. */
#define MOEMESH_STATUS_LIST(X)                                                                         \
  X(OK, 0, "ok")                                                                                       \
  X(ERROR_INVALID_ARGUMENT, 1, "an argument is null, out of range or of the wrong shape")              \
  X(ERROR_INVALID_HANDLE, 2, "the handle was never created, was destroyed, or is of another kind")     \
  X(ERROR_INVALID_STATE, 3, "the call is not allowed in the object's present state")                   \
  X(ERROR_INVALID_STRUCT, 4, "struct_size is zero, below the first release's size, or above 4096")     \
  X(ERROR_UNKNOWN_OPTION, 5, "a field that this version does not know is not zero")                    \
  X(ERROR_NOT_SUPPORTED, 6, "this build or release does not have the feature")                         \
  X(ERROR_OUT_OF_MEMORY, 7, "memory could not be had")                                                 \
  X(ERROR_MISMATCH, 8, "the ranks do not agree on the configuration")                                  \
  X(ERROR_MESH_SIZE, 9, "the axis sizes do not factor")                                                \
  X(ERROR_NONFINITE_ROUTER, 10, "a router row has NaN, +inf or fewer than k finite logits")            \
  X(ERROR_PEER_FAILED, 11, "another rank failed in this call")                                         \
  X(ERROR_NOT_FOUND, 12, "no object of that name")                                                     \
  X(ERROR_MPI_UNAVAILABLE, 13, "the MPI module could not be loaded")                                   \
  X(ERROR_MPI_NOT_INITIALIZED, 14, "MPI is not initialized and the library was not asked to do it")    \
  X(ERROR_MPI_FINALIZED, 15, "MPI is already finalized")                                               \
  X(ERROR_MPI_KIND, 16, "the communicator is of another MPI than the MPI module")                      \
  X(ERROR_MPI_THREAD_LEVEL, 17, "MPI was started at a thread level that forbids this call")            \
  X(ERROR_KOKKOS_FINALIZED, 18, "Kokkos was finalized and can't be started again")                     \
  X(ERROR_KOKKOS_VERSION, 19, "the loaded Kokkos is not the one the library was compiled with")        \
  X(ERROR_STEP_FAILED, 20, "a rank failed earlier in this step; the step was dropped on every rank")   \
  X(ERROR_FILE, 21, "a file could not be written")                                                     \
  X(ERROR_NO_DEVICE, 22, "no device, or no driver for it, can be used")                                \
  X(ERROR_INTERNAL, -1, "a defect in the library")                                                     \
  X(ERROR_COMMUNICATION, -2, "the transport failed; the context is broken")                            \
  X(ERROR_TIMEOUT, -3, "a wait passed the context's deadline; the context is broken")

typedef enum moemesh_status {
#define MOEMESH_STATUS_ENUM(name, value, text) MOEMESH_##name = value,
  MOEMESH_STATUS_LIST(MOEMESH_STATUS_ENUM)
#undef MOEMESH_STATUS_ENUM
} moemesh_status;

/* "MOEMESH_ERROR_..." and the list's text; never NULL, static storage; an unknown value gives "MOEMESH_UNKNOWN". */
MOEMESH_API const char* moemesh_status_name(int32_t status);
MOEMESH_API const char* moemesh_status_text(int32_t status);

/* The library's version (three int32, all required). May be called at any time. */
MOEMESH_API int32_t moemesh_version(int32_t* major, int32_t* minor, int32_t* patch);

/* ------------------------------------------------------------------------------------------------ handles */

/* Handles (see the rules above). */
typedef struct moemesh_context_handle* moemesh_context;
typedef struct moemesh_mesh_handle* moemesh_mesh;
typedef struct moemesh_family_handle* moemesh_family;
typedef struct moemesh_parameter_handle* moemesh_parameter; /* belongs to its family; has no destroy */
typedef struct moemesh_layer_handle* moemesh_layer;
typedef struct moemesh_tape_handle* moemesh_tape;
typedef struct moemesh_optimizer_handle* moemesh_optimizer;
typedef struct moemesh_pipeline_handle* moemesh_pipeline;
typedef struct moemesh_bill_handle* moemesh_bill;
typedef struct moemesh_report_handle* moemesh_report;

/* Text of the last error in `context`, or with NULL the calling thread's last error of any kind. Errors that can't be tied to
 * a context (a dead handle, no context yet) have their text under NULL only: after a failure, NULL always has its text.
 * Copies at most capacity-1 bytes and a final 0 to `buffer` (may be NULL if capacity is 0); `length` (may be NULL)
 * receives the whole length in bytes without the 0. A successful call does not clear the text. */
MOEMESH_API int32_t moemesh_last_error(moemesh_context context, char* buffer, int64_t capacity, int64_t* length);

/* Finalizes what the library itself started (MPI if it was asked to initialize it, its private Kokkos); to be called
 * after every context is destroyed, else MOEMESH_ERROR_INVALID_STATE. Where there was a context, later context_create calls return
 * MOEMESH_ERROR_KOKKOS_FINALIZED. Optional where MPI is the program's own; with mpi_init = 1 call it, or MPI launchers
 * report an improper exit. */
MOEMESH_API int32_t moemesh_shutdown(void);

/* ------------------------------------------------------------------------------------------------ arrays */

/* Types of elements. */
typedef enum moemesh_dtype {
  MOEMESH_FLOAT32 = 1,
  MOEMESH_FLOAT64 = 2,
  MOEMESH_BFLOAT16 = 3, /* the upper half of a FLOAT32; conversions round to nearest, ties to even */
  MOEMESH_INT32 = 4,
  MOEMESH_INT64 = 5,
  MOEMESH_UINT8 = 6 /* masks: 0 or not 0 */
} moemesh_dtype;

/* Which memory an array lies in. libmoemesh takes and gives HOST alone (else NOT_SUPPORTED). libmoemesh_cuda works on CUDA
 * arrays in place; HOST ones it copies to the device and back, within the call, which then ends when the copy is there. The
 * arrays that it owns and hands out (parameter_acquire, get_gradient) are CUDA, those of a pipeline's actions HOST (pinned).
 * Small results (routing, rows, biases, whole parameters that are read or written, the caller's collectives) are HOST always. */
typedef enum moemesh_memory {
  MOEMESH_MEMORY_HOST = 1,
  MOEMESH_MEMORY_CUDA = 2 /* of the context's device; managed memory counts as this */
} moemesh_memory;

/* An array that the caller owns. Fixed layout for ever, so it has no struct_size. */
typedef struct moemesh_view {
  int32_t dtype;      /* moemesh_dtype */
  int32_t memory;     /* moemesh_memory */
  int32_t rank;       /* 1..4: how many extents count */
  int32_t reserved;   /* 0 */
  int64_t extents[4]; /* elements */
  int64_t strides[4]; /* elements between neighbours of each dimension; the last used one must be 1 unless stated */
  void* data;         /* aligned to its element size; may be NULL where an extent is 0; not written where it is an input */
} moemesh_view;

/* Fills `view` as a dense row-major host array (for another one set `memory` afterwards). extents has `rank` entries. */
MOEMESH_API int32_t moemesh_view_init(moemesh_view* view, int32_t dtype, int32_t rank, const int64_t* extents, void* data);

/* Copies the elements of `from` to `to`, from any memory to any: same dtype and extents, each dense but for the stride of its
 * first dimension; no overlap. For programs that are written for hosts and devices alike. Local; blocks. A device's stream that
 * still writes `from` must have been waited for. */
MOEMESH_API int32_t moemesh_view_copy(const moemesh_view* from, const moemesh_view* to);

/* ------------------------------------------------------------------------------------------------ context */

/* Which MPI a communicator handle belongs to. Fortran handle 0 is MPI_COMM_WORLD in Open MPI, so a number alone means
 * nothing. MPI_WORLD: the world of the MPI that the module was built for, for programs that do not include mpi.h. */
typedef enum moemesh_comm_kind {
  MOEMESH_COMM_NONE = 0, /* one rank, no MPI */
  MOEMESH_COMM_OPENMPI = 1,
  MOEMESH_COMM_MPICH_ABI = 2,
  MOEMESH_COMM_MPI_ABI = 3, /* MPI 5 ABI: not supported in this release */
  MOEMESH_COMM_MPI_WORLD = 4,
  MOEMESH_COMM_NCCL = 5 /* no MPI: ranks that share a ncclUniqueId, see moemesh_nccl_comm */
} moemesh_comm_kind;

/* For MOEMESH_COMM_NCCL: moemesh_comm.handle is the address of one, which is read during context_create. A library that was built
 * without NCCL, as libmoemesh is, returns NOT_SUPPORTED.
 * context_create makes NCCL's communicator of the id, on params.device. By it the ranks learn each other's addresses, and each
 * connects with each by TCP: what the library has to say itself, and arrays in the host's memory, go that way. Each process has
 * size - 1 such sockets (ulimit -n), at any free port. They are meant for a network that is trusted, as NCCL's own are: nothing
 * is encrypted, but only who knows 32 random bytes, which rank 0 gave to all by NCCL, is let in, and nobody once all are there.
 * Interface: the first that is up and neither loopback nor a bridge of containers, else loopback, IPv4 first; or by the
 * environment's MOEMESH_SOCKET_IFNAME, else NCCL_SOCKET_IFNAME: beginnings of names ("eth,ib"), whole names ("=eth0,eth1"),
 * all but those ("^docker", "^=eth2").
 * What a rank finds wrong before it can talk to others (no device, a size, rank or id that makes no sense) it returns alone, and
 * they wait for it as long as timeout_seconds says; what it finds later, all return. Without a deadline NCCL waits for ever for a
 * rank that never comes, the sockets for 300 s. A rank whose process ends is noticed by the others without any deadline, one that
 * is cut off after a minute or more: ERROR_COMMUNICATION, with its number. Threads: as with MPI_THREAD_MULTIPLE. */
typedef struct moemesh_nccl_comm {
  int64_t struct_size;
  int64_t rank;   /* 0-based */
  int64_t size;   /* how many ranks there are */
  int64_t id[16]; /* the 128 bytes of the ncclUniqueId, the same on every rank: one makes it and hands it to the others */
} moemesh_nccl_comm;

/* Use moemesh_comm_from_mpi of moemesh_mpi.h to make one from an MPI_Comm. */
typedef struct moemesh_comm {
  int64_t handle; /* MPI_Comm_c2f of an intra-communicator; ignored for NONE and MPI_WORLD; NCCL: an address */
  int32_t kind;   /* moemesh_comm_kind */
  int32_t reserved;
} moemesh_comm;

/* How detailed a message is. */
typedef enum moemesh_log_level {
  MOEMESH_LOG_ERROR = 1,
  MOEMESH_LOG_WARNING = 2,
  MOEMESH_LOG_INFO = 3,
  MOEMESH_LOG_DEBUG = 4
} moemesh_log_level;

/* Called on the thread that made the API call; must not call the library; `message` lives during the call. */
typedef void (*moemesh_log_function)(void* user, int32_t level, const char* message);

/* Host allocator. allocate: `bytes` > 0, `alignment` a power of two; NULL = out of memory. Called from the thread that
 * made the API call; must not call the library. Holds parameters, gradients, optimizer state and activations; small
 * bookkeeping uses the C++ heap. */
typedef void* (*moemesh_allocate_function)(void* user, int64_t bytes, int64_t alignment);
typedef void (*moemesh_free_function)(void* user, void* pointer, int64_t bytes);

/* The clock of moemesh_report: nanoseconds since any moment, never going back. Each rank's may have an origin of its own and
 * run up to 100 ppm fast or slow. Called from any thread that works for the library, often; must not call the library. */
typedef int64_t (*moemesh_clock_function)(void* user);

/* Who moves the messages that go on while the program computes: gradient reductions, parameter gathers, the exchanges of a
 * chunked layer, rows between pipeline stages. MPI moves large messages only while somebody calls it.
 * THREAD: a thread of the library's own, which sleeps while there is nothing to move and otherwise looks every 50 us, or
 *   less often, down to every ms, while nothing arrives. It needs MPI_THREAD_MULTIPLE (else MPI_THREAD_LEVEL), runs no kernels of
 *   the pool and calls neither log nor allocator.
 * CALLS: they move while this rank is inside the library: when it waits for something, and at gradient_ready and between the
 *   products of experts. What the program computes itself then hides little of them.
 * AUTO: THREAD where MPI is at MPI_THREAD_MULTIPLE, else CALLS. */
typedef enum moemesh_progress {
  MOEMESH_PROGRESS_AUTO = 0,
  MOEMESH_PROGRESS_THREAD = 1,
  MOEMESH_PROGRESS_CALLS = 2
} moemesh_progress;

/* For moemesh_context_create. */
typedef struct moemesh_context_params {
  int64_t struct_size;
  moemesh_comm comm;                   /* default NONE. Duplicated: the caller may free its own after create */
  moemesh_log_function log;            /* default NULL: silent */
  void* log_user;                      /* passed back to log */
  moemesh_allocate_function allocate;  /* default NULL: the C library's; both or neither */
  moemesh_free_function free;          /* as above */
  void* allocator_user;                /* passed back to both */
  moemesh_clock_function clock;        /* default NULL: the system's steady clock. Deadlines use that one always */
  void* clock_user;                    /* passed back to clock */
  double timeout_seconds;              /* deadline of every wait for messages; 0 (default) = none. Past it: ERROR_TIMEOUT.
                                          MPI's own calls that start it and that make or free communicators have none
                                          (context_create, mesh_create, the first use of new axes, finalize, shutdown).
                                          Set one while a program is young: a rank that skips a collective call, or makes
                                          it in another order, otherwise leaves the others waiting for ever */
  int32_t log_level;                   /* most detailed level wanted, default MOEMESH_LOG_WARNING */
  int32_t mpi_init;                    /* 0 (default): MPI must be up. 1: initialize it if it is not (MPI_THREAD_MULTIPLE
                                          is asked for, FUNNELED with MOEMESH_PROGRESS_CALLS) */
  int32_t threads;                     /* size of the process's kernel pool, <= 4096, fixed by the first context. 0 (default):
                                          OMP_NUM_THREADS if set, else the cores this process may run on divided by the
                                          ranks of the communicator on this node, at least 1. Later contexts share the
                                          pool; another number than it has is logged and ignored */
  int32_t progress;                    /* moemesh_progress, default AUTO */
  int32_t device;                      /* number of the CUDA device; -1 (default): the one that is current when context_create
                                          is called. All contexts of a process share one. On a host: -1 (else NOT_SUPPORTED) */
  int32_t reserved;                    /* 0 */
  int32_t deterministic;               /* of sums between devices: 0 (default): NCCL's own, whose order, and so the last bits,
                                          may differ with the number of ranks, sizes and releases. 1: as on hosts, where it is
                                          always so, each sum is made by one rank, contributions in group order, and its bits
                                          depend on no chunk, policy or stage. Equal on all ranks */
  int32_t reserved2;                   /* 0 */
} moemesh_context_params;

/* What moemesh_context_get_info tells. */
typedef struct moemesh_context_info {
  int64_t struct_size;
  int64_t rank;       /* in the context's communicator */
  int64_t size;
  int64_t node;       /* 0-based number of this rank's shared-memory node, in order of its lowest rank */
  int64_t nodes;
  int32_t comm_kind;  /* moemesh_comm_kind in use (MPI_WORLD is reported as the real kind) */
  int32_t threads;    /* of the kernel pool */
  int32_t progress;   /* MOEMESH_PROGRESS_THREAD or CALLS: which one this context has */
  int32_t memory;     /* moemesh_memory that kernels work in: CUDA where the library works on a device */
  int32_t device;     /* its number, -1 on hosts */
  int32_t reserved;
} moemesh_context_info;

MOEMESH_API int32_t moemesh_context_params_init(moemesh_context_params* params, int64_t struct_size);
/* Collective over the communicator. Errors: MPI_* and KOKKOS_* statuses, INVALID_ARGUMENT (also for a communicator that MPI
 * does not duplicate), NO_DEVICE, and what one rank found, on all of them; timeouts, threads and the like may differ.
 * params NULL = defaults. */
MOEMESH_API int32_t moemesh_context_create(const moemesh_context_params* params, moemesh_context* context);
/* info->struct_size is set by the caller. */
MOEMESH_API int32_t moemesh_context_get_info(moemesh_context context, moemesh_context_info* info);
/* Collective over the context: frees its communicator. Meshes must be finalized before (else INVALID_STATE). Afterwards
 * only destroy is left. Where MPI is already finalized it frees nothing of MPI and returns OK. */
MOEMESH_API int32_t moemesh_context_finalize(moemesh_context context);
MOEMESH_API void moemesh_context_destroy(moemesh_context* context);

/* ------------------------------------------------------------------------------------------------ mesh */

/* Axes; a group is the set of ranks that agree on every axis but the named ones, in ascending rank order.
 * The first four are the dense grid's. EXPERT_* are the expert grid's: the ranks of one stage, renumbered in the order
 * string with pp left out, read as mixed radix with tp replaced by expert_tp and dp by expert_dp, where
 * expert_tp*ep*expert_dp = tp*ep*dp. Axes of the two grids can't be mixed (PP belongs to both). With expert_tp = tp the
 * grids are the same. */
enum {
  MOEMESH_AXIS_TP = 1,
  MOEMESH_AXIS_EP = 2,
  MOEMESH_AXIS_PP = 4,
  MOEMESH_AXIS_DP = 8,
  MOEMESH_AXIS_EXPERT_TP = 16,
  MOEMESH_AXIS_EXPERT_EP = 32,
  MOEMESH_AXIS_EXPERT_DP = 64,
  /* the groups that have names */
  MOEMESH_GROUP_WORLD = 15,           /* every rank */
  MOEMESH_GROUP_STAGE = 11,           /* the ranks of one pipeline stage */
  MOEMESH_GROUP_SHARED_GRADIENT = 10, /* dp x ep: where SHARED gradients are summed */
  MOEMESH_GROUP_EXPERT_GRADIENT = 64, /* expert_dp: where EXPERT gradients are summed */
  MOEMESH_GROUP_EXPERT_EXCHANGE = 32  /* ep: where tokens are exchanged */
};

/* For moemesh_mesh_create and moemesh_mesh_plan. */
typedef struct moemesh_mesh_params {
  int64_t struct_size;
  int32_t tp;              /* tensor, default 1 */
  int32_t ep;              /* expert, default 1 */
  int32_t pp;              /* pipeline, default 1 */
  int32_t dp;              /* data, default 1; tp*ep*pp*dp must be the number of ranks (else MESH_SIZE) */
  int32_t expert_tp;       /* divides tp (else MESH_SIZE); 0 (default) = tp. With expert_tp < tp a shard's tokens are cut
                              over its tp/expert_tp slices for the experts, and the outputs gathered */
  int32_t ranks_per_node;  /* for moemesh_mesh_plan: ranks [i*n, (i+1)*n) share a node; 0 (default) = all on one node.
                              Ignored (must be 0) by moemesh_mesh_create, which asks MPI */
  const char* order;       /* the four axes, joined by '-', leftmost varying fastest over the ranks; NULL (default) =
                              "tp-ep-pp-dp"; copied */
} moemesh_mesh_params;

/* Where a rank sits. expert_* are its place in the expert grid. */
typedef struct moemesh_coordinates {
  int64_t struct_size;
  int64_t tp;
  int64_t ep;
  int64_t pp;
  int64_t dp;
  int64_t expert_tp;
  int64_t expert_ep;
  int64_t expert_dp;
  int64_t data_shard; /* dp*ep_size + ep: which data shard feeds this rank; tp peers and stages share it */
} moemesh_coordinates;

/* One group of the mesh. */
typedef struct moemesh_group {
  int64_t struct_size;
  int64_t size;     /* ranks in the group */
  int64_t position; /* of the asked rank within it, 0-based */
  int64_t groups;   /* groups of this kind in the mesh: world/size */
  int64_t node_crossing; /* 1: some group of this kind has ranks on more than one node, else 0 */
} moemesh_group;

/* One axis. */
typedef struct moemesh_axis_report {
  int64_t struct_size;
  int64_t size;
  int64_t stride;        /* rank distance of neighbours along the axis (dense axes), or index distance within the stage's
                            renumbering (EXPERT_* axes) */
  int64_t node_crossing; /* as in moemesh_group */
} moemesh_axis_report;

MOEMESH_API int32_t moemesh_mesh_params_init(moemesh_mesh_params* params, int64_t struct_size);
/* Collective over the context. Logs a warning where tp groups cross nodes. */
MOEMESH_API int32_t moemesh_mesh_create(moemesh_context context, const moemesh_mesh_params* params, moemesh_mesh* mesh);
/* A mesh of `world` ranks without a communicator: answers the queries below for any rank, in constant time and memory;
 * everything else on it returns INVALID_STATE. Local. `context` may be NULL. */
MOEMESH_API int32_t moemesh_mesh_plan(moemesh_context context, int64_t world, const moemesh_mesh_params* params, moemesh_mesh* mesh);
MOEMESH_API int32_t moemesh_mesh_get_coordinates(moemesh_mesh mesh, int64_t rank, moemesh_coordinates* coordinates);
/* axes: MOEMESH_AXIS_* added together, or a MOEMESH_GROUP_*. */
MOEMESH_API int32_t moemesh_mesh_get_group(moemesh_mesh mesh, int32_t axes, int64_t rank, moemesh_group* group);
/* The rank at `position` of the group that `rank` is in. */
MOEMESH_API int32_t moemesh_mesh_get_group_member(moemesh_mesh mesh, int32_t axes, int64_t rank, int64_t position, int64_t* member);
/* One axis constant only. */
MOEMESH_API int32_t moemesh_mesh_get_axis_report(moemesh_mesh mesh, int32_t axis, moemesh_axis_report* report);
/* Of `experts` experts, the rank's first (global index) and number: contiguous by ep coordinate, the first
 * experts mod ep coordinates own one more. */
MOEMESH_API int32_t moemesh_mesh_get_experts(moemesh_mesh mesh, int64_t experts, int64_t rank, int64_t* first, int64_t* count);
/* Collective over the context: frees the group communicators. Afterwards only destroy is left (of children too). */
MOEMESH_API int32_t moemesh_mesh_finalize(moemesh_mesh mesh);
MOEMESH_API void moemesh_mesh_destroy(moemesh_mesh* mesh);

/* ------------------------------------------------------------------------------------------------ the caller's collectives */

/* How contributions are combined. */
typedef enum moemesh_reduce_op { MOEMESH_SUM = 1, MOEMESH_MAX = 2 } moemesh_reduce_op;

/* Collectives over the group of `axes` that this rank is in, on the caller's dense host arrays (strides row-major dense),
 * for the parts of the model that are the caller's own (attention over tp, losses over shards). They block, are recorded
 * in the ledger under phase CALLER, and are deterministic: contributions are combined in group order.
 * dtypes: FLOAT32, FLOAT64, INT32, INT64. The number of elements, dtype, op and root are compared over the group first (a few
 * words): a difference is ERROR_MISMATCH, and a bad argument of one rank comes back, on every rank of it, with all arrays
 * untouched. The first use of a new `axes` value creates its communicator (collective over the group). */
MOEMESH_API int32_t moemesh_all_reduce(moemesh_mesh mesh, int32_t axes, int32_t op, const moemesh_view* array);
/* receive has group-size times the elements of send, ordered by group position; no overlap of the two. */
MOEMESH_API int32_t moemesh_all_gather(moemesh_mesh mesh, int32_t axes, const moemesh_view* send, const moemesh_view* receive);
/* send has group-size times the elements of receive; position p receives the combined p-th part. */
MOEMESH_API int32_t moemesh_reduce_scatter(moemesh_mesh mesh, int32_t axes, int32_t op, const moemesh_view* send,
                                           const moemesh_view* receive);
/* root: a group position. */
MOEMESH_API int32_t moemesh_broadcast(moemesh_mesh mesh, int32_t axes, int64_t root, const moemesh_view* array);

/* ------------------------------------------------------------------------------------------------ ledger */

/* Kinds of communication in the ledger. */
typedef enum moemesh_collective {
  MOEMESH_COLLECTIVE_ALL_TO_ALL = 1,     /* payload of dispatch, combine and their backwards */
  MOEMESH_COLLECTIVE_COUNT_EXCHANGE = 2, /* the small all-to-all before a layer's payload that tells sizes, and in which call a
                                            rank is; at stage 2, before each sum of a parameter and once at the step's end
                                            (family 0), the latter: 32 bytes a peer. Between devices also a header of 32
                                            bytes to each peer before each all-to-all, sum over tp and sum at stage 2 */
  MOEMESH_COLLECTIVE_ALL_REDUCE = 3,
  MOEMESH_COLLECTIVE_ALL_GATHER = 4,
  MOEMESH_COLLECTIVE_REDUCE_SCATTER = 5,
  MOEMESH_COLLECTIVE_BROADCAST = 6, /* phase UPDATE: the order of the reductions, over the stage, once (OVERLAP_EAGER, GAPS) */
  MOEMESH_COLLECTIVE_AGREEMENT = 7, /* configuration and error agreement, norm, windows of OVERLAP_GAPS (over the stage, once a
                                       step): a few words down and up a tree */
  MOEMESH_COLLECTIVE_PIPELINE = 8,  /* activations to the next stage, gradients to the previous one: a call sends a header of
                                       32 bytes and, where there are rows, the rows. Receiving is not counted */
  MOEMESH_COLLECTIVE_CLOCK = 9 /* while a moemesh_report records: the sender's post time (8 bytes) with each message of
                                  ALL_TO_ALL, COUNT_EXCHANGE, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER and PIPELINE, in messages
                                  of its own and without calls; and the comparisons of clocks, which are calls over all ranks */
} moemesh_collective;

/* Parts of a step in the ledger. */
typedef enum moemesh_phase {
  MOEMESH_PHASE_SETUP = 1,    /* create calls, reading parameters */
  MOEMESH_PHASE_FORWARD = 2,
  MOEMESH_PHASE_BACKWARD = 3,
  MOEMESH_PHASE_REDUCTION = 4, /* gradients */
  MOEMESH_PHASE_UPDATE = 5,    /* norm, gathering parameters */
  MOEMESH_PHASE_CALLER = 6,
  MOEMESH_PHASE_RECOMPUTE = 7  /* what a backward or a replay sends once more of a forward (moemesh_recompute) */
} moemesh_phase;

/* What this rank did since the mesh was created or the ledger was last reset: one entry for each (axes, family, phase,
 * collective) that occurred. Collectives over groups of one rank do nothing and are not recorded. */
typedef struct moemesh_ledger_entry {
  int64_t struct_size;
  int64_t calls;
  int64_t messages;        /* point-to-point messages that this rank sent; a payload all-to-all has one for each peer, an
                              empty one where no row goes, so that every peer hears of a failure in the same call */
  int64_t bytes;           /* payload bytes that this rank sent to other ranks */
  int64_t bytes_internode; /* the part of bytes that left the node */
  int32_t axes;            /* MOEMESH_AXIS_* */
  int32_t family;          /* moemesh_family_kind, or 0 */
  int32_t phase;           /* moemesh_phase */
  int32_t collective;      /* moemesh_collective */
} moemesh_ledger_entry;

/* How many entries there are. */
MOEMESH_API int32_t moemesh_ledger_get_count(moemesh_mesh mesh, int64_t* count);
/* index 0 .. count-1; order: by axes, family, phase, collective. */
MOEMESH_API int32_t moemesh_ledger_get_entry(moemesh_mesh mesh, int64_t index, moemesh_ledger_entry* entry);
MOEMESH_API int32_t moemesh_ledger_reset(moemesh_mesh mesh);

/* ------------------------------------------------------------------------------------------------ families and parameters */

/* Parameters that are replicated over the same ranks. SHARED: everything but experts; gradients are summed over dp x ep.
 * EXPERT: expert weights; gradients are summed over expert_dp. Both sums are then multiplied by the SAME factor
 * (see moemesh_step_begin), never divided by the size of the group that was reduced over. */
typedef enum moemesh_family_kind { MOEMESH_SHARED = 1, MOEMESH_EXPERT = 2 } moemesh_family_kind;

/* For moemesh_family_create. */
typedef struct moemesh_family_params {
  int64_t struct_size;
  int64_t seed;     /* of the initial weights, default 0; equal on all ranks */
  int32_t kind;     /* moemesh_family_kind; required */
  int32_t dtype;    /* of its parameters: MOEMESH_FLOAT32 (default) or BFLOAT16. Main gradients, masters and moments are
                       FLOAT32 always; fp32 parameters are their own masters */
} moemesh_family_params;

/* How a parameter relates to the family's tp axis (tp for SHARED, expert_tp for EXPERT). */
typedef enum moemesh_tp_kind {
  MOEMESH_TP_REPLICA = 1, /* whole on every tp rank, gradients already equal; its norm counts on tp 0 */
  MOEMESH_TP_SHARDED = 2, /* dimension tp_dim is cut into equal parts, rank i holds part i */
  MOEMESH_TP_PARTIAL = 3  /* whole on every tp rank, gradients are partial sums: summed over tp before the family's sum */
} moemesh_tp_kind;

/* Initial weights depend on (seed, name, global expert index, element index in the unsplit matrix) alone. */
typedef enum moemesh_init_kind {
  MOEMESH_INIT_CONSTANT = 1, /* init_value everywhere */
  MOEMESH_INIT_NORMAL = 2,   /* mean 0, standard deviation init_value */
  MOEMESH_INIT_UNIFORM = 3   /* in [-init_value, init_value) */
} moemesh_init_kind;

/* For moemesh_parameter_register. */
typedef struct moemesh_parameter_params {
  int64_t struct_size;
  const char* name;     /* unique in the family, global (contains the layer number), at most 255 bytes; copied */
  int64_t experts;      /* EXPERT: how many experts the stack has in all (>= 1), split over ep; SHARED: 0 */
  int64_t extents[4];   /* of the unsplit parameter, of one expert for EXPERT; the first `rank` count */
  void* data;           /* NULL (default): the library owns it, flat. Else this rank's part (see moemesh_parameter_get_info),
                           dense, aligned to its elements, no part of it borrowed twice (not checked), borrowed until the
                           family is destroyed; its values are kept as they are at commit */
  void* gradient;       /* NULL (default): the library owns the fp32 main gradient. Else an fp32 array of the local
                           shape, borrowed likewise: the library accumulates and reduces in it */
  double init_value;    /* see moemesh_init_kind; default 0 */
  double decay_scale;   /* multiplies the optimizer's weight decay, default 1; 0 = no decay */
  double learning_rate_scale; /* multiplies the learning rate, default 1 */
  int32_t rank;         /* 1..3 for EXPERT, 1..4 for SHARED */
  int32_t dtype;        /* 0 (default) = the family's; another one is NOT_SUPPORTED */
  int32_t tp_kind;      /* moemesh_tp_kind, default REPLICA */
  int32_t tp_dim;       /* of SHARDED: which extent is cut; tp must divide it */
  int32_t init_kind;    /* moemesh_init_kind, default CONSTANT */
  int32_t tied;         /* 1: SHARED only: the parameters of this name on the first and on the last stage are one. Their
                           gradients are summed over both stages after the family's sum, the norm counts them once, and they
                           have equal bits after each step. Both stages must register them alike, borrowed on both or on none,
                           with equal values then (family_commit compares them), and write the same values to both later. With
                           pp = 1 it changes nothing. Default 0 */
} moemesh_parameter_params;

/* What moemesh_parameter_get_info tells. */
typedef struct moemesh_parameter_info {
  int64_t struct_size;
  int64_t experts;       /* as registered */
  int64_t first_expert;  /* global index of the first one here (EXPERT), else 0 */
  int64_t local_experts; /* here (EXPERT), else 0 */
  int64_t elements;      /* here */
  int64_t extents[4];    /* unsplit, as registered */
  int32_t rank;
  int32_t family;        /* moemesh_family_kind */
  int32_t tp_kind;
  int32_t tp_dim;
} moemesh_parameter_info;

MOEMESH_API int32_t moemesh_family_params_init(moemesh_family_params* params, int64_t struct_size);
/* Collective over the context. */
MOEMESH_API int32_t moemesh_family_create(moemesh_mesh mesh, const moemesh_family_params* params, moemesh_family* family);
MOEMESH_API void moemesh_family_destroy(moemesh_family* family);

MOEMESH_API int32_t moemesh_parameter_params_init(moemesh_parameter_params* params, int64_t struct_size);
/* Local; before commit. The order of registration does not matter. This rank's part has the shape
 * [local_experts, extents with tp_dim cut] (EXPERT) or [extents with tp_dim cut] (SHARED), row-major. */
MOEMESH_API int32_t moemesh_parameter_register(moemesh_family family, const moemesh_parameter_params* params,
                                               moemesh_parameter* parameter);
/* Collective over the context: compares the registered parameters over the ranks of each stage, lays them out by name,
 * allocates and initializes what the library owns. After it nothing can be registered; before it nothing can be used.
 * On error the family is as before. */
MOEMESH_API int32_t moemesh_family_commit(moemesh_family family);
MOEMESH_API int32_t moemesh_parameter_find(moemesh_family family, const char* name, moemesh_parameter* parameter);
MOEMESH_API int32_t moemesh_parameter_get_info(moemesh_parameter parameter, moemesh_parameter_info* info);

/* This rank's current values, shape as above, until release. Waits for values that are still being gathered (only with
 * moemesh_optimizer_params.prefetch). The values are there in the order of `stream`. */
MOEMESH_API int32_t moemesh_parameter_acquire(moemesh_parameter parameter, void* stream, moemesh_view* view);
MOEMESH_API int32_t moemesh_parameter_release(moemesh_parameter parameter);
/* This rank's fp32 main gradient, same shape; needs an optimizer (else INVALID_STATE). During a step: what was accumulated so
 * far. At stage 2 it is the array that the microbatch in progress is accumulated in: zero where it was not asked for since the
 * parameter's last gradient_ready, which takes it back. */
MOEMESH_API int32_t moemesh_parameter_get_gradient(moemesh_parameter parameter, moemesh_view* view);
/* Says that this microbatch's gradient of `parameter` is complete on this rank. gradient: fp32, the local shape, any
 * strides, added into the main gradient; or NULL where the caller accumulated into the main gradient itself.
 * Once per parameter and microbatch of the open step (more is INVALID_STATE); a missing one counts as zero. Layers do it
 * for their own parameters.
 * Local at stages 0 and 1. At stage 2 it sums over the family's group at once: collective over dp x ep (the whole stage where
 * expert_tp differs from tp), whose ranks first tell each other in which call they are; a group of one rank has nothing to
 * sum and stays local. So every rank of it makes these calls, of both families, and the backwards of its layers, in one order
 * (a rank without tokens hands in NULL). Ranks found in different calls drop the step: MISMATCH here, STEP_FAILED at its end.
 * Where a rank failed, nothing is summed any more in this step: OK here, STEP_FAILED at its end. Ranks of one ep x tp block
 * that swap it with a layer's call wait for each other until the deadline.
 * A call refused for its arguments changes nothing and fails no step, but at stage 2, where others waited for it, it does. */
MOEMESH_API int32_t moemesh_gradient_ready(moemesh_parameter parameter, const moemesh_view* gradient, void* stream);
/* The caller wrote parameter values itself (through acquired views or borrowed memory): refreshes what is derived from
 * them: the masters of BFLOAT16 parameters, where a value differs from its rounded master. Moments and counters stay. */
MOEMESH_API int32_t moemesh_parameters_changed(moemesh_family family);

/* What of a parameter is read or written whole. */
typedef enum moemesh_quantity {
  MOEMESH_VALUE = 1,
  MOEMESH_GRADIENT = 2, /* of the last finished step: reduced, divided, before clipping */
  MOEMESH_MASTER = 3,   /* fp32 parameters are their own masters */
  MOEMESH_MOMENT1 = 4,  /* AdamW's first moment, SGD's momentum */
  MOEMESH_MOMENT2 = 5   /* AdamW's second moment */
} moemesh_quantity;

/* The whole unsplit parameter (of one global expert for EXPERT; expert = 0 for SHARED) of this rank's stage, whatever the
 * sharding: fp32, dense, the registered extents, bit-exact. Collective over the ranks of the stage; every one gets it.
 * Moments, and the MASTER of a BFLOAT16 parameter, need an optimizer with that state (else NOT_FOUND). */
MOEMESH_API int32_t moemesh_parameter_read(moemesh_parameter parameter, int32_t quantity, int64_t expert, const moemesh_view* array);
/* The reverse: every rank of the stage passes the same whole array and keeps its part. Local. GRADIENT can't be written.
 * VALUE and MASTER each set both: the master exactly, a BFLOAT16 value rounded from it. Before there is an optimizer a BFLOAT16
 * parameter has a value alone, and its master will start from that. */
MOEMESH_API int32_t moemesh_parameter_write(moemesh_parameter parameter, int32_t quantity, int64_t expert, const moemesh_view* array);

/* ------------------------------------------------------------------------------------------------ MoE layer */

/* What of the logits the router goes by. */
typedef enum moemesh_score { MOEMESH_SCORE_SOFTMAX = 1, MOEMESH_SCORE_SIGMOID = 2 } moemesh_score;

/* What a chosen expert's output is multiplied with. */
typedef enum moemesh_gate {
  MOEMESH_GATE_RAW = 1,           /* the score of the chosen expert */
  MOEMESH_GATE_RENORM = 2,        /* divided by the sum over the chosen k (softmax: the softmax of the chosen logits) */
  MOEMESH_GATE_SOFTMAX_TOPK = 3   /* softmax over the chosen logits, whatever the score that chose them */
} moemesh_gate;

/* Between the two products of an expert. */
typedef enum moemesh_activation {
  MOEMESH_IDENTITY = 1,
  MOEMESH_RELU = 2,
  MOEMESH_GELU_TANH = 3,
  MOEMESH_GELU_ERF = 4,
  MOEMESH_SILU = 5,
  MOEMESH_SWIGLU = 6, /* silu(Wg x) * W1 x */
  MOEMESH_GEGLU = 7   /* gelu_erf(Wg x) * W1 x */
} moemesh_activation;

/* Who computes the logits. */
typedef enum moemesh_router_kind {
  MOEMESH_ROUTER_LINEAR = 1, /* the library's: logits = Wr x, Wr [E, H] a SHARED parameter */
  MOEMESH_ROUTER_CALLER = 2  /* the caller hands in logits and gets their gradient */
} moemesh_router_kind;

/* What becomes of tokens whose logits can't be ordered. */
typedef enum moemesh_nonfinite {
  MOEMESH_NONFINITE_ERROR = 1, /* a bad logit row fails the call on every rank of the exchange */
  MOEMESH_NONFINITE_DROP = 2   /* such a token goes nowhere (as if masked) and is counted */
} moemesh_nonfinite;

/* What a capacity drops when an expert has more rows than slots. */
typedef enum moemesh_drop {
  MOEMESH_DROP_BY_POSITION = 1, /* keeps the first tokens */
  MOEMESH_DROP_BY_GATE = 2      /* keeps the largest gates; equal ones: the earlier token */
} moemesh_drop;

/* The tokens over which the balance of the experts is taken. */
typedef enum moemesh_aux_scope {
  MOEMESH_AUX_SHARD = 1,    /* one data shard's tokens of one microbatch */
  MOEMESH_AUX_SEQUENCE = 2, /* each of its sequences, then their mean; sequences without tokens are left out of it */
  MOEMESH_AUX_GLOBAL = 3    /* all shards of one microbatch: NOT_SUPPORTED in this release */
} moemesh_aux_scope;

/* Which sequence a row of x belongs to, for T rows and S = forward_params.sequences of T/S tokens each. */
typedef enum moemesh_sequence_layout {
  MOEMESH_SEQUENCE_MAJOR = 1, /* [sequence, position]: t / (T/S) */
  MOEMESH_POSITION_MAJOR = 2  /* [position, sequence]: t mod S */
} moemesh_sequence_layout;

/* What a tape keeps of a forward for its backward, which makes the rest again. Every mode keeps the decision, the permutation and
 * what went where, and needs x; outputs, all gradients and statistics have the same bits. Exchanges: of payload between ep
 * ranks, for each chunk; those that are made again are under MOEMESH_PHASE_RECOMPUTE in the ledger. The router never runs
 * twice. */
typedef enum moemesh_recompute {
  MOEMESH_RECOMPUTE_NONE = 1,      /* keeps all. Four exchanges */
  MOEMESH_RECOMPUTE_SELECTIVE = 2, /* drops the hidden activations (W1 x and Wg x, of the shared expert too): backward makes
                                      these products again. Four exchanges */
  MOEMESH_RECOMPUTE_FULL = 3       /* drops also the copies of other ranks' tokens: backward dispatches again, H * size bytes
                                      a copy, as experts and gates are known. Five exchanges */
} moemesh_recompute;

/* How the products of the experts' rows are made. With several chunks an expert has its rows in several pieces; where the bits
 * of a row must not depend on that, its products must be ROW_STABLE. */
typedef enum moemesh_products {
  MOEMESH_PRODUCTS_FAST = 1,      /* as the library of matrix products likes it best. The bits of a row may depend on how many
                                     rows are multiplied with it: y, dx and weight gradients for different `chunks` agree to
                                     rounding */
  MOEMESH_PRODUCTS_ROW_STABLE = 2 /* y, dx and weight gradients are the same bits for every `chunks` (and the same again, not
                                     those of FAST). Calls of at most 240 rows by one thread each: with oneDNN 2.6 on two AVX2
                                     cores the product of 512 rows took 1.1 to 1.2 times as long as FAST, of 64 rows as long. A
                                     property of the machine's matrix library that tests/unit checks; host builds without
                                     oneDNN have it always and at no cost. On a device cuBLAS promises no such thing: the
                                     experts' rows are then made by kernels of this library without tensor cores, far slower */
} moemesh_products;

/* An MoE layer. Router: fp32 logits; selection by falling score, ties to the lower expert index, k distinct experts;
 * gate = gate kind of the score, times gate_scale. Expert e: y = W2 act(W1 x), gated kinds W2 (act(Wg x) * W1 x);
 * token: y = sum over its k experts of gate * expert(x), plus shared(x) without a gate. tp splits F.
 *
 * Capacity: with a factor f > 0 each expert takes at most slots = ceil(n*k*T / (10^4*E)) rows of a data shard and microbatch,
 * n = llround(f*10^4) (four decimals count), T = its unmasked tokens. Rows beyond are dropped at the source: they add 0 to y,
 * their own gate's gradient is 0; the other gates of the token stay as they are.
 * Balance: aux = aux_coefficient * E * sum_e f_e*P_e (Fedus et al. 2022), f_e = rows chosen for e before any drop / (k*T),
 * P_e = mean over the tokens of the score over all E (sigmoid: divided by its sum over E); aux_coefficient at perfect balance.
 * f is a constant in the gradient. z = z_coefficient * mean over the tokens of logsumexp(logits)^2 (Zoph et al. 2022).
 * Both are losses of the library: their gradients enter the logits in this layer's backward, scaled like the caller's own loss:
 * SHARD_MEAN: aux and z of the shard as they are; TOKEN_MEAN: times the real tokens that each was taken over; all times the
 * step's loss_scale. The values are in the statistics, for the caller to report; nothing is added to y.
 * Bias balancing (Wang et al. 2024, DeepSeek-V3): with bias_rate > 0 each expert has an fp32 bias b, 0 at first, and selection
 * is by falling score + b (softmax: of the softmax over all E), ties to the lower index. b enters no gate, loss or gradient.
 * Each optimizer_step that updates ends with b_e += bias_rate * sign(mean - c_e), sign(0) = 0, in integers: c_e = rows
 * chosen for e before any drop, of the training forwards of the step, the first of each microbatch alone (a second one of the
 * same microbatch counts nothing), over all microbatches and all data shards (dp x ep) of the stage; mean = sum_e c_e / E.
 * A step that is skipped or dropped, and step_end, leave b as it is, and what they counted is forgotten. Forwards without
 * training use b and count nothing. b has the same bits on every rank of the stage. The counts of all layers of a stage are
 * added up together, in the order of their names, in one all-reduce of 8-byte words over GROUP_SHARED_GRADIENT within
 * optimizer_step (ledger: family 0, phase UPDATE); a stage without a layer of that kind has none. */
typedef struct moemesh_layer_params {
  int64_t struct_size;
  const char* name;       /* prefix of its parameters' names; unique; at most 200 bytes; copied. "<name>.router", "<name>.w1", "<name>.wg",
                             "<name>.w2" (EXPERT), "<name>.shared.w1", "<name>.shared.wg", "<name>.shared.w2" */
  int64_t hidden;         /* H >= 1 */
  int64_t ffn;            /* F of each expert >= 1, divisible by expert_tp */
  int64_t experts;        /* E >= 1, any number: need not be divisible by ep */
  int64_t shared_ffn;     /* width of the shared expert, divisible by tp; 0 (default) = none */
  double gate_scale;      /* default 1 */
  double init_std_router; /* standard deviations of the initial weights; default 0.02 each */
  double init_std_in;     /* W1, Wg */
  double init_std_out;    /* W2 */
  double capacity_factor; /* 0 (default) = dropless, else 0.0001 .. 1e12 */
  double aux_coefficient; /* >= 0, default 0 = no balance loss */
  double z_coefficient;   /* >= 0, default 0 = no z-loss */
  double bias_rate;       /* what a selection bias moves in a step; 0 (default): it never moves (see moemesh_layer_set_bias) */
  int32_t top_k;          /* 1 .. E */
  int32_t activation;     /* moemesh_activation, default SWIGLU */
  int32_t score;          /* moemesh_score, default SOFTMAX */
  int32_t gate;           /* moemesh_gate, default RENORM */
  int32_t router;         /* moemesh_router_kind, default LINEAR */
  int32_t nonfinite;      /* moemesh_nonfinite, default ERROR */
  int32_t drop;           /* moemesh_drop, default BY_POSITION */
  int32_t aux_scope;      /* moemesh_aux_scope, default SHARD */
  int32_t combine_dtype;  /* of expert outputs on their way back, and of dx: 0 (default) = the family's; FLOAT32 keeps the
                             partial sums of a BFLOAT16 layer exact */
  int32_t recompute;      /* moemesh_recompute, default NONE */
  int32_t chunks;         /* 1 (default) .. 1024: the tokens that this rank sends are cut into so many chunks, chunk c of n tokens
                             being [floor(n*c/chunks), floor(n*(c+1)/chunks)). The exchange of one goes on under the expert
                             products of another, in forward and in backward, if MPI moves messages meanwhile. The shared
                             expert is computed under the first exchange whatever the number. Weight gradients stay one
                             product over the rows of all chunks, for which chunks > 1 holds all of them at once in backward:
                             (2*H + 3*F) floats a row, 2*F for ungated kinds */
  int32_t products;       /* moemesh_products, default FAST */
} moemesh_layer_params;

/* For moemesh_layer_forward. */
typedef struct moemesh_forward_params {
  int64_t struct_size;
  const moemesh_view* x;      /* in, [T, H] of the families' dtype (both have one), row stride >= H; T may be 0 and may
                                 differ per data shard. tp peers must
                                 pass the same T and the same values (not checked).
                                 Borrowed until backward consumed the tape, unless backward gets x again */
  const moemesh_view* y;      /* out, [T, H], dtype of x, row stride >= H, no overlap with x; gaps between rows are not touched */
  const moemesh_view* mask;   /* in, [T] UINT8, 0 = padding: not routed, y = 0, dx = 0, counted nowhere; NULL = all real */
  const moemesh_view* logits; /* in, [T, E] fp32; ROUTER_CALLER only */
  void* stream;               /* default NULL */
  int64_t sequences;          /* S, for AUX_SEQUENCE (T divisible by S); else ignored. Default 1 */
  int32_t sequence_layout;    /* moemesh_sequence_layout, default SEQUENCE_MAJOR */
  int32_t reserved;
  int32_t training;           /* 1 (default): makes a tape. 0: none, and counts nothing */
  int32_t microbatch;         /* 0-based, within the open step; default 0 */
} moemesh_forward_params;

/* For moemesh_layer_backward. */
typedef struct moemesh_backward_params {
  int64_t struct_size;
  const moemesh_view* dy;      /* in, [T, H], dtype of x */
  const moemesh_view* x;       /* in, the forward's x again, or NULL: the forward's pointer is still good */
  const moemesh_view* dx;      /* out, [T, H], dtype of x, overwritten; must not overlap dy or x */
  const moemesh_view* dlogits; /* out, [T, E] fp32, overwritten; ROUTER_CALLER only */
  void* stream;                /* default NULL */
} moemesh_backward_params;

/* For moemesh_layer_replay. */
typedef struct moemesh_replay_params {
  int64_t struct_size;
  const moemesh_view* x; /* in, the forward's values, [T, H], in the same array or another one, which is then the borrowed one */
  const moemesh_view* y; /* out, [T, H], as in forward */
  void* stream;          /* default NULL */
} moemesh_replay_params;

/* What one training forward brings to this rank. n: tokens of its slice (T where expert_tp = tp). A copy is a (token, rank
 * that has experts of it) pair, a row a (token, expert) pair, both without what a capacity drops. */
typedef struct moemesh_layer_load {
  int64_t struct_size;
  int64_t tokens;          /* T, masked ones included */
  int64_t sequences;       /* as in forward_params; 1 but for AUX_SEQUENCE */
  int64_t copies_sent;     /* to all ranks of the exchange, itself included */
  int64_t rows_sent;
  int64_t copies_received; /* likewise */
  int64_t rows_received;
  int64_t own_copies;      /* those of them that are its own: they stay in x */
  int64_t own_rows;
} moemesh_layer_load;

/* What a tape takes between forward and backward, in bytes of the context's allocator, by the sizes of its arrays (a reused
 * array may have room for more). f = F / expert_tp, g = 2 for gated kinds, else 1, z = bytes of an element of x, u = those of
 * experts' rows, 4 on a host (whatever z is), z on a device:
 *   decision       T * (4*E + 8*k + 1), with a capacity + 4*k*T, with a balance loss or z-loss + sequences * 8*(E + 2)
 *   plans          8*k*n + 12*copies_sent + 12*rows_sent + 8*copies_received + 24*rows_received + 16*chunks
 *   copies         not FULL: z*H*(copies_received - own_copies) + 8*(rows_received - own_rows)
 *   hidden         NONE: u*g*f*rows_received
 *   shared_hidden  NONE: u*g*T*(shared_ffn / tp)
 * After a replay the tape has all of them, `copies` without its 8*rows. x is the caller's and not counted. A few words for each
 * rank and expert on the C++ heap are not counted either. */
typedef struct moemesh_tape_bytes {
  int64_t struct_size;
  int64_t decision;
  int64_t plans;
  int64_t copies;
  int64_t hidden;
  int64_t shared_hidden;
  int64_t total; /* their sum */
} moemesh_tape_bytes;

/* Of all tapes of a layer, in bytes as above; from the end of their forward (or replay) until they are given up. */
typedef struct moemesh_layer_memory {
  int64_t struct_size;
  int64_t tapes;    /* alive now */
  int64_t live;     /* what they take */
  int64_t peak;     /* the most that it was since the layer was made */
  int64_t reserved; /* live, and what is kept for tapes to come */
} moemesh_layer_memory;

/* Of the last forward with training = 1. */
typedef struct moemesh_layer_statistics {
  int64_t struct_size;
  int64_t tokens;          /* unmasked tokens of this rank's shard */
  int64_t rows;            /* (token, expert) assignments of this rank's shard */
  int64_t copies_sent;     /* (token, destination rank) pairs to other ranks */
  int64_t rows_received;   /* rows that this rank's experts computed */
  int64_t dropped_rows;    /* by capacity; not in `rows` */
  int64_t nonfinite_tokens;/* dropped by MOEMESH_NONFINITE_DROP */
  int64_t slots;           /* capacity of each expert for this shard; 0 = dropless */
  double aux_loss;         /* of this shard, coefficient included, loss scale not; its mean over sequences in that scope */
  double z_loss;           /* likewise */
} moemesh_layer_statistics;

MOEMESH_API int32_t moemesh_layer_params_init(moemesh_layer_params* params, int64_t struct_size);
/* Collective over the ranks of the stage: stages have layers of their own, as many as they like, and an error of one stage is
 * not known to the others (they meet again in family_commit, where they wait for it). Registers the layer's parameters in both
 * families, which must not be committed yet. Its name should say which layer of the whole model it is: initial weights depend
 * on it. */
MOEMESH_API int32_t moemesh_layer_create(moemesh_mesh mesh, moemesh_family shared, moemesh_family expert,
                                         const moemesh_layer_params* params, moemesh_layer* layer);
/* Its parameters stay in their families, under their names. */
MOEMESH_API void moemesh_layer_destroy(moemesh_layer* layer);

MOEMESH_API int32_t moemesh_forward_params_init(moemesh_forward_params* params, int64_t struct_size);
MOEMESH_API int32_t moemesh_backward_params_init(moemesh_backward_params* params, int64_t struct_size);
/* Collective over the stage's ep x tp block (the ranks that agree on pp and dp). Blocks. Where ep > 1 one dispatch and one
 * combine all-to-all over ep for each chunk, and one count exchange (16 + 16*chunks bytes a peer); where tp > 1 one
 * all-reduce of y over tp. training = 1 needs an open step (moemesh_step_begin). Several tapes may be alive.
 * A rank that fails (bad view, non-finite row) takes part with zero rows: nobody hangs. The error then comes back on
 * every rank of the block that the failure reached (its own status there; NONFINITE_ROUTER as itself, others as PEER_FAILED),
 * y is unspecified on those, there is no tape, and the open step will end in STEP_FAILED on all ranks of the context.
 * ep peers in another of these calls, or in one of another layer, microbatch, training mode or (backward, replay) tape are found
 * out: ERROR_MISMATCH on those that meet one another, PEER_FAILED on others of the block. Tensor-parallel peers are not compared:
 * the same calls in the same order on all of them is the caller's to see to.
 * In a block of one rank a failed call is just that: the step goes on.
 * tape: may be NULL if training = 0; else it is set to NULL then. */
MOEMESH_API int32_t moemesh_layer_forward(moemesh_layer layer, const moemesh_forward_params* params, moemesh_tape* tape);
/* Collective as forward, and in the same order on all ranks of the block; within the step of the forward (later:
 * INVALID_STATE). Where ep > 1 two payload all-to-alls for each chunk and before them, once, 16 bytes a peer that say which
 * tape is meant. Once per layer and microbatch of a step, as gradient_ready. Consumes the tape (sets it to NULL) also where
 * the computation fails (the step then ends in STEP_FAILED, as in forward), but not where an argument is found wrong in a block
 * of one rank. dx is the gradient of this shard's own loss. Weight gradients
 * are added into the main gradients, which are then ready for the tape's microbatch (moemesh_gradient_ready). */
MOEMESH_API int32_t moemesh_layer_backward(moemesh_tape* tape, const moemesh_backward_params* params);
MOEMESH_API int32_t moemesh_replay_params_init(moemesh_replay_params* params, int64_t struct_size);
/* Redoes the tape's forward with the decision that is on it, for callers that keep only the input of a whole block and run its
 * forward again before its backward: y has the forward's bits, and the tape then holds everything, so that the following
 * backward makes nothing again: with RECOMPUTE_FULL two payload all-to-alls each in forward, replay and backward, a chunk.
 * Works in every mode. The router does not run, a caller's logits are not wanted, a mask is remembered, statistics stay. What
 * it sends (as forward, but 16 bytes in the count exchange and copies without 8 bytes a row) is under MOEMESH_PHASE_RECOMPUTE.
 * Collective as backward, and within the step of the forward; any number of times. Where it fails it consumes the tape
 * (sets it to NULL) and the step ends in STEP_FAILED, but not where an argument is found wrong in a block of one rank. */
MOEMESH_API int32_t moemesh_layer_replay(moemesh_tape* tape, const moemesh_replay_params* params);

/* Bytes of a tape: actual, and planned for a load. recompute: a moemesh_recompute, or 0 for the layer's own. Local. */
MOEMESH_API int32_t moemesh_tape_get_bytes(moemesh_tape tape, moemesh_tape_bytes* bytes);
MOEMESH_API int32_t moemesh_layer_plan_bytes(moemesh_layer layer, const moemesh_layer_load* load, int32_t recompute,
                                             moemesh_tape_bytes* bytes);
/* The load where every shard has `tokens` tokens (>= 0) and each token's k experts are drawn evenly from all E, rounded to the
 * nearest. Local. */
MOEMESH_API int32_t moemesh_layer_balanced_load(moemesh_layer layer, int64_t tokens, moemesh_layer_load* load);
MOEMESH_API int32_t moemesh_layer_get_memory(moemesh_layer layer, moemesh_layer_memory* memory);

/* Drops a tape without a backward. Local. */
MOEMESH_API void moemesh_tape_destroy(moemesh_tape* tape);
/* The routing decision on the tape: experts [T, k] INT32 (global indices in order of choice, -1 for tokens that go
 * nowhere and for dropped rows) and gates [T, k] fp32 (0 there); either may be NULL. Local. */
MOEMESH_API int32_t moemesh_tape_get_routing(moemesh_tape tape, const moemesh_view* experts, const moemesh_view* gates);
MOEMESH_API int32_t moemesh_layer_get_statistics(moemesh_layer layer, moemesh_layer_statistics* statistics);
/* rows_per_expert: [E] INT64, this shard's choices of each expert in the last training forward, before any drop;
 * rows_received: NULL or [E]
 * INT64, the rows that each expert of this rank computed (0 for experts that live elsewhere). */
MOEMESH_API int32_t moemesh_layer_get_rows(moemesh_layer layer, const moemesh_view* rows_per_expert,
                                           const moemesh_view* rows_received);
/* The selection bias, [E] fp32, dense: all of a layer's state that is no parameter, for saving and resuming. Local; get at any
 * time, set not while a step is open (INVALID_STATE). All ranks of the stage must set the same finite values (not compared).
 * A layer with bias_rate 0 has zeros until it is set, and then selects by what was set, which stays. */
MOEMESH_API int32_t moemesh_layer_get_bias(moemesh_layer layer, const moemesh_view* bias);
MOEMESH_API int32_t moemesh_layer_set_bias(moemesh_layer layer, const moemesh_view* bias);

/* ------------------------------------------------------------------------------------------------ optimizer and step */

/* How values are updated. */
typedef enum moemesh_optimizer_kind { MOEMESH_ADAMW = 1, MOEMESH_SGD = 2 } moemesh_optimizer_kind;

/* What is sharded over the family's own gradient group of width d: stage 0 nothing, 1 optimizer state and masters, 2 also main
 * gradients (Rajbhandari et al. 2020), 3 also parameters (NOT_SUPPORTED in this release). Bytes a parameter with AdamW:
 *            fp32 parameters          bf16 parameters
 *   stage 0  16                       18
 *   stage 1  8 + 8/d                  6 + 12/d
 *   stage 2  4 + 12/d + a bucket      2 + 16/d + a bucket
 * SGD: 4 less of the sharded part with momentum, 8 less without. Stages 0 and 1 reduce once a step, after the last
 * microbatch. Stage 2 reduces each parameter in every microbatch (moemesh_gradient_ready); its bucket holds the gradients
 * that are being accumulated, at most one layer's at a time where the caller does not hold more. Stage 2 takes no borrowed
 * gradients (NOT_SUPPORTED). */
/* When the gradients of stages 0 and 1 are reduced. Gradients are summed in buckets of parameters that lie one after the other
 * (by name), a bucket in chunks. A bucket may go once every parameter of it was given to gradient_ready for the step's last
 * microbatch. All of it goes in one order, the same on every rank and under every policy: that in which the first step
 * completed the buckets on the stage's first rank (the first step itself: later names first); the bits of the results do not
 * depend on the policy, chunk_bytes or on stage 0 or 1 (the norm adds up by owners: its last bits depend on bucket_bytes). What
 * the policy decides is when a chunk may begin:
 *   AFTER  in optimizer_step, nothing before it.
 *   EAGER  once its bucket is complete: it competes for the network with the layers' all-to-alls.
 *   GAPS   once its bucket is complete, but only in the windows between all-to-alls, and in each no more chunks than fit: a chunk
 *          may take a quarter of the window at most, all of them seven eighths; a bucket that is completed within a window has
 *          what is left of it. These times (by the layer and the kind of the all-to-all before, and by bucket) and those of
 *          chunks are measured and made equal over the stage after each step, so the number depends on the place in the
 *          program alone. Chunks of a window that are not begun when it ends wait for the next one.
 * With EAGER and GAPS a reduction may be under way when the step is found to have failed: it then ends on every rank all the same
 * (also with step_end(reduce = 0)), and optimizer_step must be called, as always, by all ranks. Without a progress thread
 * (moemesh_progress) chunks move only while the program is inside the library.
 * TP_PARTIAL and tied parameters have buckets of their own, which go at the step's end. Stage 2 is not concerned. */
typedef enum moemesh_overlap {
  MOEMESH_OVERLAP_AFTER = 1,
  MOEMESH_OVERLAP_EAGER = 2,
  MOEMESH_OVERLAP_GAPS = 3
} moemesh_overlap;

/* For moemesh_optimizer_create. */
typedef struct moemesh_optimizer_params {
  int64_t struct_size;
  double learning_rate; /* default 1e-3 */
  double beta1;         /* AdamW, default 0.9 */
  double beta2;         /* AdamW, default 0.999 */
  double epsilon;       /* AdamW, default 1e-8 */
  double weight_decay;  /* decoupled: p -= learning_rate * weight_decay * p, every parameter; default 0 */
  double momentum;      /* SGD: m = momentum*m + g, no dampening, no Nesterov; default 0 */
  double max_norm;      /* gradient clipping: all gradients * min(1, max_norm/norm); 0 (default) = none */
  int64_t bucket_bytes; /* fp32 gradients of one bucket: it is closed by the parameter that reaches this; 0 (default) = 25 MiB */
  int64_t chunk_bytes;  /* of one message of a reduction, 4 .. 2^30, default 256 KiB. Memory: four times the group's width times it */
  int32_t kind;         /* moemesh_optimizer_kind, default ADAMW */
  int32_t shared_stage; /* 0, 1 or 2, default 1 */
  int32_t expert_stage; /* 0, 1 or 2, default 1 */
  int32_t overlap;      /* moemesh_overlap, default GAPS */
  int32_t prefetch;     /* stages 1 and 2: 0 (default): optimizer_step returns with every value in place. 1: it returns at once, and
                           values are gathered under the next forward, in the order opposite to that of the reductions, in the
                           windows that `overlap` allows (AFTER: only when asked for). Then values, borrowed ones too, may be
                           read between parameter_acquire, which waits for them, and release only; layers acquire their own.
                           Such a wait ends once the other ranks of the family's group have come to the same acquire, a later
                           one, or optimizer_step */
  int32_t reserved;
} moemesh_optimizer_params;

/* Whose mean the loss is. */
typedef enum moemesh_objective {
  MOEMESH_SHARD_MEAN = 1, /* mean over data shards and microbatches of each shard's mean loss */
  MOEMESH_TOKEN_MEAN = 2  /* summed loss over all tokens divided by their number */
} moemesh_objective;

/* For moemesh_step_begin. */
typedef struct moemesh_step_params {
  int64_t struct_size;
  double loss_scale;    /* the caller's loss is multiplied by it; divided out of all gradients; default 1 */
  int32_t microbatches; /* M, 1 .. 2^20, default 1 */
  int32_t objective;    /* moemesh_objective, default SHARD_MEAN */
  void* stream;         /* default NULL */
} moemesh_step_params;

/* For moemesh_optimizer_step. */
typedef struct moemesh_update_params {
  int64_t struct_size;
  double learning_rate; /* of this step; negative (default) = the optimizer's */
  void* stream;         /* default NULL */
} moemesh_update_params;

/* What moemesh_optimizer_step did. */
typedef struct moemesh_update_result {
  int64_t struct_size;
  double norm;        /* fp64 2-norm of the reduced gradients of both families, every unique element once; not finite
                         where skipped */
  double coefficient; /* min(1, max_norm/norm), or 1; the same bits on every rank */
  int64_t steps;      /* updates made so far, this one included */
  int64_t skips;      /* steps skipped so far */
  int64_t tokens;     /* loss tokens over all shards and microbatches (TOKEN_MEAN), else 0 */
  int32_t skipped;    /* 1: a gradient was not finite somewhere: nothing changed on any rank */
  int32_t reserved;
} moemesh_update_result;

/* Bytes on this rank. planned: by the formula above from the element count; actual: allocated (borrowed arrays
 * included, shard padding included). */
typedef struct moemesh_optimizer_bytes {
  int64_t struct_size;
  int64_t elements;    /* parameters of the family here */
  int64_t shard_width; /* d */
  int64_t planned;
  int64_t actual;
  int64_t parameters;  /* actual's parts */
  int64_t gradients;
  int64_t masters;
  int64_t moments;
  int64_t packed;      /* packed weight copies: none in this release */
  int64_t bucket;      /* stage 2: of actual, not of planned: the largest seen so far */
} moemesh_optimizer_bytes;

/* Steps so far. */
typedef struct moemesh_optimizer_counters {
  int64_t struct_size;
  int64_t steps;
  int64_t skips;
} moemesh_optimizer_counters;

MOEMESH_API int32_t moemesh_optimizer_params_init(moemesh_optimizer_params* params, int64_t struct_size);
/* Collective over the context. Both families must be committed and belong to the mesh; either may be NULL, not both. A
 * family belongs to one optimizer at a time. */
MOEMESH_API int32_t moemesh_optimizer_create(moemesh_mesh mesh, moemesh_family shared, moemesh_family expert,
                                             const moemesh_optimizer_params* params, moemesh_optimizer* optimizer);
/* With prefetch = 1 it first waits for values that are still being gathered, at most until the deadline: then they stay as they
 * are. Where a step's reductions are under way it waits a second for them. */
MOEMESH_API void moemesh_optimizer_destroy(moemesh_optimizer* optimizer);

MOEMESH_API int32_t moemesh_step_params_init(moemesh_step_params* params, int64_t struct_size);
/* Opens a step: zeroes the main gradients. Local, but all ranks must pass the same values (compared at the step's end).
 * Factor of both families: 1/(dp*ep*M*loss_scale) under SHARD_MEAN, where the caller back-propagates its own shard's mean
 * loss; 1/(tokens*loss_scale) under TOKEN_MEAN, where it back-propagates the summed loss. */
MOEMESH_API int32_t moemesh_step_begin(moemesh_optimizer optimizer, const moemesh_step_params* params);
/* TOKEN_MEAN: this shard's loss tokens of one microbatch (0 .. 2^40), once per microbatch, on every rank of the last stage
 * (tp peers report the same; counted once). */
MOEMESH_API int32_t moemesh_loss_tokens(moemesh_optimizer optimizer, int32_t microbatch, int64_t tokens);

MOEMESH_API int32_t moemesh_update_params_init(moemesh_update_params* params, int64_t struct_size);
/* Closes the step: agrees on errors over the context, reduces both families, takes the norm, clips and updates.
 * Collective over the context; blocks. result may be NULL. params may be NULL (defaults).
 * A failure of any rank in this step: STEP_FAILED on all of them (a rank without an open step, or with wrong arguments here,
 * gets its own status), nothing changed, and the next step can begin: whatever this call returns, the step is closed. */
MOEMESH_API int32_t moemesh_optimizer_step(moemesh_optimizer optimizer, const moemesh_update_params* params,
                                           moemesh_update_result* result);
/* Closes the step without an update. reduce = 1: reduces and divides the gradients first (for moemesh_parameter_read, and
 * on each rank the owned part; hosts with an optimizer of their own use stage 0, where every rank has all of them);
 * 0: drops them. Collective over the context. */
MOEMESH_API int32_t moemesh_step_end(moemesh_optimizer optimizer, int32_t reduce);

/* family: moemesh_family_kind. Local. */
MOEMESH_API int32_t moemesh_optimizer_get_bytes(moemesh_optimizer optimizer, int32_t family, moemesh_optimizer_bytes* bytes);
MOEMESH_API int32_t moemesh_optimizer_get_counters(moemesh_optimizer optimizer, moemesh_optimizer_counters* counters);
/* For resuming; the same values on every rank, at most 2^62. Not within a step. Local. */
MOEMESH_API int32_t moemesh_optimizer_set_counters(moemesh_optimizer optimizer, const moemesh_optimizer_counters* counters);

/* ------------------------------------------------------------------------------------------------ pipeline */

/* The order in which a stage runs the forwards and backwards of its M microbatches. A stage holds the activations of at most
 * min(M, pp - stage) microbatches under 1F1B (Narayanan et al. 2019), of M under GPipe (Huang et al. 2019). */
typedef enum moemesh_schedule { MOEMESH_SCHEDULE_1F1B = 1, MOEMESH_SCHEDULE_GPIPE = 2 } moemesh_schedule;

/* What a stage does next. */
typedef enum moemesh_action_kind {
  MOEMESH_ACTION_FORWARD = 1,
  MOEMESH_ACTION_BACKWARD = 2,
  MOEMESH_ACTION_BACKWARD_WEIGHT = 3, /* not yielded in this release */
  MOEMESH_ACTION_END = 4              /* the run is over on this rank; again at each further call */
} moemesh_action_kind;

/* For moemesh_pipeline_create. */
typedef struct moemesh_pipeline_params {
  int64_t struct_size;
  int64_t width;    /* elements of one row of what goes from stage to stage, >= 1: the hidden size */
  int32_t dtype;    /* of the rows: MOEMESH_FLOAT32 (default) or BFLOAT16 */
  int32_t schedule; /* moemesh_schedule, default 1F1B */
} moemesh_pipeline_params;

/* One run: the microbatches of one step, or forwards alone. */
typedef struct moemesh_pipeline_run {
  int64_t struct_size;
  const int64_t* rows;  /* [microbatches] rows of each one on this data shard, >= 0, may differ; read in pipeline_begin. Must be
                           given on the first stage; elsewhere NULL, as sizes come with the messages, or the same numbers */
  int32_t microbatches; /* M >= 1; training: the step's. Default 1 */
  int32_t training;     /* 1 (default): forwards and backwards within the open step; 0: forwards alone */
} moemesh_pipeline_run;

/* What to do next. Views are dense [rows, width] HOST arrays of the pipeline's dtype, the library's, good until pipeline_done
 * (`saved` and a forward's `in`: until the done of this microbatch's backward). A view that does not apply has rank 0. */
typedef struct moemesh_pipeline_action {
  int64_t struct_size;
  int64_t rows;       /* 0 where a stage before failed in this microbatch: run the layers with no tokens all the same. With
                         tp > 1 there are the rows all the same, of zeros: tp peers must have equal numbers of tokens, and
                         the failure may be one peer's alone */
  int32_t kind;       /* moemesh_action_kind */
  int32_t microbatch; /* 0-based */
  int32_t chunk;      /* model chunk of this stage: 0 in this release */
  int32_t reserved;
  moemesh_view in;    /* FORWARD: the previous stage's output, none on the first. BACKWARD: the gradient of this stage's output,
                         none on the last */
  moemesh_view out;   /* to be written. FORWARD: this stage's output, none on the last. BACKWARD: the gradient of `saved`, none
                         on the first */
  moemesh_view saved; /* BACKWARD: what was `in` of this microbatch's forward */
} moemesh_pipeline_action;

/* Of the run in progress, or the last one. */
typedef struct moemesh_pipeline_info {
  int64_t struct_size;
  int64_t live;       /* microbatches forwarded here whose backward is not done; forwards alone: 0 */
  int64_t peak;       /* the most of them at a time */
  int64_t bytes;      /* of the library's activation and gradient buffers on this rank */
  int64_t sends;      /* to neighbour stages, one for each microbatch and direction */
  int64_t bytes_sent; /* headers included */
} moemesh_pipeline_info;

/* Runs one action; what it returns goes to pipeline_done. */
typedef int32_t (*moemesh_pipeline_function)(void* user, const moemesh_pipeline_action* action);

MOEMESH_API int32_t moemesh_pipeline_params_init(moemesh_pipeline_params* params, int64_t struct_size);
MOEMESH_API int32_t moemesh_pipeline_run_init(moemesh_pipeline_run* run, int64_t struct_size);
/* Collective over the context. optimizer: whose steps are run; may be NULL for forwards alone. Any pp, 1 included. */
MOEMESH_API int32_t moemesh_pipeline_create(moemesh_mesh mesh, moemesh_optimizer optimizer,
                                            const moemesh_pipeline_params* params, moemesh_pipeline* pipeline);
/* In the middle of a training run: the step then ends in STEP_FAILED; neighbours that wait for this rank's rows do so until
 * the deadline. */
MOEMESH_API void moemesh_pipeline_destroy(moemesh_pipeline* pipeline);
/* Begins a run. Local, but all ranks of the mesh begin the same runs in the same order, one at a time. While a
 * run is not at its end a second one is INVALID_STATE, and so is a second training run in one step; optimizer_step and step_end
 * end a run, but with actions left in it optimizer_step is STEP_FAILED on every rank, as gradients are missing. */
MOEMESH_API int32_t moemesh_pipeline_begin(moemesh_pipeline pipeline, const moemesh_pipeline_run* run);
/* The next action of this rank; waits for its neighbour stages' rows. Sends never block. Every rank of a stage is given the
 * same sequence of kinds and microbatches, which depends on M, pp and the stage alone. action->struct_size is set by the
 * caller. In a failed step actions still come, so that everyone's collective calls are met: with no rows, or with zeros for
 * gradients, where a neighbour failed; the backward of a microbatch that failed in a layer of this stage is left out.
 * A run of forwards alone has no step to drop: where an action failed on this rank, or on a stage before, the call that would
 * give END returns an error instead, once (PEER_FAILED, or the own positive status; STEP_FAILED for any other number). */
MOEMESH_API int32_t moemesh_pipeline_next(moemesh_pipeline pipeline, moemesh_pipeline_action* action);
/* The action is done; sends its `out`. status: MOEMESH_OK, or what went wrong: the status of a layer call of the action (which
 * then came back on all ranks of the stage's block; leave out the rest of the action), or any other status not 0 for a
 * failure of the caller's own (finish the action's layers before, with whatever rows, as other ranks wait in them). The step
 * will then end in STEP_FAILED on every rank of the context; go on until END. (Forwards alone: see moemesh_pipeline_next.) */
MOEMESH_API int32_t moemesh_pipeline_done(moemesh_pipeline pipeline, int32_t status);
/* begin, then next, function, done until END. In training it returns MOEMESH_OK also where an action failed:
 * optimizer_step tells. */
MOEMESH_API int32_t moemesh_pipeline_execute(moemesh_pipeline pipeline, const moemesh_pipeline_run* run,
                                             moemesh_pipeline_function function, void* user);
MOEMESH_API int32_t moemesh_pipeline_get_info(moemesh_pipeline pipeline, moemesh_pipeline_info* info);

/* ------------------------------------------------------------------------------------------------ communication bill */

/* What a step of a described model will send, for any rank of a planned (or real) mesh, before any run: the entries that the
 * ledger of that rank would have for `steps` training steps, from step_begin to optimizer_step, setup left out. Exact: equal to
 * the ledger where the described routing is the real one and no step fails. Every layer runs forward and backward once in each
 * microbatch, every parameter gets its gradient_ready once in each, and nothing is replayed. A family counts as given to the
 * optimizer where any stage has a layer or a parameter of it. No step is skipped. Capacity needs no word here: copies and rows
 * below are those that are left after it, and without them none are taken as dropped. */
typedef struct moemesh_bill_params {
  int64_t struct_size;
  int64_t steps;         /* default 1 */
  int64_t tokens;        /* rows of each data shard and microbatch, all real; default 0. Where shards differ, matrices (see
                            below) still make the bill exact if tp = 1 and there is no pipeline: only they depend on rows */
  int64_t bucket_bytes;  /* as in moemesh_optimizer_params, defaults alike */
  int64_t chunk_bytes;
  int32_t microbatches;  /* M, default 1 */
  int32_t objective;     /* moemesh_objective, default SHARD_MEAN */
  int32_t shared_stage;  /* as in moemesh_optimizer_params, defaults alike */
  int32_t expert_stage;
  int32_t shared_dtype;  /* of the families; default FLOAT32 */
  int32_t expert_dtype;
  int32_t overlap;       /* as in moemesh_optimizer_params, defaults alike */
  int32_t reserved;
} moemesh_bill_params;

/* What one layer sends in a step, all its microbatches together; each of bill_params.steps sends the same. Both matrices may be
 * NULL (not one alone): then every token's k experts are taken as drawn evenly from all E, and what such layers send in an
 * entry's all-to-alls is its expectation, rounded to the nearest byte. */
typedef struct moemesh_bill_routing {
  int64_t struct_size;
  const int64_t* copies; /* [world/pp, ep], of the layer's stage: row i: what the stage's i-th rank
                            (ascending) sends to each expert_ep coordinate, its own included: of each of its tokens one copy
                            for every coordinate that has experts of it. Its tokens: with expert_tp = tp all of its data
                            shard, which tp peers send alike; else its slice of them, [floor(T*s/n), floor(T*(s+1)/n)) for
                            slice s of n = tp/expert_tp. Copied. NULL: see above */
  const int64_t* rows;   /* the same of rows: one for each (token, expert); not less than copies */
} moemesh_bill_routing;

MOEMESH_API int32_t moemesh_bill_params_init(moemesh_bill_params* params, int64_t struct_size);
/* Local. mesh: of mesh_plan (its ranks_per_node splits the bytes) or mesh_create. */
MOEMESH_API int32_t moemesh_bill_create(moemesh_mesh mesh, const moemesh_bill_params* params, moemesh_bill* bill);
MOEMESH_API void moemesh_bill_destroy(moemesh_bill* bill);
/* A layer of `stage`, with its parameters. routing may be NULL. Local, as all below. */
MOEMESH_API int32_t moemesh_bill_add_layer(moemesh_bill bill, int64_t stage, const moemesh_layer_params* params,
                                           const moemesh_bill_routing* routing);
/* A parameter of the caller's own; data and gradient are ignored. Names must be the real ones: they order the layout. */
MOEMESH_API int32_t moemesh_bill_add_parameter(moemesh_bill bill, int64_t stage, int32_t family,
                                               const moemesh_parameter_params* params);
/* Rows of that width and dtype go from stage to stage (moemesh_pipeline). */
MOEMESH_API int32_t moemesh_bill_set_pipeline(moemesh_bill bill, const moemesh_pipeline_params* params);
/* As moemesh_ledger_get_count and _get_entry, for `rank` of the mesh. */
MOEMESH_API int32_t moemesh_bill_get_count(moemesh_bill bill, int64_t rank, int64_t* count);
MOEMESH_API int32_t moemesh_bill_get_entry(moemesh_bill bill, int64_t rank, int64_t index, moemesh_ledger_entry* entry);

/* ------------------------------------------------------------------------------------------------ timeline report */

/* Where the time of real steps goes, and who is waited for. While a report records, every payload message is accompanied by
 * its sender's post time on clocks that the library aligns (ledger: MOEMESH_COLLECTIVE_CLOCK), and every operation is split:
 *   wait      latest peer's post - own post: somebody came late
 *   transfer  the rest of the time between posting and the end
 *   exposed   how long the caller was blocked; for a blocking call wait + transfer, less where other work went on meanwhile
 *   idle      of the wait, what was exposed
 * The count exchange belongs to the all-to-all behind it. The agreement at a step's end belongs to the reductions behind it: it is where
 * ranks wait for one that comes late there. Seconds are summed over ranks where nothing else is said.
 *
 * Steps are counted by the calls that end them (optimizer_step, step_end) since the report was created, from 0; a step lasts
 * from its step_begin to the end of that call. What lies between steps is in the figures and the trace, and in no step. */
typedef enum moemesh_report_class {
  MOEMESH_REPORT_EXCHANGE = 0,  /* dispatch, combine and their backwards, count exchanges */
  MOEMESH_REPORT_TENSOR = 1,    /* sums over tp and gathers of slices within a layer */
  MOEMESH_REPORT_REDUCTION = 2, /* gradients, and gathering parameters; the agreement at a step's end */
  MOEMESH_REPORT_PIPELINE = 3,  /* receiving rows from a neighbour stage */
  MOEMESH_REPORT_CALLER = 4,    /* moemesh_all_reduce and its kin */
  MOEMESH_REPORT_CLASSES = 5
} moemesh_report_class;

/* Files that moemesh_report_write makes. */
typedef enum moemesh_report_output {
  MOEMESH_REPORT_TABLE = 1,    /* text: totals, layers, ranks */
  MOEMESH_REPORT_TRACE = 2,    /* JSON for chrome://tracing or ui.perfetto.dev: a process for each rank, a track for each stream */
  MOEMESH_REPORT_TIMELINE = 3, /* SVG: one step, a row for each rank; who is late is marked */
  MOEMESH_REPORT_SERIES = 4,   /* CSV: a line for each step */
  MOEMESH_REPORT_PLOT = 5      /* SVG: largest/mean rows and idle time over the steps */
} moemesh_report_output;

/* For moemesh_report_create. */
typedef struct moemesh_report_params {
  int64_t struct_size;
  int64_t events;      /* kept in detail on each rank (for TRACE and TIMELINE), 80 bytes each; the oldest are overwritten. Sums
                          and the series do not depend on them. 0 = none. Default 32768 */
  int64_t steps;       /* of the series: the last so many are kept; 8 bytes for each of them and each rank of the context and
                          each layer. Default 4096, >= 1 */
  int64_t first_step;  /* events are kept in steps [first_step, last_step] alone. Default 0 */
  int64_t last_step;   /* default INT64_MAX */
  int32_t start_pings; /* questions and answers by which each rank compares its clock with its parent's in a binomial tree,
                          when recording starts. Default 16, >= 1 */
  int32_t step_pings;  /* the same at each step's end. Default 2, >= 0; with 0 drift is not followed */
} moemesh_report_params;

/* All recorded steps and all ranks together. */
typedef struct moemesh_report_summary {
  int64_t struct_size;
  int64_t steps;         /* recorded, failed ones included */
  int64_t first_step;    /* of the series: steps [first_step, steps) are kept */
  int64_t layers;        /* of all stages */
  int64_t events;        /* kept, over all ranks */
  int64_t lost_events;   /* overwritten, over all ranks */
  int64_t late_rank;     /* the rank that the others were idle for longest; -1: nobody waited */
  double late_seconds;   /* they were */
  double idle_seconds;   /* for all ranks together, in all recorded steps and between them */
  double seconds;        /* of all recorded steps, not summed over ranks. Steps that the series dropped count as they
                            were on the rank that spent most in them */
  double rows_ratio;     /* of the rows that ranks' experts computed: for each layer the most of any rank, over its mean;
                            layers weighted by their rows. 1 = balanced; 0: no rows */
  double clock_error;    /* seconds: bound of the worst rank's aligned clock against rank 0's, 100 ppm of drift allowed for */
  double clock_offset;   /* seconds: the largest that was found between a rank's clock and rank 0's */
  double wait[5];        /* by moemesh_report_class */
  double transfer[5];
  double exposed[5];
  double idle[5];
} moemesh_report_summary;

/* One layer, over all recorded steps and all ranks of its stage. There is one for every layer that was created on the
 * mesh before the report or while it recorded, destroyed ones among them: of a layer that did not run while the report
 * recorded all numbers are 0. */
typedef struct moemesh_report_layer {
  int64_t struct_size;
  const char* name;        /* lives until the next collect, or the report's destroy */
  int64_t stage;
  int64_t late_rank;       /* waited for longest in the layer's exchanges and sums; -1: nobody */
  double late_seconds;     /* idle because of it */
  double late_rows;        /* rows that its experts computed, over the mean of the stage's ranks; 0: no rows */
  double rows_ratio;       /* the most of any rank, over the mean */
  double rows;             /* of all ranks */
  double idle_seconds;
  double dispatch_wait;    /* count exchange and dispatch; combine_backward_wait likewise */
  double combine_wait;
  double combine_backward_wait;
  double dispatch_backward_wait;
  double tensor_wait;
  double transfer;         /* of all of these */
  double exposed;
  double expert_seconds;   /* in the experts' products, forward and backward */
} moemesh_report_layer;

/* One step, over all ranks. */
typedef struct moemesh_report_step {
  int64_t struct_size;
  int64_t late_rank;   /* as in the summary */
  double late_seconds;
  double idle_seconds;
  double seconds;      /* from the first rank's step_begin to the last one's end; not summed */
  double rows_ratio;
  double idle[5];      /* by moemesh_report_class */
  double transfer;
  double exposed;
} moemesh_report_step;

MOEMESH_API int32_t moemesh_report_params_init(moemesh_report_params* params, int64_t struct_size);
/* Aligns the clocks and starts to record; one report records on a mesh at a time (else INVALID_STATE). Not within a step
 * (INVALID_STATE). Takes its memory here: recorded steps ask for none. Collective over the context. */
MOEMESH_API int32_t moemesh_report_create(moemesh_mesh mesh, const moemesh_report_params* params, moemesh_report* report);
/* Ends the recording; what was recorded stays. Not within a step. Collective over the context. */
MOEMESH_API int32_t moemesh_report_stop(moemesh_report report);
/* Without stop: recording goes on, and the mesh can't start another one. Local. */
MOEMESH_API void moemesh_report_destroy(moemesh_report* report);
/* A span of the caller's own, for the picture: begin and end nest, at most 16 deep; at most 64 names, of which the first 47
 * bytes count. Does nothing after stop. Local. */
MOEMESH_API int32_t moemesh_report_mark_begin(moemesh_report report, const char* name);
MOEMESH_API int32_t moemesh_report_mark_end(moemesh_report report);
/* Brings what all ranks recorded so far together: sums and series to every rank, where the queries below then are local and
 * equal; events to rank 0. Not within a step. May be called again. Collective over the context. */
MOEMESH_API int32_t moemesh_report_collect(moemesh_report report);
/* The last collect's (before the first: INVALID_STATE). Local. */
MOEMESH_API int32_t moemesh_report_get_summary(moemesh_report report, moemesh_report_summary* summary);
/* Layers are ordered by stage, then as they were created. */
MOEMESH_API int32_t moemesh_report_get_layer(moemesh_report report, int64_t index, moemesh_report_layer* layer);
/* index: first_step .. steps-1 of the summary. */
MOEMESH_API int32_t moemesh_report_get_step(moemesh_report report, int64_t index, moemesh_report_step* step);
/* Rank 0 writes the last collect to `path`, over what is there. output: moemesh_report_output. step: of TIMELINE, -1 =
 * the last one with events; of TRACE likewise, -1 = all; otherwise -1. Collective over the context; all ranks pass the
 * same, the report too: where they do not (MISMATCH), or any rank's arguments are bad, no file is touched. ERROR_FILE on every rank
 * where rank 0 could not write: the text names the path and the cause, and is rank 0's on every rank. */
MOEMESH_API int32_t moemesh_report_write(moemesh_report report, int32_t output, int64_t step, const char* path);

/* ------------------------------------------------------------------------------------------------ what is running */

/* Of moemesh_runtime_info.features. */
enum {
  MOEMESH_FEATURE_MPI = 1,    /* the MPI module is there and could be opened */
  MOEMESH_FEATURE_ONEDNN = 2, /* matrix products are oneDNN's */
  MOEMESH_FEATURE_CUDA = 4,   /* it works on a CUDA device: libmoemesh_cuda */
  MOEMESH_FEATURE_NCCL = 8    /* messages between devices are NCCL's; without it they go through the host's memory */
};

/* The library and what it works with. Texts are never NULL, "" where there is nothing to say, and live as long as the library
 * is loaded (mpi_error: until the next call). Kokkos versions: major*10000 + minor*100 + patch. */
typedef struct moemesh_runtime_info {
  int64_t struct_size;
  int64_t features;            /* MOEMESH_FEATURE_* added together */
  const char* version;         /* "0.1.0" */
  const char* git;             /* the sources' commit when the build was configured, "-dirty" where files differed */
  const char* device;          /* "host", "cuda" */
  const char* build_type;      /* "Release" */
  const char* compiler;        /* "GNU 12.2.0" */
  const char* library;         /* the file that this library was loaded from, as the loader names it; so are all paths here */
  const char* matrix_library;  /* "oneDNN 2.6.0", "cuBLAS 13.0.0", or "Kokkos": the portable products */
  const char* matrix_path;     /* its file */
  const char* kokkos_backends; /* of the Kokkos that it was compiled with: "OpenMP, Serial" */
  const char* kokkos_path;     /* where Kokkos is: this library's own file if it is private */
  const char* mpi_module;      /* the file of the MPI module */
  const char* mpi_library;     /* "Open MPI v4.1.4, ..." */
  const char* mpi_error;       /* why the module could not be opened */
  const char* nccl_path;       /* the file of NCCL, where FEATURE_NCCL is set */
  int32_t mpi_kind;            /* moemesh_comm_kind of its MPI; NONE without the module */
  int32_t kokkos_compiled;     /* Kokkos version */
  int32_t kokkos_loaded;       /* the one in the process; 0: not known before a shared one is started */
  int32_t kokkos_shared;       /* 1: the process's (MOEMESH_SHARED_KOKKOS); 0: private, hidden in this library */
  int32_t threads;             /* of the kernel pool; 0 before the first context and after moemesh_shutdown */
  int32_t cuda_compiled;       /* CUDA version that it was compiled with: major*1000 + minor*10; 0 on hosts */
  int32_t cuda_runtime;        /* of the CUDA runtime in the process */
  int32_t cuda_driver;         /* that the driver is good for; 0 without a driver */
  int32_t nccl;                /* NCCL's version in the process, as NCCL counts; 0 without */
  int32_t reserved;
} moemesh_runtime_info;

/* At any time, before any context too; from any thread. Opens the MPI module (see moemesh_context_create), but neither starts nor
 * needs MPI: where it can't be opened, mpi_error says why and the call returns MOEMESH_OK. info->struct_size is set by the
 * caller. */
MOEMESH_API int32_t moemesh_runtime_get_info(moemesh_runtime_info* info);

/* ------------------------------------------------------------------------------------------------ table of functions */

/* The version of the table that this header declares. */
#define MOEMESH_ABI_VERSION 1

/* For programs that open the library themselves (dlopen) and ask for one symbol. A member is the function of that name with
 * moemesh_ before it. Append-only: new functions come at the end, in the order of their releases, and nothing else changes
 * while MOEMESH_ABI_VERSION is what it is. The library may be older than the header: use a member only if
 * offsetof(moemesh_api, member) < struct_size. */
typedef struct moemesh_api {
  int64_t struct_size; /* of the library's table */
  int32_t abi_version;
  int32_t reserved;
  const char* (*status_name)(int32_t status);
  const char* (*status_text)(int32_t status);
  int32_t (*version)(int32_t* major, int32_t* minor, int32_t* patch);
  int32_t (*last_error)(moemesh_context context, char* buffer, int64_t capacity, int64_t* length);
  int32_t (*shutdown)(void);
  int32_t (*view_init)(moemesh_view* view, int32_t dtype, int32_t rank, const int64_t* extents, void* data);
  int32_t (*context_params_init)(moemesh_context_params* params, int64_t struct_size);
  int32_t (*context_create)(const moemesh_context_params* params, moemesh_context* context);
  int32_t (*context_get_info)(moemesh_context context, moemesh_context_info* info);
  int32_t (*context_finalize)(moemesh_context context);
  void (*context_destroy)(moemesh_context* context);
  int32_t (*mesh_params_init)(moemesh_mesh_params* params, int64_t struct_size);
  int32_t (*mesh_create)(moemesh_context context, const moemesh_mesh_params* params, moemesh_mesh* mesh);
  int32_t (*mesh_plan)(moemesh_context context, int64_t world, const moemesh_mesh_params* params, moemesh_mesh* mesh);
  int32_t (*mesh_get_coordinates)(moemesh_mesh mesh, int64_t rank, moemesh_coordinates* coordinates);
  int32_t (*mesh_get_group)(moemesh_mesh mesh, int32_t axes, int64_t rank, moemesh_group* group);
  int32_t (*mesh_get_group_member)(moemesh_mesh mesh, int32_t axes, int64_t rank, int64_t position, int64_t* member);
  int32_t (*mesh_get_axis_report)(moemesh_mesh mesh, int32_t axis, moemesh_axis_report* report);
  int32_t (*mesh_get_experts)(moemesh_mesh mesh, int64_t experts, int64_t rank, int64_t* first, int64_t* count);
  int32_t (*mesh_finalize)(moemesh_mesh mesh);
  void (*mesh_destroy)(moemesh_mesh* mesh);
  int32_t (*all_reduce)(moemesh_mesh mesh, int32_t axes, int32_t op, const moemesh_view* array);
  int32_t (*all_gather)(moemesh_mesh mesh, int32_t axes, const moemesh_view* send, const moemesh_view* receive);
  int32_t (*reduce_scatter)(moemesh_mesh mesh, int32_t axes, int32_t op, const moemesh_view* send,
                            const moemesh_view* receive);
  int32_t (*broadcast)(moemesh_mesh mesh, int32_t axes, int64_t root, const moemesh_view* array);
  int32_t (*ledger_get_count)(moemesh_mesh mesh, int64_t* count);
  int32_t (*ledger_get_entry)(moemesh_mesh mesh, int64_t index, moemesh_ledger_entry* entry);
  int32_t (*ledger_reset)(moemesh_mesh mesh);
  int32_t (*family_params_init)(moemesh_family_params* params, int64_t struct_size);
  int32_t (*family_create)(moemesh_mesh mesh, const moemesh_family_params* params, moemesh_family* family);
  void (*family_destroy)(moemesh_family* family);
  int32_t (*parameter_params_init)(moemesh_parameter_params* params, int64_t struct_size);
  int32_t (*parameter_register)(moemesh_family family, const moemesh_parameter_params* params,
                                moemesh_parameter* parameter);
  int32_t (*family_commit)(moemesh_family family);
  int32_t (*parameter_find)(moemesh_family family, const char* name, moemesh_parameter* parameter);
  int32_t (*parameter_get_info)(moemesh_parameter parameter, moemesh_parameter_info* info);
  int32_t (*parameter_acquire)(moemesh_parameter parameter, void* stream, moemesh_view* view);
  int32_t (*parameter_release)(moemesh_parameter parameter);
  int32_t (*parameter_get_gradient)(moemesh_parameter parameter, moemesh_view* view);
  int32_t (*gradient_ready)(moemesh_parameter parameter, const moemesh_view* gradient, void* stream);
  int32_t (*parameters_changed)(moemesh_family family);
  int32_t (*parameter_read)(moemesh_parameter parameter, int32_t quantity, int64_t expert, const moemesh_view* array);
  int32_t (*parameter_write)(moemesh_parameter parameter, int32_t quantity, int64_t expert, const moemesh_view* array);
  int32_t (*layer_params_init)(moemesh_layer_params* params, int64_t struct_size);
  int32_t (*layer_create)(moemesh_mesh mesh, moemesh_family shared, moemesh_family expert,
                          const moemesh_layer_params* params, moemesh_layer* layer);
  void (*layer_destroy)(moemesh_layer* layer);
  int32_t (*forward_params_init)(moemesh_forward_params* params, int64_t struct_size);
  int32_t (*backward_params_init)(moemesh_backward_params* params, int64_t struct_size);
  int32_t (*layer_forward)(moemesh_layer layer, const moemesh_forward_params* params, moemesh_tape* tape);
  int32_t (*layer_backward)(moemesh_tape* tape, const moemesh_backward_params* params);
  int32_t (*replay_params_init)(moemesh_replay_params* params, int64_t struct_size);
  int32_t (*layer_replay)(moemesh_tape* tape, const moemesh_replay_params* params);
  int32_t (*tape_get_bytes)(moemesh_tape tape, moemesh_tape_bytes* bytes);
  int32_t (*layer_plan_bytes)(moemesh_layer layer, const moemesh_layer_load* load, int32_t recompute,
                              moemesh_tape_bytes* bytes);
  int32_t (*layer_balanced_load)(moemesh_layer layer, int64_t tokens, moemesh_layer_load* load);
  int32_t (*layer_get_memory)(moemesh_layer layer, moemesh_layer_memory* memory);
  void (*tape_destroy)(moemesh_tape* tape);
  int32_t (*tape_get_routing)(moemesh_tape tape, const moemesh_view* experts, const moemesh_view* gates);
  int32_t (*layer_get_statistics)(moemesh_layer layer, moemesh_layer_statistics* statistics);
  int32_t (*layer_get_rows)(moemesh_layer layer, const moemesh_view* rows_per_expert,
                            const moemesh_view* rows_received);
  int32_t (*layer_get_bias)(moemesh_layer layer, const moemesh_view* bias);
  int32_t (*layer_set_bias)(moemesh_layer layer, const moemesh_view* bias);
  int32_t (*optimizer_params_init)(moemesh_optimizer_params* params, int64_t struct_size);
  int32_t (*optimizer_create)(moemesh_mesh mesh, moemesh_family shared, moemesh_family expert,
                              const moemesh_optimizer_params* params, moemesh_optimizer* optimizer);
  void (*optimizer_destroy)(moemesh_optimizer* optimizer);
  int32_t (*step_params_init)(moemesh_step_params* params, int64_t struct_size);
  int32_t (*step_begin)(moemesh_optimizer optimizer, const moemesh_step_params* params);
  int32_t (*loss_tokens)(moemesh_optimizer optimizer, int32_t microbatch, int64_t tokens);
  int32_t (*update_params_init)(moemesh_update_params* params, int64_t struct_size);
  int32_t (*optimizer_step)(moemesh_optimizer optimizer, const moemesh_update_params* params,
                            moemesh_update_result* result);
  int32_t (*step_end)(moemesh_optimizer optimizer, int32_t reduce);
  int32_t (*optimizer_get_bytes)(moemesh_optimizer optimizer, int32_t family, moemesh_optimizer_bytes* bytes);
  int32_t (*optimizer_get_counters)(moemesh_optimizer optimizer, moemesh_optimizer_counters* counters);
  int32_t (*optimizer_set_counters)(moemesh_optimizer optimizer, const moemesh_optimizer_counters* counters);
  int32_t (*pipeline_params_init)(moemesh_pipeline_params* params, int64_t struct_size);
  int32_t (*pipeline_run_init)(moemesh_pipeline_run* run, int64_t struct_size);
  int32_t (*pipeline_create)(moemesh_mesh mesh, moemesh_optimizer optimizer, const moemesh_pipeline_params* params,
                             moemesh_pipeline* pipeline);
  void (*pipeline_destroy)(moemesh_pipeline* pipeline);
  int32_t (*pipeline_begin)(moemesh_pipeline pipeline, const moemesh_pipeline_run* run);
  int32_t (*pipeline_next)(moemesh_pipeline pipeline, moemesh_pipeline_action* action);
  int32_t (*pipeline_done)(moemesh_pipeline pipeline, int32_t status);
  int32_t (*pipeline_execute)(moemesh_pipeline pipeline, const moemesh_pipeline_run* run,
                              moemesh_pipeline_function function, void* user);
  int32_t (*pipeline_get_info)(moemesh_pipeline pipeline, moemesh_pipeline_info* info);
  int32_t (*bill_params_init)(moemesh_bill_params* params, int64_t struct_size);
  int32_t (*bill_create)(moemesh_mesh mesh, const moemesh_bill_params* params, moemesh_bill* bill);
  void (*bill_destroy)(moemesh_bill* bill);
  int32_t (*bill_add_layer)(moemesh_bill bill, int64_t stage, const moemesh_layer_params* params,
                            const moemesh_bill_routing* routing);
  int32_t (*bill_add_parameter)(moemesh_bill bill, int64_t stage, int32_t family,
                                const moemesh_parameter_params* params);
  int32_t (*bill_set_pipeline)(moemesh_bill bill, const moemesh_pipeline_params* params);
  int32_t (*bill_get_count)(moemesh_bill bill, int64_t rank, int64_t* count);
  int32_t (*bill_get_entry)(moemesh_bill bill, int64_t rank, int64_t index, moemesh_ledger_entry* entry);
  int32_t (*report_params_init)(moemesh_report_params* params, int64_t struct_size);
  int32_t (*report_create)(moemesh_mesh mesh, const moemesh_report_params* params, moemesh_report* report);
  int32_t (*report_stop)(moemesh_report report);
  void (*report_destroy)(moemesh_report* report);
  int32_t (*report_mark_begin)(moemesh_report report, const char* name);
  int32_t (*report_mark_end)(moemesh_report report);
  int32_t (*report_collect)(moemesh_report report);
  int32_t (*report_get_summary)(moemesh_report report, moemesh_report_summary* summary);
  int32_t (*report_get_layer)(moemesh_report report, int64_t index, moemesh_report_layer* layer);
  int32_t (*report_get_step)(moemesh_report report, int64_t index, moemesh_report_step* step);
  int32_t (*report_write)(moemesh_report report, int32_t output, int64_t step, const char* path);
  int32_t (*runtime_get_info)(moemesh_runtime_info* info);
  int32_t (*view_copy)(const moemesh_view* from, const moemesh_view* to);
} moemesh_api;

/* NULL for a version that this library does not have, and nothing else happens. The table lives as long as the library is
 * loaded. May be called at any time. */
MOEMESH_API const moemesh_api* moemesh_get_api(int32_t abi_version);
typedef const moemesh_api* (*moemesh_get_api_function)(int32_t abi_version);

#ifdef __cplusplus
}
#endif
#endif /* MOEMESH_H */
