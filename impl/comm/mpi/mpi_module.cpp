// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// libmoemesh_mpi.so: the transport table over MPI's C functions. Point-to-point only, so that every wait stays with the
// core; the collective calls are those that make and free communicators.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "impl/comm/mpi/message.hpp"
#include "impl/comm/transport.h"
#include "moemesh.h"

namespace moemesh::mpi {
namespace {

// As moemesh_mpi.h tells its callers, which can't be asked here: MPI_Comm_c2f is forbidden before MPI_Init.
#if defined(OPEN_MPI)
constexpr int32_t kind = MOEMESH_COMM_OPENMPI;
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
constexpr int32_t kind = MOEMESH_COMM_MPICH_ABI;
#else
constexpr int32_t kind = MOEMESH_COMM_MPI_ABI;
#endif

struct Comm {
  MPI_Comm comm = MPI_COMM_NULL;
  Drain drain;
};

// Open communicators; those that are never closed stay reachable from here. Never destroyed: MPI may outlive statics.
struct Registry {
  std::mutex mutex;
  std::set<Comm*> comms;
};
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

// No exception may cross the table.
template <class F>
int32_t guarded(F&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return out_of_memory;  // nothing else is thrown below
  }
}

MPI_Comm of(void* comm) { return static_cast<Comm*>(comm)->comm; }

int32_t adopt(MPI_Comm comm, void** out) {
  auto owned = std::make_unique<Comm>();
  owned->comm = comm;
  const int32_t code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(registry().mutex);
  registry().comms.insert(owned.get());
  *out = owned.release();
  return MPI_SUCCESS;
}

int32_t state(moemesh_transport_state* state) {
  int initialized = 0, finalized = 0, level = MPI_THREAD_SINGLE, main_thread = 0;
  int32_t code = MPI_Initialized(&initialized);
  if (code == MPI_SUCCESS) code = MPI_Finalized(&finalized);
  if (code == MPI_SUCCESS && initialized && !finalized) {
    code = MPI_Query_thread(&level);
    if (code == MPI_SUCCESS) code = MPI_Is_thread_main(&main_thread);
  }
  const std::array levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  const auto place = std::find(levels.begin(), levels.end(), level) - levels.begin();
  *state = {initialized, finalized, static_cast<int32_t>(place), main_thread};
  return code;
}

int32_t initialize(int32_t multiple) {
  int provided = 0;
  return MPI_Init_thread(nullptr, nullptr, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
}

int32_t finalize() { return MPI_Finalize(); }

int32_t open(int64_t handle, int32_t world, void** out) {
  return guarded([&]() -> int32_t {
    const MPI_Comm from = world ? MPI_COMM_WORLD : MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
    // Errors on the caller's communicator would go to its handler, which by default ends the program.
    // A number that is no handle: Open MPI gives a null pointer for it.
    if (from == MPI_COMM_NULL || from == MPI_Comm{}) return null_communicator;
    int inter = 0;
    int32_t code = MPI_Comm_test_inter(from, &inter);
    if (code != MPI_SUCCESS) return code;
    if (inter) return inter_communicator;
    MPI_Comm copy = MPI_COMM_NULL;
    code = MPI_Comm_dup(from, &copy);
    return code == MPI_SUCCESS ? adopt(copy, out) : code;
  });
}

int32_t group(void* comm, const int64_t* ranks, int64_t count, int32_t tag, void** sub) {
  return guarded([&]() -> int32_t {
    const std::vector<int> members(ranks, ranks + count);
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    int32_t code = MPI_Comm_group(of(comm), &all);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Group_incl(all, static_cast<int>(count), members.data(), &some);
    if (code == MPI_SUCCESS) code = MPI_Comm_create_group(of(comm), some, tag, &made);
    if (some != MPI_GROUP_NULL) MPI_Group_free(&some);
    MPI_Group_free(&all);
    return code == MPI_SUCCESS ? adopt(made, sub) : code;
  });
}

int32_t close(void* comm) {
  const std::unique_ptr<Comm> owned(static_cast<Comm*>(comm));
  {
    const std::lock_guard lock(registry().mutex);
    registry().comms.erase(owned.get());
  }
  return MPI_Comm_free(&owned->comm);
}

int32_t rank(void* comm, int64_t* rank, int64_t* size) {
  int mine = 0, all = 0;
  int32_t code = MPI_Comm_rank(of(comm), &mine);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(of(comm), &all);
  *rank = mine;
  *size = all;
  return code;
}

// MOEMESH_FAKE_NODES=n: every n ranks count as one node (tests on one machine).
int32_t fake_leader(const char* text, int64_t rank, int64_t* leader) {
  char* end = nullptr;
  const int64_t width = std::strtoll(text, &end, 10);
  if (end == text || *end != 0 || width < 1) return bad_fake_nodes;
  *leader = rank / width * width;
  return MPI_SUCCESS;
}

int32_t translate_first(MPI_Comm part, MPI_Comm whole, int64_t* leader) {
  MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
  const int first = 0;
  int result = 0;
  int32_t code = MPI_Comm_group(part, &from);
  if (code == MPI_SUCCESS) code = MPI_Comm_group(whole, &to);
  if (code == MPI_SUCCESS) code = MPI_Group_translate_ranks(from, 1, &first, to, &result);
  if (from != MPI_GROUP_NULL) MPI_Group_free(&from);
  if (to != MPI_GROUP_NULL) MPI_Group_free(&to);
  *leader = result;
  return code;
}

int32_t node_leader(void* comm, int64_t* leader) {
  int64_t mine = 0, size = 0;
  int32_t code = rank(comm, &mine, &size);
  if (code != MPI_SUCCESS) return code;
  if (const char* const fake = std::getenv("MOEMESH_FAKE_NODES")) return fake_leader(fake, mine, leader);
  MPI_Comm node = MPI_COMM_NULL;  // its rank 0 is the lowest one, because the key is the rank
  code = MPI_Comm_split_type(of(comm), MPI_COMM_TYPE_SHARED, static_cast<int>(mine), MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return code;
  code = translate_first(node, of(comm), leader);
  const int32_t freed = MPI_Comm_free(&node);
  return code == MPI_SUCCESS ? freed : code;
}

int32_t send(void* comm, const void* data, int64_t bytes, int64_t peer, int32_t tag, void** request) {
  return guarded([&]() -> int32_t {
    auto made = std::make_unique<Send>(of(comm), static_cast<const char*>(data), bytes, static_cast<int>(peer), tag);
    const int32_t code = made->post();
    if (code == MPI_SUCCESS) *request = static_cast<Request*>(made.release());
    return code;
  });
}

int32_t receive(void* comm, void* data, int64_t capacity, int64_t peer, int32_t tag, void** request) {
  return guarded([&]() -> int32_t {
    auto made = std::make_unique<Receive>(of(comm), static_cast<char*>(data), capacity, static_cast<int>(peer), tag);
    const int32_t code = made->post();
    if (code == MPI_SUCCESS) *request = static_cast<Request*>(made.release());
    return code;
  });
}

int32_t test(void** request, int32_t* done, int64_t* bytes) {
  auto* const pending = static_cast<Request*>(*request);
  bool finished = false;
  int64_t size = 0;
  const int32_t code = pending->test(finished, size);
  *done = finished;
  if (bytes) *bytes = size;
  if (code != MPI_SUCCESS || !finished) return code;
  delete pending;
  *request = nullptr;
  return code;
}

int32_t handed_over(void* request) { return static_cast<Request*>(request)->handed_over() ? 1 : 0; }

int32_t drain(void* comm, int64_t peer, int32_t tag, int32_t* done, int64_t* bytes) {
  auto& state = static_cast<Comm*>(comm)->drain;
  bool finished = false;
  const int32_t code = state.step(of(comm), static_cast<int>(peer), tag, finished);
  *done = finished;
  if (bytes) *bytes = state.bytes;
  return code;
}

void abandon(void** request) {
  const std::unique_ptr<Request> pending(static_cast<Request*>(*request));
  *request = nullptr;
  pending->abandon();
}

const char* own_text(int32_t code) {
  switch (code) {
    case out_of_memory:
      return "out of memory in the MPI module";
    case null_communicator:
      return "the handle is MPI_COMM_NULL or no communicator";
    case inter_communicator:
      return "the handle is an inter-communicator";
    case message_too_long:
      return "a message is longer than its receiver expects: the ranks are in different calls, or tensor-parallel "
             "peers passed "
             "different numbers of tokens";
    case bad_fake_nodes:
      return "MOEMESH_FAKE_NODES is not a positive number";
    default:
      return "unknown error";
  }
}

void error_text(int32_t code, char* text, int64_t capacity) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> mpi{};
  const char* result = own_text(code);
  int length = 0;
  moemesh_transport_state now{};
  if (code > 0 && state(&now) == MPI_SUCCESS && now.initialized && !now.finalized &&
      MPI_Error_string(code, mpi.data(), &length) == MPI_SUCCESS)
    result = mpi.data();
  std::snprintf(text, static_cast<size_t>(capacity), "%s", result);
}

// "Open MPI v4.1.4, ..." up to the first line's end. In a program of another MPI it is that one which answers, whose
// text may be longer than this one's limit (MPICH's is 8192).
const char* library_name() {
  static const std::string name = [] {
    std::array<char, std::max(MPI_MAX_LIBRARY_VERSION_STRING, 16384) + 1> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole(text.data());
    return whole.substr(0, whole.find('\n'));
  }();
  return name.c_str();
}

}  // namespace
}  // namespace moemesh::mpi

extern "C" __attribute__((visibility("default"))) const moemesh_transport* moemesh_mpi_transport(int32_t version) {
  using namespace moemesh;
  if (version != MOEMESH_TRANSPORT_VERSION) return nullptr;
  static const moemesh_transport table = {
      .struct_size = sizeof(moemesh_transport),
      .version = MOEMESH_TRANSPORT_VERSION,
      .kind = mpi::kind,
      .library = mpi::library_name(),
      .state = mpi::state,
      .initialize = mpi::initialize,
      .finalize = mpi::finalize,
      .open = mpi::open,
      .group = mpi::group,
      .close = mpi::close,
      .rank = mpi::rank,
      .node_leader = mpi::node_leader,
      .send = mpi::send,
      .receive = mpi::receive,
      .test = mpi::test,
      .handed_over = mpi::handed_over,
      .drain = mpi::drain,
      .abandon = mpi::abandon,
      .error_text = mpi::error_text,
  };
  return &table;
}
