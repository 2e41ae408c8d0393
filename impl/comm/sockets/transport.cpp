// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/transport.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "impl/base/error.hpp"
#include "impl/comm/sockets/world.hpp"
#include "moemesh.h"

namespace moemesh::sockets {
namespace {

// Of making connections, where the context has no deadline: a rank that never comes must be told of.
constexpr double patience_seconds = 300;

template <class F>
int32_t guarded(F&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return code_of(Failure::out_of_memory);  // nothing else is thrown below
  }
}

Comm& of(void* comm) { return *static_cast<Comm*>(comm); }

int32_t state(moemesh_transport_state* state) {
  constexpr int32_t multiple = 3;
  *state = {.initialized = 1, .finalized = 0, .thread_level = multiple, .main_thread = 1};
  return 0;
}

int32_t initialize(int32_t) { return 0; }
int32_t finalize() { return 0; }
int32_t open_handle(int64_t, int32_t, void**) { return code_of(Failure::no_handle); }

int32_t group(void* comm, const int64_t* ranks, int64_t count, int32_t tag, void** sub) {
  return guarded([&] {
    *sub = &of(comm).world.group(of(comm), {ranks, static_cast<size_t>(count)}, tag);
    return 0;
  });
}

int32_t close(void* comm) {
  return guarded([&] { return of(comm).world.close(of(comm)); });
}

int32_t rank(void* comm, int64_t* rank, int64_t* size) {
  *rank = of(comm).rank;
  *size = std::ssize(of(comm).ranks);
  return 0;
}

// MOEMESH_FAKE_NODES=n: every n ranks count as one node, as in the MPI module.
int32_t node_leader(void* comm, int64_t* leader) {
  *leader = of(comm).world.node_leader(of(comm));
  const char* const fake = std::getenv("MOEMESH_FAKE_NODES");
  if (!fake) return 0;
  char* end = nullptr;
  const int64_t width = std::strtoll(fake, &end, 10);
  if (end == fake || *end != 0 || width < 1) return code_of(Failure::bad_fake_nodes);
  *leader = of(comm).rank / width * width;
  return 0;
}

int32_t send(void* comm, const void* data, int64_t bytes, int64_t peer, int32_t tag, void** request) {
  return guarded([&] {
    *request = of(comm).world.send(of(comm), data, bytes, peer, tag);
    return 0;
  });
}

int32_t receive(void* comm, void* data, int64_t capacity, int64_t peer, int32_t tag, void** request) {
  return guarded([&] {
    *request = of(comm).world.receive(of(comm), data, capacity, peer, tag);
    return 0;
  });
}

int32_t test(void** request, int32_t* done, int64_t* bytes) {
  return guarded([&] {
    Request& pending = *static_cast<Request*>(*request);
    bool finished = false;
    int64_t size = 0;
    const int32_t code = pending.world.test(pending, finished, size);
    *done = finished;
    if (bytes) *bytes = size;
    if (code != 0 || !finished) return code;
    World::release(pending);
    *request = nullptr;
    return 0;
  });
}

int32_t handed_over(void*) { return 1; }  // one connection keeps the order

int32_t drain(void* comm, int64_t peer, int32_t tag, int32_t* done, int64_t* bytes) {
  return guarded([&] {
    bool finished = false;
    int64_t size = 0;
    const int32_t code = of(comm).world.drain(of(comm), peer, tag, finished, size);
    *done = finished;
    if (bytes) *bytes = size;
    return code;
  });
}

void abandon(void** request) {
  Request& pending = *static_cast<Request*>(std::exchange(*request, nullptr));
  (void)guarded([&] {
    pending.world.give_up(pending);
    return 0;
  });
}

void error_text(int32_t code, char* text, int64_t capacity) {
  (void)guarded([&] {
    std::snprintf(text, static_cast<size_t>(capacity), "%s", text_of(code).c_str());
    return 0;
  });
}

}  // namespace

const moemesh_transport& transport() {
  static constexpr moemesh_transport table = {
      .struct_size = sizeof(moemesh_transport),
      .version = MOEMESH_TRANSPORT_VERSION,
      .kind = MOEMESH_COMM_NCCL,
      .library = "TCP sockets",
      .state = state,
      .initialize = initialize,
      .finalize = finalize,
      .open = open_handle,
      .group = group,
      .close = close,
      .rank = rank,
      .node_leader = node_leader,
      .send = send,
      .receive = receive,
      .test = test,
      .handed_over = handed_over,
      .drain = drain,
      .abandon = abandon,
      .error_text = error_text,
  };
  return table;
}

void* open(Link& link, Listener& listener, int64_t rank, std::span<const Peer> peers, const Secret& secret) {
  const double seconds = link.timeout_seconds > 0 ? link.timeout_seconds : patience_seconds;
  std::vector<Descriptor> connections = connect_all(listener, rank, peers, secret, seconds);
  listener.close();
  std::vector<uint64_t> hosts;
  for (const Peer& peer : peers) hosts.push_back(peer.host);
  const auto world = std::make_shared<World>(rank, std::move(hosts), std::move(connections), link.timeout_seconds);
  link.transport = &transport();
  link.keeps = world;
  return &world->whole();
}

}  // namespace moemesh::sockets
