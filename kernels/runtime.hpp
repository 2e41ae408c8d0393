// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <string>

// The one Kokkos of this library (private and static unless built with MOEMESH_SHARED_KOKKOS). Started once per process,
// never stopped by destroying a context. Only kernels/ includes Kokkos.
namespace moemesh::kernels {

enum class RuntimeState : int32_t { not_started, running, finalized };

RuntimeState runtime_state();
// Starts Kokkos with `threads` (>= 1) host threads, or adopts one that already runs (shared mode). Only in not_started.
// device: the number of one, or -1 for the one that is current; on hosts -1. Returns why it can't be used, or an empty text.
std::string start_runtime(int32_t threads, int32_t device = -1);
// Makes the choice of start_runtime before it, for libraries that need the device first; a later one replaces it. Only in
// not_started; returns as start_runtime does.
std::string select_device(int32_t device);
// Of CUDA, as it counts; zeros on hosts.
struct DeviceVersions {
  int32_t compiled = 0, runtime = 0, driver = 0;
};
DeviceVersions device_versions();
// Of the kernels: -1 on hosts, and before they are started.
int32_t device();
namespace detail {
// Looks at the device before Kokkos does, which can't be tried twice. chosen: its number, -1 on hosts.
std::string choose_device(int32_t device, int32_t& chosen);
// Kokkos' objects for streams, before Kokkos stops.
void forget_streams();
}  // namespace detail
// Finalizes Kokkos if start_runtime started it. It can't be started again.
void stop_runtime();
int32_t runtime_threads();
// Compiled and loaded Kokkos version (major*10000 + minor*100 + patch); they can differ with a shared Kokkos.
int32_t kokkos_version_compiled();
int32_t kokkos_version_loaded();
const char* kokkos_backends();  // "OpenMP, Serial": those that were compiled in
bool kokkos_shared();
const void* kokkos_code();  // an address within it, for asking the loader where it came from

}  // namespace moemesh::kernels
