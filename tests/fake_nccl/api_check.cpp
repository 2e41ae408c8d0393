// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Compiled against the fake headers by the tests' build and against the real ones by tests/cuda-gate: both must agree with
// what is written here, so that what runs on the fake is what NCCL and CUDA are asked for.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <type_traits>

#define MOEMESH_SAME(function, ...) static_assert(std::is_same_v<decltype(&function), __VA_ARGS__>)

static_assert(ncclSuccess == 0 && ncclUnhandledCudaError == 1 && ncclSystemError == 2 && ncclInternalError == 3);
static_assert(ncclInvalidArgument == 4 && ncclInvalidUsage == 5 && ncclRemoteError == 6 && ncclInProgress == 7);
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclUint32 == 3 && ncclInt64 == 4);
static_assert(ncclUint64 == 5 && ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);
static_assert(NCCL_SPLIT_NOCOLOR == -1 && NCCL_UNIQUE_ID_BYTES == 128 && sizeof(ncclUniqueId) == 128);
static_assert(NCCL_CONFIG_UNDEF_INT == -2147483647 - 1);
static_assert(NCCL_VERSION(2, 28, 9) == 22809 && NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0));
static_assert(offsetof(ncclConfig_t, magic) == 8 && offsetof(ncclConfig_t, version) == 12);
static_assert(offsetof(ncclConfig_t, blocking) == 16);

MOEMESH_SAME(ncclGetErrorString, const char* (*)(ncclResult_t));
MOEMESH_SAME(ncclGetLastError, const char* (*)(ncclComm_t));
MOEMESH_SAME(ncclGetVersion, ncclResult_t (*)(int*));
MOEMESH_SAME(ncclMemAlloc, ncclResult_t (*)(void**, size_t));
MOEMESH_SAME(ncclMemFree, ncclResult_t (*)(void*));
MOEMESH_SAME(ncclGetUniqueId, ncclResult_t (*)(ncclUniqueId*));
MOEMESH_SAME(ncclCommInitRankConfig, ncclResult_t (*)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*));
MOEMESH_SAME(ncclCommSplit, ncclResult_t (*)(ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*));
MOEMESH_SAME(ncclCommFinalize, ncclResult_t (*)(ncclComm_t));
MOEMESH_SAME(ncclCommDestroy, ncclResult_t (*)(ncclComm_t));
MOEMESH_SAME(ncclCommAbort, ncclResult_t (*)(ncclComm_t));
MOEMESH_SAME(ncclCommGetAsyncError, ncclResult_t (*)(ncclComm_t, ncclResult_t*));
MOEMESH_SAME(ncclCommCount, ncclResult_t (*)(ncclComm_t, int*));
MOEMESH_SAME(ncclCommUserRank, ncclResult_t (*)(ncclComm_t, int*));
MOEMESH_SAME(ncclCommRegister, ncclResult_t (*)(ncclComm_t, void*, size_t, void**));
MOEMESH_SAME(ncclCommDeregister, ncclResult_t (*)(ncclComm_t, void*));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
static_assert(NCCL_WIN_DEFAULT == 0 && NCCL_WIN_COLL_SYMMETRIC == 1);
MOEMESH_SAME(ncclCommWindowRegister, ncclResult_t (*)(ncclComm_t, void*, size_t, ncclWindow_t*, int));
MOEMESH_SAME(ncclCommWindowDeregister, ncclResult_t (*)(ncclComm_t, ncclWindow_t));
#endif
MOEMESH_SAME(ncclReduce,
             ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t));
MOEMESH_SAME(ncclBroadcast,
             ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
MOEMESH_SAME(ncclAllReduce,
             ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t));
MOEMESH_SAME(ncclReduceScatter,
             ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t));
MOEMESH_SAME(ncclAllGather, ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
MOEMESH_SAME(ncclAlltoAll, ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t));
#endif
MOEMESH_SAME(ncclSend, ncclResult_t (*)(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
MOEMESH_SAME(ncclRecv, ncclResult_t (*)(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t));
MOEMESH_SAME(ncclGroupStart, ncclResult_t (*)());
MOEMESH_SAME(ncclGroupEnd, ncclResult_t (*)());

static_assert(cudaSuccess == 0 && cudaErrorInvalidValue == 1 && cudaErrorMemoryAllocation == 2);
static_assert(cudaErrorInvalidDevice == 101 && cudaErrorInvalidResourceHandle == 400);
static_assert(cudaErrorNotReady == 600 && cudaErrorLaunchFailure == 719);
static_assert(cudaMemcpyHostToHost == 0 && cudaMemcpyHostToDevice == 1 && cudaMemcpyDeviceToHost == 2);
static_assert(cudaMemcpyDeviceToDevice == 3 && cudaMemcpyDefault == 4);
static_assert(cudaStreamNonBlocking == 1 && cudaEventDisableTiming == 2 && cudaEventDefault == 0);
static_assert(cudaHostAllocPortable == 1);

MOEMESH_SAME(cudaGetErrorName, const char* (*)(cudaError_t));
MOEMESH_SAME(cudaGetErrorString, const char* (*)(cudaError_t));
MOEMESH_SAME(cudaGetLastError, cudaError_t (*)());
MOEMESH_SAME(cudaGetDeviceCount, cudaError_t (*)(int*));
MOEMESH_SAME(cudaGetDevice, cudaError_t (*)(int*));
MOEMESH_SAME(cudaSetDevice, cudaError_t (*)(int));
MOEMESH_SAME(cudaDeviceSynchronize, cudaError_t (*)());
MOEMESH_SAME(cudaDeviceGetStreamPriorityRange, cudaError_t (*)(int*, int*));
static_assert(std::is_same_v<decltype(static_cast<cudaError_t (*)(void**, size_t)>(cudaMalloc)),
                             cudaError_t (*)(void**, size_t)>);  // C++ has templates of that name too
MOEMESH_SAME(cudaFree, cudaError_t (*)(void*));
static_assert(std::is_same_v<decltype(static_cast<cudaError_t (*)(void**, size_t, cudaStream_t)>(cudaMallocAsync)),
                             cudaError_t (*)(void**, size_t, cudaStream_t)>);
static_assert(std::is_same_v<decltype(static_cast<cudaError_t (*)(void**, size_t, unsigned int)>(cudaHostAlloc)),
                             cudaError_t (*)(void**, size_t, unsigned int)>);
MOEMESH_SAME(cudaFreeAsync, cudaError_t (*)(void*, cudaStream_t));
MOEMESH_SAME(cudaFreeHost, cudaError_t (*)(void*));
MOEMESH_SAME(cudaMemcpy2DAsync, cudaError_t (*)(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t));
MOEMESH_SAME(cudaEventElapsedTime, cudaError_t (*)(float*, cudaEvent_t, cudaEvent_t));
MOEMESH_SAME(cudaRuntimeGetVersion, cudaError_t (*)(int*));
MOEMESH_SAME(cudaDriverGetVersion, cudaError_t (*)(int*));
MOEMESH_SAME(cudaMemcpyAsync, cudaError_t (*)(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t));
MOEMESH_SAME(cudaStreamCreateWithFlags, cudaError_t (*)(cudaStream_t*, unsigned int));
MOEMESH_SAME(cudaStreamCreateWithPriority, cudaError_t (*)(cudaStream_t*, unsigned int, int));
MOEMESH_SAME(cudaStreamGetPriority, cudaError_t (*)(cudaStream_t, int*));
MOEMESH_SAME(cudaStreamDestroy, cudaError_t (*)(cudaStream_t));
MOEMESH_SAME(cudaStreamSynchronize, cudaError_t (*)(cudaStream_t));
MOEMESH_SAME(cudaStreamQuery, cudaError_t (*)(cudaStream_t));
MOEMESH_SAME(cudaStreamWaitEvent, cudaError_t (*)(cudaStream_t, cudaEvent_t, unsigned int));
MOEMESH_SAME(cudaEventCreateWithFlags, cudaError_t (*)(cudaEvent_t*, unsigned int));
MOEMESH_SAME(cudaEventDestroy, cudaError_t (*)(cudaEvent_t));
MOEMESH_SAME(cudaEventRecord, cudaError_t (*)(cudaEvent_t, cudaStream_t));
MOEMESH_SAME(cudaEventQuery, cudaError_t (*)(cudaEvent_t));
MOEMESH_SAME(cudaEventSynchronize, cudaError_t (*)(cudaEvent_t));
