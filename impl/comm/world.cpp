// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/world.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "impl/base/error.hpp"
#include "impl/comm/mpi_loader.hpp"
#include "impl/comm/transport_error.hpp"

namespace moemesh {
namespace {

std::mutex initialization;
bool initialized_by_us = false;

moemesh_transport_state state_of(Link& link) {
  moemesh_transport_state state{};
  check_transport(link, link.transport->state(&state), "asking for MPI's state");
  return state;
}

const char* name_of(int32_t kind) {
  if (kind == MOEMESH_COMM_OPENMPI) return "Open MPI";
  return kind == MOEMESH_COMM_MPICH_ABI ? "MPICH and its kin" : "the MPI ABI";
}

// In a program that is linked to another MPI, the module's calls go there, with handles that mean nothing to it. The
// one call that needs no handle tells whose functions they are.
bool calls_its_own_mpi(const moemesh_transport& transport) {
  const std::string_view library(transport.library);
  const bool open_mpi = library.find("Open MPI") != std::string_view::npos;
  if (transport.kind == MOEMESH_COMM_OPENMPI) return open_mpi;
  return transport.kind != MOEMESH_COMM_MPICH_ABI || !open_mpi;
}

void check_kind(const moemesh_comm& comm, const moemesh_transport& transport) {
  require(calls_its_own_mpi(transport), MOEMESH_ERROR_MPI_KIND,
          "the MPI module is built for {}, but the MPI of this program is {}", name_of(transport.kind),
          transport.library);
  if (comm.kind == MOEMESH_COMM_MPI_WORLD || comm.kind == transport.kind) return;
  fail(MOEMESH_ERROR_MPI_KIND, "the communicator is of MPI kind {} ({}), the MPI module is built for kind {} ({})",
       comm.kind, name_of(comm.kind), transport.kind, transport.library);
}

void bring_up(Link& link, bool initialize, bool multiple) {
  const std::lock_guard lock(initialization);
  moemesh_transport_state state = state_of(link);
  require(!state.finalized, MOEMESH_ERROR_MPI_FINALIZED, "MPI is already finalized");
  if (!state.initialized) {
    require(initialize, MOEMESH_ERROR_MPI_NOT_INITIALIZED,
            "MPI is not initialized and the library was not asked to do it");
    check_transport(link, link.transport->initialize(multiple ? 1 : 0), "initializing MPI");
    initialized_by_us = true;
    state = state_of(link);
  }
  constexpr int32_t serialized = 2;
  require(state.thread_level >= serialized || state.main_thread, MOEMESH_ERROR_MPI_THREAD_LEVEL,
          "MPI was started at thread level {}, so only the thread that started it may use it",
          state.thread_level == 0 ? "SINGLE" : "FUNNELED");
}

// Nodes are numbered in the order of their lowest ranks.
std::vector<int64_t> node_numbers(const std::vector<int64_t>& leaders) {
  std::vector<int64_t> distinct(leaders);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<int64_t> numbers;
  for (const int64_t leader : leaders)
    numbers.push_back(std::lower_bound(distinct.begin(), distinct.end(), leader) - distinct.begin());
  return numbers;
}

}  // namespace

std::unique_ptr<Communicator> open_world(std::shared_ptr<Link> link, const moemesh_comm& comm, bool initialize,
                                         bool multiple) {
  require(comm.kind >= MOEMESH_COMM_NONE && comm.kind <= MOEMESH_COMM_MPI_WORLD, MOEMESH_ERROR_INVALID_ARGUMENT,
          "comm.kind: expected a moemesh_comm_kind, got {}", comm.kind);
  if (comm.kind == MOEMESH_COMM_NONE) return std::make_unique<Communicator>(link);
  link->transport = &mpi_transport();
  check_kind(comm, *link->transport);
  bring_up(*link, initialize, multiple);
  void* copy = nullptr;
  const int32_t world = comm.kind == MOEMESH_COMM_MPI_WORLD ? 1 : 0;
  require(world == 1 || (comm.handle >= INT32_MIN && comm.handle <= INT32_MAX), MOEMESH_ERROR_INVALID_ARGUMENT,
          "comm.handle: expected what MPI_Comm_c2f gives, got {}", comm.handle);
  if (const int32_t code = link->transport->open(comm.handle, world, &copy); code != 0) {
    std::array<char, 512> text{};
    link->transport->error_text(code, text.data(), static_cast<int64_t>(text.size()));
    fail(MOEMESH_ERROR_INVALID_ARGUMENT, "comm: MPI does not duplicate it: {}", text.data());
  }
  return adopt_world(std::move(link), copy);
}

std::unique_ptr<Communicator> adopt_world(std::shared_ptr<Link> link, void* comm) {
  int64_t rank = 0, size = 0, leader = 0;
  check_transport(*link, link->transport->rank(comm, &rank, &size), "asking for the rank");
  check_transport(*link, link->transport->node_leader(comm, &leader), "finding the ranks that share memory");
  constexpr int32_t every_axis = MOEMESH_GROUP_WORLD;
  auto result =
      std::make_unique<Communicator>(link, comm, every_axis, std::vector<int64_t>(static_cast<size_t>(size), 0));
  std::vector<int64_t> leaders(static_cast<size_t>(size));
  result->all_gather(&leader, 1, leaders.data(), Purpose{});
  result->set_nodes(node_numbers(leaders));
  return result;
}

void finalize_mpi_if_ours() {
  const std::lock_guard lock(initialization);
  if (!std::exchange(initialized_by_us, false)) return;
  Link link;
  link.transport = &mpi_transport();
  if (!state_of(link).finalized) check_transport(link, link.transport->finalize(), "finalizing MPI");
}

}  // namespace moemesh
