// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

namespace moemesh {
namespace {

// Between two looks at the messages: short while they move, and longer each time that nothing did, for a look is work for a core
// that the program needs. So a message is seen after at most about twice the time that it took.
constexpr std::chrono::microseconds shortest_nap{50}, longest_nap{1000};

// The environment's MOEMESH_PROGRESS_JITTER_US: naps are up to so much longer, differently each time (tests).
int64_t jitter() {
  const char* const text = std::getenv("MOEMESH_PROGRESS_JITTER_US");
  return text ? std::strtoll(text, nullptr, 10) : 0;
}

}  // namespace

namespace {

// Threads that run. A program may end with contexts alive: what the threads use goes away before they would.
struct Running {
  std::mutex mutex;
  std::vector<Progress*> list;
};
Running& running() {
  static auto* const instance = new Running;
  return *instance;
}

void stop_all() {
  std::vector<Progress*> list;
  {
    const std::lock_guard lock(running().mutex);
    list = running().list;
  }
  for (Progress* const progress : list) progress->stop();
}

}  // namespace

void Progress::start() {
  if (threaded()) return;
  static const bool registered = std::atexit(stop_all) == 0;
  (void)registered;
  {
    const std::lock_guard lock(running().mutex);
    running().list.push_back(this);
  }
  thread_ = std::thread([this] { run(); });
}

void Progress::stop() {
  if (!threaded()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  thread_.join();
  stopping_ = false;
  const std::lock_guard lock(running().mutex);
  std::erase(running().list, this);
}

void Progress::run() {
  const int64_t longest = jitter();
  std::minstd_rand random(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(this) >> 4));
  auto nap = shortest_nap;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto wanted = [&] { return stopping_ || (busy() && !failure_); };
    if (!wanted()) {
      work_.wait(lock, wanted);
      nap = shortest_nap;
    }
    if (stopping_) return;
    bool moved = false;
    const Finding finding = attempt([&] { moved = poll_all(); });
    if (finding) failure_ = finding;
    nap = moved ? shortest_nap : std::min(2 * nap, longest_nap);
    lock.unlock();
    std::this_thread::sleep_for(nap + std::chrono::microseconds(longest > 0 ? random() % longest : 0));
    lock.lock();
  }
}

bool Progress::busy() const {
  return std::any_of(items_.begin(), items_.end(), [](const Background* item) { return item->busy(); });
}

bool Progress::poll_all() {
  bool moved = false;
  for (size_t i = 0; i < items_.size(); ++i) moved |= items_[i]->poll();
  return moved;
}

bool Progress::poll() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  check();
  return poll_all();
}

void Progress::check() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(failure_.status, failure_.text);
}

void Progress::add(Background* item) {
  const std::lock_guard lock(mutex_);
  items_.push_back(item);
}

void Progress::remove(Background* item) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(items_, item);
}

void Progress::wake() {
  if (threaded()) work_.notify_one();
}

}  // namespace moemesh
