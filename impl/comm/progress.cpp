// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

namespace moemesh {
namespace {

// Between two looks at the messages: far below the time that one of them takes, and little work for a core that others need.
constexpr std::chrono::microseconds nap{50};

// The environment's MOEMESH_PROGRESS_JITTER_US: naps are up to so much longer, differently each time (tests).
int64_t jitter() {
  const char* const text = std::getenv("MOEMESH_PROGRESS_JITTER_US");
  return text ? std::strtoll(text, nullptr, 10) : 0;
}

}  // namespace

void Progress::start() {
  if (!threaded()) thread_ = std::thread([this] { run(); });
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
}

void Progress::run() {
  const int64_t longest = jitter();
  std::minstd_rand random(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(this) >> 4));
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    work_.wait(lock, [&] { return stopping_ || (busy() && !failure_); });
    if (stopping_) return;
    const Finding finding = attempt([&] { (void)poll_all(); });
    if (finding) failure_ = finding;
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
