// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "fake.hpp"

namespace fake {

Engine& Engine::get() {
  static Engine instance;
  return instance;
}

Engine::Engine() : thread_([this] { run(); }) {}

void Engine::stop() {
  {
    const auto guard = lock();
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Engine::want(CUstream_st* stream, int64_t place) {
  if (stream->wanted >= place) return;
  stream->wanted = place;
  get().wanted_.notify_one();
}

// Other ranks and NCCL's threads are looked at now and then, more often while somebody waits.
void Engine::run() {
  using std::chrono::microseconds;
  microseconds nap(20);
  auto guard = lock();
  while (!stopping_) {
    const bool moved = round();
    const bool waited_for = std::any_of(streams_.begin(), streams_.end(),
                                        [](const CUstream_st& stream) { return stream.finished < stream.wanted; });
    nap = moved ? microseconds(20) : std::min(2 * nap, microseconds(waited_for ? 40 : 400));
    if (moved) moved_.notify_all();
    wanted_.wait_for(guard, nap);
  }
}

bool Engine::round() {
  bool moved = false;
  for (const auto& watcher : watchers_) moved |= watcher();
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    const auto next = std::next(task);
    if ((*task)()) {
      tasks_.erase(task);
      moved = true;
    }
    task = next;
  }
  for (CUstream_st& stream : streams_) moved |= advance(stream);
  return moved;
}

bool Engine::advance(CUstream_st& stream) {
  bool moved = false;
  while (stream.finished < std::min(stream.wanted, stream.entered) && stream.work.front()->step()) {
    stream.work.pop_front();
    ++stream.finished;
    moved = true;
  }
  return moved;
}

void Engine::enter(CUstream_st* stream, std::unique_ptr<Work> work) {
  stream->work.push_back(std::move(work));
  ++stream->entered;
}

bool Engine::run_until(const std::function<bool()>& done, const std::string& what) {
  const std::chrono::duration<double> limit(patience);
  const auto start = std::chrono::steady_clock::now();
  for (auto guard = lock(); !done(); moved_.wait_for(guard, std::chrono::microseconds(100))) {
    if (!stopping_ && std::chrono::steady_clock::now() - start < limit) continue;
    std::string text = what + " never came to its end; first in the streams:";
    for (const CUstream_st& stream : streams_)
      if (!stream.work.empty()) text += " [" + stream.work.front()->text() + "]";
    complain(text);
    return false;
  }
  return true;
}

CUstream_st* Engine::make_stream(int device, int priority) {
  CUstream_st& stream = streams_.emplace_back();
  stream.device = device;
  stream.priority = priority;
  return &stream;
}

CUevent_st* Engine::make_event(int device) {
  CUevent_st& event = events_.emplace_back();
  event.device = device;
  return &event;
}

CUstream_st* Engine::default_stream(int device) {
  CUstream_st*& stream = default_streams_[device];
  if (!stream) stream = make_stream(device, 0);
  return stream;
}

bool Engine::owns(const CUstream_st* stream) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const CUstream_st& own) { return &own == stream; });
}

bool Engine::owns(const CUevent_st* event) const {
  return std::any_of(events_.begin(), events_.end(), [&](const CUevent_st& own) { return &own == event; });
}

const Allocation* Engine::find(const void* data, size_t bytes) const {
  const auto* const begin = static_cast<const std::byte*>(data);
  auto after = memory.upper_bound(begin);
  if (after == memory.begin()) return nullptr;
  --after;
  return begin + bytes <= after->first + after->second.bytes ? &after->second : nullptr;
}

bool Engine::crosses(const void* data, size_t bytes) const { return find(data, 1) && !find(data, bytes); }

void Engine::complain(const std::string& text) {
  const auto guard = lock();
  const bool ends = std::getenv("FAKE_NCCL_ABORT") != nullptr;
  if (ends || std::getenv("FAKE_NCCL_VERBOSE")) std::fprintf(stderr, "fake NCCL: %s\n", text.c_str());
  if (ends) std::abort();
  if (std::find(complaints_.begin(), complaints_.end(), text) == complaints_.end()) complaints_.push_back(text);
}

std::vector<std::string> Engine::take_complaints() {
  const auto guard = lock();
  return std::exchange(complaints_, {});
}

std::vector<std::string> take_complaints() { return Engine::get().take_complaints(); }
void shutdown() { Engine::get().stop(); }

int64_t calls(const std::string& name) {
  const auto guard = Engine::get().lock();
  return Engine::get().calls[name];
}

void fail_next(const std::string& name) {
  const auto guard = Engine::get().lock();
  Engine::get().failing = name;
}

void set_patience(double seconds) {
  const auto guard = Engine::get().lock();
  Engine::get().patience = seconds;
}

}  // namespace fake
