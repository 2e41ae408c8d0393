// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "ranks.hpp"

namespace moemesh::test {

// The transport's own calls. Waits give up after a minute.
struct Raw {
  const moemesh_transport* transport;
  void* comm;
  std::list<std::vector<int64_t>> posted = {};
  std::vector<void*> posts = {};

  Raw(Link& link, Communicator& world) : transport(link.transport), comm(world.transport_comm()) {}
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    for (void*& request : posts) transport->abandon(&request);
  }

  std::string text_of(int32_t code) const {
    if (code == 0) return "no error";
    std::array<char, 512> text{};
    transport->error_text(code, text.data(), std::ssize(text));
    return text.data();
  }
  void* send(const void* data, int64_t bytes, int64_t peer, int32_t tag) const {
    void* request = nullptr;
    EXPECT_EQ(transport->send(comm, data, bytes, peer, tag, &request), 0);
    return request;
  }
  void* receive(void* data, int64_t capacity, int64_t peer, int32_t tag) const {
    void* request = nullptr;
    EXPECT_EQ(transport->receive(comm, data, capacity, peer, tag, &request), 0);
    return request;
  }
  // Until it is through or something is wrong; the code.
  int32_t test_until(void** request, int64_t* bytes) const {
    const auto start = std::chrono::steady_clock::now();
    int32_t done = 0, code = 0;
    while (!done && code == 0 && std::chrono::steady_clock::now() - start < std::chrono::minutes(1)) {
      code = transport->test(request, &done, bytes);
      if (!done) std::this_thread::yield();
    }
    EXPECT_TRUE(done || code != 0) << "waited in vain";
    return code;
  }
  std::vector<int64_t> wait(std::vector<void*> requests) const {
    std::vector<int64_t> sizes;
    for (void*& request : requests) {
      int64_t bytes = -1;
      EXPECT_EQ(text_of(test_until(&request, &bytes)), "no error");
      sizes.push_back(bytes);
    }
    return sizes;
  }
  // Of a request that is to fail; it is given up.
  int32_t code_of(void* request) const {
    const int32_t code = test_until(&request, nullptr);
    if (request) transport->abandon(&request);
    return code;
  }
  int64_t drain(int64_t peer, int32_t tag) const {
    int32_t done = 0, code = 0;
    int64_t bytes = -1;
    while (!done && code == 0) code = transport->drain(comm, peer, tag, &done, &bytes);
    EXPECT_EQ(text_of(code), "no error");
    return bytes;
  }

  // Two words to each other member of a group, which nobody waits for, and from one of them.
  void post(Communicator& group, std::vector<int64_t> words) {
    posted.push_back(std::move(words));
    for (int64_t peer = 0; peer < group.size(); ++peer) {
      if (peer == group.rank()) continue;
      posts.push_back(nullptr);
      EXPECT_EQ(transport->send(group.transport_comm(), posted.back().data(), 16, peer, 6, &posts.back()), 0);
    }
  }
  std::vector<int64_t> take(Communicator& group, int64_t peer) const {
    std::vector<int64_t> words(2);
    void* request = nullptr;
    EXPECT_EQ(transport->receive(group.transport_comm(), words.data(), 16, peer, 6, &request), 0);
    wait({request});
    return words;
  }
};

}  // namespace moemesh::test
