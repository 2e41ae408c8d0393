// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// socket_tests RANKS: the communicator's tests of multi_internal, and those of the sockets themselves, over the transport of
// impl/comm/sockets, without MPI. Every rank runs every test; rank 0 reports, failures all do.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "impl/base/error.hpp"
#include "impl/comm/world.hpp"
#include "ranks.hpp"

namespace moemesh::test {
namespace {

constexpr int64_t most = 16;

struct Shared {
  pthread_barrier_t barrier;
  std::array<sockets::Peer, most> peers;
  sockets::Secret secret;
};
Shared* shared = nullptr;
int64_t size = 1, rank = 0;
std::unique_ptr<Communicator> everyone;

void share() {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  shared = new (memory) Shared;
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, static_cast<unsigned>(size));
}

class Failures : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.failed() && rank != 0)
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", static_cast<int>(rank),
                   result.file_name() ? result.file_name() : "?", result.line_number(), result.summary());
  }
};

int run_tests() {
  try {
    everyone = open_own(0).world;
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    if (rank != 0) delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
    const int result = RUN_ALL_TESTS();
    everyone->close();
    everyone.reset();
    return result;
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %d: status %d: %s\n", static_cast<int>(rank), static_cast<int>(error.status()),
                 error.what());
    return 2;
  }
}

// The first bad end of one ends all.
int wait_for(std::vector<pid_t> processes) {
  int result = 0;
  for (size_t left = processes.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (status == 0) continue;
    result = 1;
    std::erase(processes, ended);
    for (const pid_t process : processes) kill(process, SIGKILL);
    processes.clear();
  }
  return result;
}

int start() {
  share();
  std::vector<pid_t> processes;
  for (rank = 0; rank < size; ++rank) {
    const pid_t process = fork();
    if (process < 0) std::abort();
    if (process == 0) return run_tests();
    processes.push_back(process);
  }
  return wait_for(std::move(processes));
}

}  // namespace

Communicator& world() { return *everyone; }
int64_t own_rank() { return rank; }
int64_t ranks() { return size; }
void meet() { pthread_barrier_wait(&shared->barrier); }

std::vector<sockets::Peer> exchange(const sockets::Address& own) {
  shared->peers[static_cast<size_t>(rank)] = {own, 0, sockets::host_identity()};
  meet();
  std::vector<sockets::Peer> peers(shared->peers.begin(), shared->peers.begin() + size);
  meet();
  return peers;
}

Met meet_to_connect() {
  Met met;
  if (rank == 0) shared->secret = sockets::random_secret();
  met.peers = exchange(met.listener.address());
  met.secret = shared->secret;
  meet();
  return met;
}

Own open_own(double timeout_seconds) {
  auto link = std::make_shared<Link>();
  link->timeout_seconds = timeout_seconds;
  Met met = meet_to_connect();
  void* const comm = sockets::open(*link, met.listener, rank, met.peers, met.secret);
  auto made = adopt_world(link, comm);
  return {std::move(link), std::move(made)};
}

int play(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    body();
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  if (process < 0 || waitpid(process, &status, 0) != process) return 3;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace moemesh::test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  moemesh::test::size = argc == 2 ? std::atoi(argv[1]) : 0;
  if (moemesh::test::size >= 1 && moemesh::test::size <= moemesh::test::most) return moemesh::test::start();
  std::fprintf(stderr, "usage: %s RANKS (1..%d)\n", argv[0], static_cast<int>(moemesh::test::most));
  return 2;
}
