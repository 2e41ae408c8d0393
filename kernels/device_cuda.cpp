// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

// The one device of this process's kernels.
#include <cuda_runtime_api.h>

#include <atomic>
#include <string>

#include "kernels/runtime.hpp"

namespace moemesh::kernels {
namespace {

std::atomic<int32_t> chosen_device = -1;

std::string text_of(cudaError_t code) {
  (void)cudaGetLastError();
  return std::string(cudaGetErrorName(code)) + ", " + cudaGetErrorString(code);
}

}  // namespace

std::string detail::choose_device(int32_t device, int32_t& chosen) {
  int count = 0, current = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) return text_of(code);
  if (count == 0) return "there is no device";
  if (device >= count) return "there are " + std::to_string(count) + " devices, numbered from 0";
  if (const cudaError_t code = cudaGetDevice(&current); code != cudaSuccess) return text_of(code);
  chosen = device >= 0 ? device : current;
  chosen_device = chosen;
  return {};
}

int32_t device() { return chosen_device; }

DeviceVersions device_versions() {
  DeviceVersions versions;
  versions.compiled = CUDART_VERSION;
  (void)cudaRuntimeGetVersion(&versions.runtime);
  (void)cudaDriverGetVersion(&versions.driver);  // 0 without a driver
  return versions;
}

}  // namespace moemesh::kernels
