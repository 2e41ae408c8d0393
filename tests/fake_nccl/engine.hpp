// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace fake {

// One thing in a stream. step() is called again and again until it returns true, and must not wait.
class Work {
 public:
  virtual ~Work() = default;
  virtual bool step() = 0;
  virtual std::string text() const = 0;
};

}  // namespace fake

// Work is numbered from 1 as it enters. wanted: somebody waits for, or asks for, all up to there; nothing else is run.
struct CUstream_st {
  int device = 0;
  int priority = 0;
  bool destroyed = false;
  int64_t entered = 0, finished = 0, wanted = 0;
  std::deque<std::unique_ptr<fake::Work>> work;
};

// stream null: not recorded yet.
struct CUevent_st {
  int device = 0;
  bool destroyed = false;
  CUstream_st* stream = nullptr;
  int64_t place = 0;
  bool timed = false;
  std::chrono::steady_clock::time_point time;  // when the stream came to it
};

namespace fake {

// pinned: memory of the host that the device reaches.
enum class Kind { device, of_nccl, pinned };
struct Allocation {
  size_t bytes;
  int device;
  Kind kind;
};

// The devices of this process: one thread that does what is wanted and no more, so that who forgot to wait for something
// finds that it has not happened. Ranks want things of one another: see communicator.hpp.
class Engine {
 public:
  static Engine& get();
  ~Engine() { stop(); }

  // Everything here and in the objects above is guarded by it.
  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  void enter(CUstream_st* stream, std::unique_ptr<Work> work);
  static void want(CUstream_st* stream, int64_t place);
  // Lets the device run until `done`; false after too long, which is a deadlock, and is complained of.
  bool run_until(const std::function<bool()>& done, const std::string& what);

  CUstream_st* make_stream(int device, int priority);
  CUevent_st* make_event(int device);
  CUstream_st* default_stream(int device);
  bool owns(const CUstream_st* stream) const;
  bool owns(const CUevent_st* event) const;
  std::list<CUstream_st>& streams() { return streams_; }

  std::map<const std::byte*, Allocation> memory;
  const Allocation* find(const void* data, size_t bytes) const;  // all of it inside of one allocation
  bool crosses(const void* data, size_t bytes) const;            // it begins inside of one and ends beyond

  // Not in a stream: what NCCL's own threads do. Called in every round of the device's thread until it returns true.
  void add_task(std::function<bool()> task) { tasks_.push_back(std::move(task)); }
  // Called in every round; true: something moved.
  void add_watcher(std::function<bool()> watcher) { watchers_.push_back(std::move(watcher)); }

  void count(const std::string& call) { ++calls[call]; }
  std::map<std::string, int64_t> calls;
  bool fails(const std::string& call) { return failing == call ? (failing.clear(), true) : false; }
  std::string failing;
  double patience = 60;

  void complain(const std::string& text);
  std::vector<std::string> take_complaints();
  void stop();

 private:
  Engine();
  void run();
  bool round();
  static bool advance(CUstream_st& stream);

  std::recursive_mutex mutex_;
  std::condition_variable_any wanted_, moved_;  // something is, something has
  std::list<CUstream_st> streams_;
  std::list<CUevent_st> events_;
  std::map<int, CUstream_st*> default_streams_;
  std::list<std::function<bool()>> tasks_;
  std::vector<std::function<bool()>> watchers_;
  std::vector<std::string> complaints_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace fake
