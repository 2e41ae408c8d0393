// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/context/context.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "impl/base/error.hpp"
#include "impl/comm/nccl_world.hpp"
#include "impl/comm/world.hpp"
#include "impl/context/runtime_mutex.hpp"
#include "kernels/runtime.hpp"

namespace moemesh {
namespace {

std::atomic<int64_t> live_contexts{0};

// OpenMP ends the process where it can't start its threads.
constexpr int32_t most_threads = 4096;

int64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int64_t ranks_on_this_node(const Communicator& world) {
  if (world.nodes().empty()) return 1;
  return std::count(world.nodes().begin(), world.nodes().end(), world.nodes()[static_cast<size_t>(world.rank())]);
}

int32_t default_threads(const Communicator& world) {
  if (const char* text = std::getenv("OMP_NUM_THREADS"); text && std::atoi(text) > 0)
    return std::min(std::atoi(text), most_threads);
  return static_cast<int32_t>(std::max<int64_t>(1, usable_cores() / ranks_on_this_node(world)));
}

void check_device(int32_t device) {
  const int32_t running = kernels::runtime_state() == kernels::RuntimeState::running ? kernels::device() : -1;
  require(device < 0 || kernels::takes_streams, MOEMESH_ERROR_NOT_SUPPORTED,
          "device: expected -1, as this library works on the host, got {}", device);
  require(device < 0 || running < 0 || device == running, MOEMESH_ERROR_NOT_SUPPORTED,
          "device: a process's contexts share one device, {} here, got {}", running, device);
}

void start_kokkos(int32_t threads, int32_t device) {
  const std::string problem = kernels::start_runtime(threads, device);
  require(problem.empty(), MOEMESH_ERROR_NO_DEVICE, "device {}: {}", device, problem);
}

void adopt_kokkos(int32_t threads, int32_t device, const Logger& log) {
  const std::lock_guard lock(runtime_mutex());
  require(kernels::kokkos_version_compiled() == kernels::kokkos_version_loaded(), MOEMESH_ERROR_KOKKOS_VERSION,
          "Kokkos: compiled against {}, loaded {}", kernels::kokkos_version_compiled(),
          kernels::kokkos_version_loaded());
  const auto state = kernels::runtime_state();
  require(state != kernels::RuntimeState::finalized, MOEMESH_ERROR_KOKKOS_FINALIZED,
          "Kokkos was finalized; it can be started once per process");
  check_device(device);
  if (state == kernels::RuntimeState::not_started) start_kokkos(threads, device);
  if (kernels::runtime_threads() != threads)
    log.warning("threads: {} asked for, but the process's kernel pool already has {}", threads,
                kernels::runtime_threads());
}

// NCCL needs the device before the pool of kernels can be made, whose size depends on the ranks of this node. Where a runtime
// is up already, its device is the one; whether it is also what was asked for is found out later, and told to all.
void choose_device_early(int32_t device) {
  const std::lock_guard lock(runtime_mutex());
  if (kernels::runtime_state() != kernels::RuntimeState::not_started) return;
  const std::string problem = kernels::select_device(device);
  require(problem.empty(), MOEMESH_ERROR_NO_DEVICE, "device {}: {}", device, problem);
}

std::shared_ptr<Link> make_link(const moemesh_context_params& params) {
  auto link = std::make_shared<Link>();
  link->allocator = std::make_shared<const Allocator>(params.allocate, params.free, params.allocator_user);
  link->timeout_seconds = params.timeout_seconds;
  link->deterministic = params.deterministic == 1;
  return link;
}

void check(const moemesh_context_params& params) {
  constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
  require((params.allocate == nullptr) == (params.free == nullptr), bad, "allocate, free: expected both or neither");
  require(params.timeout_seconds >= 0, bad, "timeout_seconds: expected >= 0, got {}", params.timeout_seconds);
  require(params.log_level >= MOEMESH_LOG_ERROR && params.log_level <= MOEMESH_LOG_DEBUG, bad,
          "log_level: expected 1..4, got {}", params.log_level);
  require(params.threads >= 0 && params.threads <= most_threads, bad, "threads: expected 0..{}, got {}", most_threads,
          params.threads);
  require(params.mpi_init == 0 || params.mpi_init == 1, bad, "mpi_init: expected 0 or 1, got {}", params.mpi_init);
  require(params.comm.reserved == 0 && params.reserved == 0 && params.reserved2 == 0, bad, "reserved: expected 0");
  require(params.deterministic == 0 || params.deterministic == 1, bad, "deterministic: expected 0 or 1, got {}",
          params.deterministic);
  require(params.device >= -1, bad, "device: expected -1 or a number of a device, got {}", params.device);
}

bool multiple_threads(const Link& link) {
  constexpr int32_t multiple = 3;
  moemesh_transport_state state{};
  return link.transport && link.transport->state(&state) == 0 && state.thread_level == multiple;
}

void check_thread(int32_t progress, const Link& link) {
  require(progress >= MOEMESH_PROGRESS_AUTO && progress <= MOEMESH_PROGRESS_CALLS, MOEMESH_ERROR_INVALID_ARGUMENT,
          "progress: expected a moemesh_progress (0..2), got {}", progress);
  require(progress != MOEMESH_PROGRESS_THREAD || !link.transport || multiple_threads(link),
          MOEMESH_ERROR_MPI_THREAD_LEVEL,
          "progress: a thread of the library's own needs MPI_THREAD_MULTIPLE, MPI was started at a lower level");
}

}  // namespace

std::mutex& runtime_mutex() {
  static std::mutex mutex;
  return mutex;
}

Context::Context(const moemesh_context_params& params)
    : link_(make_link(params)),
      log_(params.log, params.log_user, params.log_level),
      clock_{params.clock, params.clock_user} {
  open(params);
  link_->oversubscribed = ranks_on_this_node(*world_) > usable_cores();
  const Finding finding = attempt([&] {
    check(params);
    check_thread(params.progress, *link_);
    adopt_kokkos(params.threads > 0 ? params.threads : default_threads(*world_), params.device, log_);
  });
  try {
    const Field fields[] = {{"deterministic", params.deterministic}};
    agree_on_configuration(*world_, "context_create", fields, finding.status, finding.text);
  } catch (const Error&) {
    if (!link_->broken) close();
    throw;
  }
  if (!world_->closed()) comm_kind_ = link_->transport->kind;
  if (params.progress != MOEMESH_PROGRESS_CALLS && multiple_threads(*link_)) link_->progress.start();
  ++live_contexts;
}

// For NCCL the handle is the address of a struct that capi/ has checked.
void Context::open(const moemesh_context_params& params) {
  if (params.comm.kind != MOEMESH_COMM_NCCL) {
    world_ = open_world(link_, params.comm, params.mpi_init == 1, params.progress != MOEMESH_PROGRESS_CALLS);
    return;
  }
  require_nccl();
  choose_device_early(params.device);
  WorldOfId made = open_nccl_world(link_, *reinterpret_cast<const moemesh_nccl_comm*>(params.comm.handle));
  world_ = std::move(made.control);
  devices_ = std::move(made.devices);
}

void Context::close() {
  if (devices_) devices_->close();
  world_->close();
}

Context::~Context() {
  if (!finalized_ && !world_->closed())
    log_.warning("context destroyed without moemesh_context_finalize: its communicator is leaked");
  --live_contexts;
}

void Context::require_usable() const {
  require(!link_->broken, MOEMESH_ERROR_COMMUNICATION,
          "the context is broken by an earlier failure; only destroy is left");
  require(!finalized_, MOEMESH_ERROR_INVALID_STATE, "the context is finalized; only destroy is left");
  moemesh_transport_state state{};
  if (link_->transport && link_->transport->state(&state) == 0)
    require(!state.finalized, MOEMESH_ERROR_MPI_FINALIZED, "MPI was finalized while the context was in use");
}

DeviceWorld* Context::devices() {
  if (!devices_) devices_ = open_device_world(*world_, link_);
  return devices_.get();
}

void Context::finalize() {
  require(!link_->broken, MOEMESH_ERROR_COMMUNICATION,
          "the context is broken by an earlier failure; only destroy is left");
  require(!finalized_, MOEMESH_ERROR_INVALID_STATE, "the context is finalized already");
  require(open_meshes == 0, MOEMESH_ERROR_INVALID_STATE, "context_finalize: {} meshes are not finalized", open_meshes);
  link_->progress.stop();
  close();
  finalized_ = true;
}

void shutdown_runtimes() {
  require(live_contexts == 0, MOEMESH_ERROR_INVALID_STATE,
          "shutdown: {} contexts are alive (a destroyed one lives on while a mesh, layer, tape or the like does)",
          live_contexts.load());
  const std::lock_guard lock(runtime_mutex());
  finalize_mpi_if_ours();
  if (kernels::runtime_state() == kernels::RuntimeState::running) kernels::stop_runtime();
}

}  // namespace moemesh
