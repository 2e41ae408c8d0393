// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "impl/base/error.hpp"

namespace moemesh {

// What goes on beside the program: posted messages that nobody waits for yet.
class Background {
 public:
  virtual bool poll() = 0;        // as far as it goes without waiting; true if something moved
  virtual bool busy() const = 0;  // false: poll() would do nothing until somebody starts something

 protected:
  ~Background() = default;
};

// Drives the background of one context: whenever a thread of the program waits or comes by, and from a thread of its own
// where MPI allows that (THREAD_MULTIPLE), because MPI moves large messages only while somebody calls it. Everything that
// background objects share with it is guarded by mutex(), which is recursive: a wait may poll what its caller has locked.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { stop(); }

  void start();  // the thread
  void stop();   // ends it; polls by callers go on
  bool threaded() const { return thread_.joinable(); }

  void add(Background* item);
  void remove(Background* item) noexcept;
  void wake();  // something became busy
  bool poll();  // everything once; false also where another thread is at it
  std::recursive_mutex& mutex() { return mutex_; }

  // Throws what a poll of the thread ran into: nobody else could be told.
  void check();

 private:
  void run();
  bool poll_all();
  bool busy() const;

  std::recursive_mutex mutex_;
  std::condition_variable_any work_;
  std::vector<Background*> items_;
  std::thread thread_;
  bool stopping_ = false;
  Finding failure_;
};

}  // namespace moemesh
