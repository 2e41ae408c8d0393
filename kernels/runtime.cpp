// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "kernels/runtime.hpp"

#include <dlfcn.h>
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace moemesh::kernels {
namespace {

bool started_here = false;

// Kokkos sets the calling thread's OpenMP thread count, which is the host program's own; its pool does not depend on
// it.
class HostThreadCount {
 public:
#ifdef _OPENMP
  HostThreadCount() : count_(omp_get_max_threads()) {}
  ~HostThreadCount() { omp_set_num_threads(count_); }

 private:
  int count_;
#else
  HostThreadCount() {}
  ~HostThreadCount() {}
#endif
};

// OpenMP's threads wait in its library for more work. Where a program unloads moemesh, the code that they are in must
// stay.
void pin_openmp() {
#ifdef _OPENMP
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&omp_get_max_threads), &info) == 0 || !info.dli_fname) return;
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (library) dlclose(library);
#endif
}

void initialize_kokkos(int32_t threads, int32_t device) {
  const HostThreadCount restored_after;
  pin_openmp();
  auto settings =
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true).set_print_configuration(
          false);
  if (device >= 0) settings.set_device_id(device);
  Kokkos::initialize(settings);
}

}  // namespace

RuntimeState runtime_state() {
  if (Kokkos::is_finalized()) return RuntimeState::finalized;
  return Kokkos::is_initialized() ? RuntimeState::running : RuntimeState::not_started;
}

std::string start_runtime(int32_t threads, int32_t device) {
  if (threads < 1) throw std::invalid_argument("start_runtime: threads must be at least 1");
  if (runtime_state() == RuntimeState::finalized) throw std::logic_error("start_runtime: Kokkos is finalized");
  if (runtime_state() == RuntimeState::running) return {};  // someone else's, adopted
  int32_t chosen = -1;
  std::string problem = detail::choose_device(device, chosen);
  if (!problem.empty()) return problem;
  initialize_kokkos(threads, chosen);
  started_here = true;
  return problem;
}

#if !defined(MOEMESH_DEVICE_CUDA) && !defined(MOEMESH_FAKE_DEVICE)
std::string detail::choose_device(int32_t, int32_t&) { return {}; }
void detail::forget_streams() {}
int32_t device() { return -1; }
DeviceVersions device_versions() { return {}; }
#endif

std::string select_device(int32_t device) {
  int32_t chosen = -1;
  return detail::choose_device(device, chosen);
}

void stop_runtime() {
  detail::forget_streams();
  if (started_here && runtime_state() == RuntimeState::running) Kokkos::finalize();
  started_here = false;
}

int32_t runtime_threads() {
  if (runtime_state() != RuntimeState::running) return 0;
  static const Kokkos::DefaultHostExecutionSpace host;  // a new one in each call would be an allocation
  return static_cast<int32_t>(host.concurrency());
}

int32_t kokkos_version_compiled() { return KOKKOS_VERSION; }

// Kokkos has no function for it, but the text of its library names the version that the library was built from. There
// is no text before it runs: then the compiled version is all that is known.
int32_t kokkos_version_loaded() {
  if (runtime_state() != RuntimeState::running) return kokkos_version_compiled();
  std::ostringstream text;
  Kokkos::print_configuration(text);
  const std::string label = "Kokkos Version:";
  const std::size_t at = text.str().find(label);
  int major = 0, minor = 0, patch = 0;
  if (at == std::string::npos) return 0;
  if (std::sscanf(text.str().c_str() + at + label.size(), "%d.%d.%d", &major, &minor, &patch) != 3) return 0;
  return major * 10000 + minor * 100 + patch;
}

const char* kokkos_backends() {
  static constexpr const char* names =
      ""
#ifdef KOKKOS_ENABLE_CUDA
      ", CUDA"
#endif
#ifdef KOKKOS_ENABLE_HIP
      ", HIP"
#endif
#ifdef KOKKOS_ENABLE_SYCL
      ", SYCL"
#endif
#ifdef KOKKOS_ENABLE_OPENMP
      ", OpenMP"
#endif
#ifdef KOKKOS_ENABLE_THREADS
      ", Threads"
#endif
#ifdef KOKKOS_ENABLE_HPX
      ", HPX"
#endif
#ifdef KOKKOS_ENABLE_SERIAL
      ", Serial"
#endif
      ;
  return names + 2;
}

bool kokkos_shared() {
#ifdef MOEMESH_SHARED_KOKKOS
  return true;
#else
  return false;
#endif
}

const void* kokkos_code() { return reinterpret_cast<const void*>(&Kokkos::is_initialized); }

}  // namespace moemesh::kernels
