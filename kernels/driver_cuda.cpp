// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Kokkos calls three functions of the CUDA driver. Linked in the usual way, they make this library need libcuda.so.1,
// and it could not even be loaded on a machine without a GPU's driver, where the rest of it can say what is missing.
// These stand in their place, hidden, and look for the driver when they are called, as the CUDA runtime does.

#include <cuda.h>
#include <dlfcn.h>

#define MOEMESH_TEXT(name) #name
#define MOEMESH_NAME(function) MOEMESH_TEXT(function)  // cuda.h renames some: cuCtxPushCurrent_v2

namespace {

template <class... Parameters, class... Arguments>
CUresult call_driver(CUresult (*)(Parameters...), const char* name, Arguments... arguments) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const function = driver ? dlsym(driver, name) : nullptr;
  if (!function) return CUDA_ERROR_NOT_INITIALIZED;
  return reinterpret_cast<CUresult (*)(Parameters...)>(function)(arguments...);
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  return call_driver(&cuCtxGetDevice, MOEMESH_NAME(cuCtxGetDevice), device);
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
  return call_driver(&cuCtxPushCurrent, MOEMESH_NAME(cuCtxPushCurrent), context);
}

CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call_driver(&cuStreamGetCtx, MOEMESH_NAME(cuStreamGetCtx), stream, context);
}

}  // extern "C"
