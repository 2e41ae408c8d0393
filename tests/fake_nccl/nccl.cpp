// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// NCCL's calls on the communicators of communicator.hpp.
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "communicator.hpp"
#include "fake.hpp"

namespace fake {
namespace {

constexpr int looks_until_through = 2;  // of ncclCommGetAsyncError, before a call that did not block is through

// What this thread has called since ncclGroupStart.
struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<std::pair<ncclComm*, CUstream_st*>> order;
  std::map<ncclComm*, std::vector<Entry>> entries;
};
thread_local Group group;
thread_local std::string last_text;

ncclResult_t refuse(ncclResult_t code, const std::string& text) {
  last_text = text;
  Engine::get().complain(text);
  return code;
}

void enter_group(ncclComm& comm, std::vector<Entry> entries, CUstream_st* stream) {
  Engine::get().enter(stream, std::make_unique<GroupWork>(comm, std::move(entries), stream));
}

// The end of a call: at once on a communicator that blocks.
ncclResult_t end_call(ncclComm& comm, std::function<void()> at_the_end, const char* call) {
  if (at_the_end) comm.at_the_end.push_back(std::move(at_the_end));
  comm.looks = looks_until_through;
  if (!comm.blocking) return ncclInProgress;
  const bool through = Engine::get().run_until([&] { return comm.tasks == 0 || comm.dead(); }, call);
  const auto guard = Engine::get().lock();
  if (!through || comm.dead()) return comm.dead() ? comm.error : ncclSystemError;
  comm.looks = 0;
  for (const auto& last : std::exchange(comm.at_the_end, {})) last();
  comm.launching.clear();
  return ncclSuccess;
}

ncclComm* begin_call(ncclComm_t comm, const char* call, ncclResult_t& code) {
  ncclComm* const own = Communicators::get().use(comm, call);
  code = ncclSuccess;
  if (!own) {
    code = ncclInvalidArgument;
  } else if (own->error != ncclSuccess) {
    code = own->error;
  } else if (own->busy()) {
    code = refuse(ncclInvalidUsage, std::string(call) +
                                        " while the call before is in progress: wait until "
                                        "ncclCommGetAsyncError no longer says ncclInProgress");
  }
  return code == ncclSuccess ? own : nullptr;
}

ncclResult_t check_memory(const ncclComm& comm, const void* data, size_t bytes, const char* call) {
  if (bytes == 0) return ncclSuccess;
  const Allocation* const found = Engine::get().find(data, bytes);
  if (!found) return refuse(ncclInvalidArgument, std::string(call) + ": not in the memory of a device");
  if (found->device != comm.device)
    return refuse(ncclInvalidArgument, std::string(call) + ": memory of device " + std::to_string(found->device) +
                                           ", the communicator is of device " + std::to_string(comm.device));
  return ncclSuccess;
}

ncclResult_t check_entry(const ncclComm& comm, const Entry& entry, cudaStream_t stream, const char* call) {
  const auto size = static_cast<size_t>(comm.size);
  const size_t bytes = entry.count * size_of(entry.type);
  const bool scatters = entry.kind == Entry::reduce_scatter || entry.kind == Entry::all_to_all;
  const bool gathers = entry.kind == Entry::all_gather || entry.kind == Entry::all_to_all;
  if (!Engine::get().owns(stream) || stream->destroyed)
    return refuse(ncclInvalidArgument, std::string(call) + " on a stream that does not exist");
  if (stream->device != comm.device)
    return refuse(ncclInvalidArgument, std::string(call) + ": a stream of device " + std::to_string(stream->device) +
                                           ", the communicator is of device " + std::to_string(comm.device));
  if (entry.peer < 0 || entry.peer >= comm.size)
    return refuse(ncclInvalidArgument, std::string(call) + ": no rank " + std::to_string(entry.peer));
  const bool reads = entry.kind != Entry::receive && (entry.kind != Entry::broadcast || comm.rank == entry.peer);
  const bool writes = entry.kind != Entry::send && (entry.kind != Entry::reduce || comm.rank == entry.peer);
  ncclResult_t code = ncclSuccess;
  if (reads) code = check_memory(comm, entry.from, scatters ? size * bytes : bytes, call);
  if (writes && code == ncclSuccess) code = check_memory(comm, entry.to, gathers ? size * bytes : bytes, call);
  return code;
}

ncclResult_t add(const Entry& entry, ncclComm_t handle, cudaStream_t stream, const char* call) {
  const auto guard = Engine::get().lock();
  Engine::get().count(call);
  const bool alone = group.depth == 0;
  if (alone) (void)ncclGroupStart();
  ncclResult_t code = ncclSuccess;
  if (ncclComm* const comm = begin_call(handle, call, code)) {
    code = check_entry(*comm, entry, stream, call);
    const auto known =
        std::find_if(group.order.begin(), group.order.end(), [&](auto& one) { return one.first == comm; });
    if (known == group.order.end())
      group.order.emplace_back(comm, stream);
    else if (known->second != stream)
      code = refuse(ncclInvalidUsage, "the fake has no groups with two streams of one communicator");
    auto& entries = group.entries[comm];
    if (!entries.empty() && (entries.front().kind <= Entry::receive) != (entry.kind <= Entry::receive))
      code = refuse(ncclInvalidUsage, "the fake has no groups of collectives and single messages together");
    if (code == ncclSuccess) entries.push_back(entry);
  }
  if (group.error == ncclSuccess) group.error = code;
  const ncclResult_t end = alone ? ncclGroupEnd() : ncclSuccess;
  return code == ncclSuccess ? end : code;
}

ncclResult_t check_sum(ncclDataType_t type, ncclRedOp_t op, const char* call) {
  if (type == ncclFloat32 && op == ncclSum) return ncclSuccess;
  return refuse(ncclInvalidArgument, std::string(call) + ": the fake has sums of fp32 alone");
}

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 32);
}

// All ranks meet on NCCL's own threads; then what is to be done with what they said.
void meet(ncclComm& comm, const std::string& text, const std::vector<std::byte>& data,
          std::function<bool()> ready = nullptr, std::function<void(const std::map<int, Message>&)> then = nullptr) {
  auto meeting = std::make_shared<Meeting>(comm, everyone(comm));
  ++comm.tasks;
  Engine::get().add_task([=, &comm] {
    if (!comm.dead() && ready && !ready()) return false;
    if (!comm.dead() && !meeting->started()) {
      std::map<int, Talk> talks;
      for (const int other : everyone(comm)) talks[other] = {text, text, data};
      meeting->start(std::move(talks));
    }
    if (!comm.dead() && !meeting->over()) return false;
    if (!comm.dead() && then) then(meeting->came());
    --comm.tasks;
    return true;
  });
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&value);
  return {begin, begin + sizeof value};
}

struct Choice {
  int64_t color, key;
};

// The ranks of one colour, by key and rank.
std::vector<int> members(const std::map<int, Message>& came, int64_t color) {
  std::vector<std::pair<int64_t, int>> chosen;
  for (const auto& [rank, message] : came) {
    Choice choice{};
    std::memcpy(&choice, message.data.data(), sizeof choice);
    if (choice.color == color) chosen.emplace_back(choice.key, rank);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<int> ranks;
  for (const auto& [key, rank] : chosen) ranks.push_back(rank);
  return ranks;
}

ncclComm& make_part(const ncclComm& parent, const std::vector<int>& ranks, int64_t color, int64_t split,
                    bool blocking) {
  ncclComm& made = Communicators::get().make();
  made.id = mixed(mixed(parent.id, static_cast<uint64_t>(split)), static_cast<uint64_t>(color));
  made.size = static_cast<int>(ranks.size());
  made.rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), parent.rank) - ranks.begin());
  made.device = parent.device;
  made.blocking = blocking;
  for (const int rank : ranks) made.world.push_back(parent.world[static_cast<size_t>(rank)]);
  made.next.assign(ranks.size(), 0);
  made.looks = blocking ? 0 : looks_until_through;
  return made;
}

bool good(const ncclConfig_t* config) {
  return !config || (config->magic == 0xcafebeef && config->size == sizeof *config);
}

// What other ranks sent and nobody took, what is under way, what is registered.
void inspect_at_the_end(const ncclComm& comm, const char* call) {
  const std::string begin = std::string(call) + " on rank " + std::to_string(comm.rank) + " with ";
  if (!comm.waiting.empty()) Engine::get().complain(begin + "operations under way: " + comm.waiting.front()->text());
  if (!comm.windows.empty()) Engine::get().complain(begin + "registered memory");
  for (const Message* const message : Post::get().left(comm.id))
    Engine::get().complain(begin + "something of rank " + std::to_string(message->from) + " that nobody took: {" +
                           message->text + "}");
}

}  // namespace

void complain_of_open_group(const char* call) {
  if (group.depth == 0) return;
  size_t count = 0;
  for (const auto& [comm, entries] : group.entries) count += entries.size();
  Engine::get().complain(std::string(call) + " in an open group: ncclGroupStart without ncclGroupEnd, and " +
                         std::to_string(count) + " operations that nobody has begun");
}

}  // namespace fake

using fake::Engine;
using fake::Entry;

extern "C" {

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* names[] = {"ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
                                   "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
                                   "ncclRemoteError",   "ncclInProgress"};
  return result >= 0 && result <= ncclInProgress ? names[result] : "unknown";
}

const char* ncclGetLastError(ncclComm_t comm) {
  const auto guard = Engine::get().lock();
  for (const auto& own : fake::Communicators::get().all())
    if (own.get() == comm && !own->text.empty()) fake::last_text = own->text;
  return fake::last_text.c_str();
}

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
  int device = 0;
  (void)cudaGetDevice(&device);
  if (bytes > (size_t{1} << 34)) return ncclUnhandledCudaError;
  *pointer = fake::allocate(bytes, device, fake::Kind::of_nccl);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* pointer) {
  return fake::release(pointer, fake::Kind::of_nccl) == cudaSuccess ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const auto guard = Engine::get().lock();
  if (Engine::get().fails("ncclGetUniqueId")) return ncclSystemError;
  static int64_t made = 0;
  const int64_t words[2] = {fake::Post::get().rank(), ++made};
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, words, sizeof words);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  ncclComm* made = nullptr;
  {
    const auto guard = Engine::get().lock();
    if (Engine::get().fails("ncclCommInitRankConfig")) return ncclSystemError;
    if (!fake::good(config))
      return fake::refuse(ncclInvalidArgument, "a configuration without NCCL_CONFIG_INITIALIZER");
    if (ranks < 1 || rank < 0 || rank >= ranks)
      return fake::refuse(ncclInvalidArgument, "rank " + std::to_string(rank) + " of " + std::to_string(ranks));
    int64_t words[2];
    std::memcpy(words, id.internal, sizeof words);
    if (words[1] == 0) return fake::refuse(ncclInvalidArgument, "an id that ncclGetUniqueId did not make");
    made = &fake::Communicators::get().make();
    made->id = fake::mixed(static_cast<uint64_t>(words[0]), static_cast<uint64_t>(words[1]));
    made->rank = rank;
    made->size = ranks;
    made->next.assign(static_cast<size_t>(ranks), 0);
    made->blocking = !config || config->blocking != 0;
    (void)cudaGetDevice(&made->device);
    fake::Message join{fake::Message::join, made->id, rank, 0, {}, {}};
    const int64_t place[2] = {fake::Post::get().rank(), ranks};
    join.data = fake::bytes_of(place);
    fake::Post::get().send(static_cast<int>(words[0]), join);
    ++made->tasks;
    Engine::get().add_task([made] {
      const auto found = fake::Post::get().tables.find(made->id);
      if (found != fake::Post::get().tables.end()) made->world = found->second;
      if (!made->dead() && made->world.empty()) return false;
      --made->tasks;
      return true;
    });
    *comm = made;
  }
  return fake::end_call(*made, nullptr, "ncclCommInitRankConfig");
}

ncclResult_t ncclCommSplit(ncclComm_t handle, int color, int key, ncclComm_t* made, ncclConfig_t* config) {
  ncclComm* comm = nullptr;
  {
    const auto guard = Engine::get().lock();
    ncclResult_t code = ncclSuccess;
    comm = fake::begin_call(handle, "ncclCommSplit", code);
    if (!comm) return code;
    if (!fake::good(config))
      return fake::refuse(ncclInvalidArgument, "a configuration without NCCL_CONFIG_INITIALIZER");
    const bool blocking = config ? config->blocking != 0 : comm->blocking;
    const int64_t split = ++comm->splits;
    *made = nullptr;
    const auto then = [=](const std::map<int, fake::Message>& came) {
      if (color == NCCL_SPLIT_NOCOLOR) return;
      ncclComm* const part = &fake::make_part(*comm, fake::members(came, color), color, split, blocking);
      comm->at_the_end.push_back([=] { *made = part; });
    };
    fake::meet(*comm, "CommSplit", fake::bytes_of(fake::Choice{color, key}), nullptr, then);
  }
  return fake::end_call(*comm, nullptr, "ncclCommSplit");
}

// When all that is under way is through, here and there.
ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  ncclComm* comm = nullptr;
  {
    const auto guard = Engine::get().lock();
    fake::complain_of_open_group("ncclCommFinalize");
    ncclResult_t code = ncclSuccess;
    comm = fake::begin_call(handle, "ncclCommFinalize", code);
    if (!comm) return code;
    comm->life = ncclComm::finalized;
    const auto ready = [comm] {
      for (fake::GroupWork* const work : comm->waiting) Engine::want(work->stream, work->place);
      return comm->waiting.empty();
    };
    fake::meet(*comm, "CommFinalize", {}, ready);
  }
  return fake::end_call(*comm, nullptr, "ncclCommFinalize");
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  const auto guard = Engine::get().lock();
  fake::complain_of_open_group("ncclCommDestroy");
  ncclComm* const comm = fake::Communicators::get().use(handle, "ncclCommDestroy", true);
  if (!comm) return ncclInvalidArgument;
  if (comm->busy()) return fake::refuse(ncclInvalidUsage, "ncclCommDestroy while the call before is in progress");
  fake::inspect_at_the_end(*comm, "ncclCommDestroy");
  comm->life = ncclComm::destroyed;
  fake::Post::get().forget(comm->id);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  const auto guard = Engine::get().lock();
  ncclComm* const comm = fake::Communicators::get().use(handle, "ncclCommAbort", true);
  if (!comm) return ncclInvalidArgument;
  comm->life = ncclComm::aborted;
  comm->at_the_end.clear();
  comm->launching.clear();
  fake::Post::get().forget(comm->id);
  // Whatever waits for its work comes to an end.
  for (fake::GroupWork* const work : comm->waiting) Engine::want(work->stream, work->place);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* error) {
  const auto guard = Engine::get().lock();
  ncclComm* const comm = fake::Communicators::get().use(handle, "ncclCommGetAsyncError", true);
  if (!comm) return ncclInvalidArgument;
  if (comm->error == ncclSuccess && comm->tasks == 0 && comm->looks > 0 && --comm->looks == 0) {
    for (const auto& last : std::exchange(comm->at_the_end, {})) last();
    comm->launching.clear();
  }
  *error = comm->error != ncclSuccess ? comm->error : comm->busy() ? ncclInProgress : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t handle, int* count) {
  const auto guard = Engine::get().lock();
  const ncclComm* const comm = fake::Communicators::get().use(handle, "ncclCommCount");
  if (!comm) return ncclInvalidArgument;
  *count = comm->size;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t handle, int* rank) {
  const auto guard = Engine::get().lock();
  const ncclComm* const comm = fake::Communicators::get().use(handle, "ncclCommUserRank");
  if (!comm) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}

// Local.
ncclResult_t ncclCommRegister(const ncclComm_t handle, void* data, size_t bytes, void** window) {
  const auto guard = Engine::get().lock();
  ncclResult_t code = ncclSuccess;
  ncclComm* const comm = fake::begin_call(handle, "ncclCommRegister", code);
  if (!comm) return code;
  code = fake::check_memory(*comm, data, bytes, "ncclCommRegister");
  if (code != ncclSuccess) return code;
  comm->windows[data] = bytes;
  *window = data;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t handle, void* window) {
  const auto guard = Engine::get().lock();
  ncclResult_t code = ncclSuccess;
  ncclComm* const comm = fake::begin_call(handle, "ncclCommDeregister", code);
  if (!comm) return code;
  if (comm->windows.erase(window) == 0)
    return fake::refuse(ncclInvalidArgument, "what is given back is not registered");
  return ncclSuccess;
}

#if NCCL_MINOR >= 27
ncclResult_t ncclCommWindowRegister(ncclComm_t handle, void* data, size_t bytes, ncclWindow_t* window, int flags) {
  ncclComm* comm = nullptr;
  {
    const auto guard = Engine::get().lock();
    ncclResult_t code = ncclSuccess;
    comm = fake::begin_call(handle, "ncclCommWindowRegister", code);
    if (!comm) return code;
    code = fake::check_memory(*comm, data, bytes, "ncclCommWindowRegister");
    if (code != ncclSuccess) return code;
    if (Engine::get().find(data, bytes)->kind != fake::Kind::of_nccl || flags != NCCL_WIN_COLL_SYMMETRIC)
      return fake::refuse(ncclInvalidArgument, "ncclCommWindowRegister: not memory of ncclMemAlloc, or other flags");
    fake::meet(*comm, "CommWindowRegister(" + std::to_string(bytes) + ")", {}, nullptr, [=](const auto&) {
      comm->windows[data] = bytes;
      comm->at_the_end.push_back([=] { *window = static_cast<ncclWindow_t>(data); });
    });
  }
  return fake::end_call(*comm, nullptr, "ncclCommWindowRegister");
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t handle, ncclWindow_t window) {
  return ncclCommDeregister(handle, window);
}
#endif

ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  if (const ncclResult_t code = fake::check_sum(type, op, "ncclReduce"); code != ncclSuccess) return code;
  return fake::add({Entry::reduce, send, receive, count, type, root}, comm, stream, "ncclReduce");
}

ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return fake::add({Entry::broadcast, send, receive, count, type, root}, comm, stream, "ncclBroadcast");
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  if (const ncclResult_t code = fake::check_sum(type, op, "ncclAllReduce"); code != ncclSuccess) return code;
  return fake::add({Entry::all_reduce, send, receive, count, type, 0}, comm, stream, "ncclAllReduce");
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  if (const ncclResult_t code = fake::check_sum(type, op, "ncclReduceScatter"); code != ncclSuccess) return code;
  return fake::add({Entry::reduce_scatter, send, receive, count, type, 0}, comm, stream, "ncclReduceScatter");
}

ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return fake::add({Entry::all_gather, send, receive, count, type, 0}, comm, stream, "ncclAllGather");
}

#if NCCL_MINOR >= 28
ncclResult_t ncclAlltoAll(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  return fake::add({Entry::all_to_all, send, receive, count, type, 0}, comm, stream, "ncclAlltoAll");
}
#endif

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return fake::add({Entry::send, data, nullptr, count, type, peer}, comm, stream, "ncclSend");
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return fake::add({Entry::receive, nullptr, data, count, type, peer}, comm, stream, "ncclRecv");
}

ncclResult_t ncclGroupStart() {
  ++fake::group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (fake::group.depth == 0) return fake::refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--fake::group.depth > 0) return ncclSuccess;
  const auto guard = Engine::get().lock();
  const fake::Group all = std::exchange(fake::group, {});
  if (all.error != ncclSuccess) return all.error;
  if (Engine::get().fails("ncclGroupEnd")) return ncclSystemError;
  ncclResult_t result = ncclSuccess;
  for (const auto& [comm, stream] : all.order) {
    const auto& entries = all.entries.at(comm);
    comm->launching.push_back(stream);
    const ncclResult_t code = fake::end_call(
        *comm, [comm = comm, entries, stream = stream] { fake::enter_group(*comm, entries, stream); }, "ncclGroupEnd");
    if (code != ncclSuccess) result = code;
  }
  return result;
}

}  // extern "C"
