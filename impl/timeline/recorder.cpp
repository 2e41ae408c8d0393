// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/timeline/recorder.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "impl/comm/ping.hpp"
#include "impl/timeline/span.hpp"

namespace moemesh::timeline {
namespace {

constexpr double nanosecond = 1e-9;

template <class T>
HostBuffer<T> zeros(const std::shared_ptr<const Allocator>& allocator, int64_t count) {
  HostBuffer<T> buffer(allocator, count);
  std::fill_n(buffer.data(), count, T{});
  return buffer;
}

// A better alignment, learned while it went on, may put its end before its begin.
Operation forward_in_time(Operation operation) {
  operation.ended = std::max(operation.ended, operation.posted);
  operation.blocked = std::max<int64_t>(operation.blocked, 0);
  return operation;
}

}  // namespace

Recorder::Recorder(Clock clock, int64_t rank, int64_t world, std::shared_ptr<const Allocator> allocator,
                   const moemesh_report_params& params)
    : clock_(clock), rank_(rank), world_(world), allocator_(std::move(allocator)), params_(params) {
  late_ = zeros<double>(allocator_, world_);
  step_late_ = zeros<double>(allocator_, params_.steps * world_);
  step_books_ = zeros<StepBook>(allocator_, params_.steps);
  if (params_.events > 0) events_ = zeros<Event>(allocator_, params_.events);
}

void Recorder::add_layer() {
  LayerBook book;
  book.late = zeros<double>(allocator_, world_);
  book.rows = zeros<int64_t>(allocator_, params_.steps);
  const std::lock_guard lock(mutex_);
  layers_.push_back(std::move(book));
}

// ---- clocks

int64_t Recorder::now() const {
  const int64_t local = clock_.now();
  const std::lock_guard lock(mutex_);
  return alignment_.aligned(local);
}

// See forward_in_time.
int64_t Recorder::now_after(int64_t begin) const { return std::max(begin, now()); }

int64_t Recorder::clock_error() const {
  const int64_t local = clock_.now();
  const std::lock_guard lock(mutex_);
  return alignment_.error(local);
}

void Recorder::align(Communicator& world, int32_t pings, int32_t phase) {
  if (world.size() > 1 && pings > 0) {
    Communicator::Ping ping(world, {0, phase, MOEMESH_COLLECTIVE_CLOCK});
    const int64_t rank = world.rank();
    int64_t bit = 1;  // the lowest set bit of a rank is the distance to its parent
    while (bit < world.size() && (rank & bit) == 0) bit <<= 1;
    for (int32_t i = 0; rank != 0 && i < pings; ++i) {
      const int64_t asked = clock_.now();
      const Communicator::Ping::Answer answer = ping.ask(rank - bit);
      const int64_t answered = clock_.now();
      const std::lock_guard lock(mutex_);
      alignment_.compare(asked, answer[0], answer[1], answered, answer[2]);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
      for (int32_t i = 0; rank + bit < world.size() && i < pings; ++i)
        ping.answer(
            rank + bit, [&] { return now(); }, [&] { return clock_error(); });
  }
  if (origin_ != 0) return;
  origin_ = now();
  world.broadcast(reinterpret_cast<std::byte*>(&origin_), sizeof origin_, 0, {0, phase, MOEMESH_COLLECTIVE_BROADCAST});
}

// ---- operations and spans

Whereabouts Recorder::place() const { return here; }

void Recorder::push(Event event) {
  if (event.step >= 0 && (event.step < params_.first_step || event.step > params_.last_step)) return;
  if (params_.events == 0) return;
  events_[events_seen_++ % params_.events] = event;
}

void Recorder::keep(const Operation& seen) {
  const Operation operation = forward_in_time(seen);
  const Kind kind = kind_of(operation);
  const int64_t c = info(kind).report_class;
  const double wait = static_cast<double>(operation.wait()) * nanosecond;
  const double whole = static_cast<double>(operation.ended - operation.posted) * nanosecond;
  const double exposed = static_cast<double>(operation.blocked) * nanosecond;
  const double idle = std::min(wait, exposed);
  const std::lock_guard lock(mutex_);
  totals_[static_cast<size_t>(Figures::wait + c)] += wait;
  totals_[static_cast<size_t>(Figures::transfer + c)] += whole - wait;
  totals_[static_cast<size_t>(Figures::exposed + c)] += exposed;
  totals_[static_cast<size_t>(Figures::idle + c)] += idle;
  if (operation.peer >= 0) late_[operation.peer] += idle;
  if (in_step_) {
    totals_[Figures::idle_in_steps] += idle;
    auto& numbers = step_books_[slot()].numbers;
    numbers[static_cast<size_t>(Figures::step_idle + c)] += idle;
    numbers[Figures::step_transfer] += whole - wait;
    numbers[Figures::step_exposed] += exposed;
    if (operation.peer >= 0) step_late_[slot() * world_ + operation.peer] += idle;
  }
  add_to_layer(operation, kind, wait, idle);
  Event event;
  event.begin = operation.posted;
  event.end = operation.ended;
  event.wait = operation.wait();
  event.blocked = operation.blocked;
  event.bytes = operation.bytes;
  event.kind = static_cast<int32_t>(kind);
  event.step = step_number();
  event.peer = static_cast<int32_t>(event.wait > 0 ? operation.peer : -1);
  event.layer = operation.place.layer;
  event.microbatch = operation.place.microbatch;
  event.chunk = operation.place.chunk;
  event.family = operation.purpose.family;
  event.axes = operation.axes;
  push(event);
}

void Recorder::add_to_layer(const Operation& operation, Kind kind, double wait, double idle) {
  const auto number = [&]() -> int64_t {
    switch (kind) {
      case Kind::count_exchange:
        return operation.purpose.phase == MOEMESH_PHASE_BACKWARD ? Figures::combine_backward_wait
                                                                 : Figures::dispatch_wait;
      case Kind::dispatch:
        return Figures::dispatch_wait;
      case Kind::combine:
        return Figures::combine_wait;
      case Kind::combine_backward:
        return Figures::combine_backward_wait;
      case Kind::dispatch_backward:
        return Figures::dispatch_backward_wait;
      case Kind::tensor_forward:
      case Kind::tensor_backward:
        return Figures::tensor_wait;
      default:
        return -1;
    }
  }();
  if (number < 0 || operation.place.layer < 0) return;
  LayerBook& book = layers_[static_cast<size_t>(operation.place.layer)];
  book.numbers[static_cast<size_t>(number)] += wait;
  book.numbers[Figures::layer_idle] += idle;
  book.numbers[Figures::layer_transfer] += static_cast<double>(operation.ended - operation.posted) * nanosecond - wait;
  book.numbers[Figures::layer_exposed] += static_cast<double>(operation.blocked) * nanosecond;
  if (operation.peer >= 0) book.late[operation.peer] += idle;
}

void Recorder::span(Kind kind, int64_t begin) { experts(kind, begin, 0); }

void Recorder::experts(Kind kind, int64_t begin, int64_t rows) {
  Event event;
  event.begin = begin;
  event.end = now_after(begin);
  event.kind = static_cast<int32_t>(kind);
  event.layer = here.layer;
  event.microbatch = here.microbatch;
  event.chunk = here.chunk;
  event.rows = static_cast<int32_t>(std::min<int64_t>(rows, INT32_MAX));
  const std::lock_guard lock(mutex_);
  event.step = step_number();
  push(event);
  if (here.layer < 0 || (kind != Kind::experts && kind != Kind::experts_backward)) return;
  LayerBook& book = layers_[static_cast<size_t>(here.layer)];
  book.numbers[Figures::expert_seconds] += static_cast<double>(event.end - event.begin) * nanosecond;
  if (kind != Kind::experts) return;  // each row counts once
  book.all_rows += rows;
  if (in_step_) book.rows[slot()] += rows;
}

// ---- steps

void Recorder::clear_slot() {
  step_books_[slot()] = {};
  std::fill_n(&step_late_[slot() * world_], world_, 0.0);
  for (LayerBook& book : layers_) book.rows[slot()] = 0;
}

void Recorder::begin_step() {
  const int64_t begin = now();
  const std::lock_guard lock(mutex_);
  clear_slot();
  step_books_[slot()].begin = begin;
  in_step_ = true;
}

void Recorder::end_step() {
  const int64_t end = now();
  const std::lock_guard lock(mutex_);
  if (!in_step_) {  // there was none to end
    clear_slot();
    step_books_[slot()].begin = end;
  }
  StepBook& book = step_books_[slot()];
  book.end = std::max(book.begin, end);
  step_time_ += book.end - book.begin;
  in_step_ = false;
  ++steps_;
}

// ---- the caller's spans

int32_t Recorder::name_index(const char* name) {
  const auto same = [&](const auto& known) { return std::strncmp(known.data(), name, mark_bytes - 1) == 0; };
  const auto end = marks_.begin() + mark_count_;
  const auto found = std::find_if(marks_.begin(), end, same);
  if (found == end) {
    if (mark_count_ == most_marks) return -1;
    std::strncpy(found->data(), name, mark_bytes - 1);
    ++mark_count_;
  }
  return static_cast<int32_t>(found - marks_.begin());
}

bool Recorder::mark_begin(const char* name) {
  if (open_mark_count_ == most_open_marks) return false;
  const int32_t index = name_index(name);
  if (index < 0) return false;
  open_marks_[static_cast<size_t>(open_mark_count_++)] = {index, now()};
  return true;
}

bool Recorder::mark_end() {
  if (open_mark_count_ == 0) return false;
  const OpenMark mark = open_marks_[static_cast<size_t>(--open_mark_count_)];
  Event event;
  event.begin = mark.begin;
  event.end = now_after(mark.begin);
  event.kind = static_cast<int32_t>(Kind::mark);
  event.mark = mark.name;
  const std::lock_guard lock(mutex_);
  event.step = step_number();
  push(event);
  return true;
}

// ---- what was recorded

int64_t Recorder::kept_events() const {
  const std::lock_guard lock(mutex_);
  return kept();
}

// Others may go on to record: what is kept never becomes less.
void Recorder::copy_events(Event* to, int64_t count) const {
  const std::lock_guard lock(mutex_);
  for (int64_t i = 0; i < count; ++i) to[i] = events_[(events_seen_ - kept() + i) % params_.events];
}

void Recorder::add_to(Figures& figures, int64_t first_layer) const {
  const std::lock_guard lock(mutex_);
  for (int64_t i = 0; i < Figures::events; ++i) figures.total(i) = totals_[static_cast<size_t>(i)];
  figures.total(Figures::events) = static_cast<double>(kept());
  figures.total(Figures::lost_events) = static_cast<double>(events_seen_ - kept());
  for (int64_t r = 0; r < world_; ++r) figures.late(r) = late_[r];
  for (int64_t l = 0; l < layers(); ++l) {
    const LayerBook& book = layers_[static_cast<size_t>(l)];
    for (int64_t i = 0; i < Figures::layer_numbers; ++i)
      figures.layer(first_layer + l, i) = book.numbers[static_cast<size_t>(i)];
    for (int64_t r = 0; r < world_; ++r) figures.layer_late(first_layer + l, r) = book.late[r];
    figures.layer_rows(first_layer + l, rank_) = static_cast<double>(book.all_rows);
  }
  int64_t dropped = step_time_;
  for (int64_t s = 0; s < figures.shape().steps; ++s) {
    const int64_t slot = (first_step() + s) % params_.steps;
    const StepBook& book = step_books_[slot];
    dropped -= std::max<int64_t>(0, book.end - book.begin);  // 0: begun anew, and given up
    for (int64_t i = 0; i < Figures::step_numbers; ++i) figures.step(s, i) = book.numbers[static_cast<size_t>(i)];
    for (int64_t r = 0; r < world_; ++r) figures.step_late(s, r) = step_late_[slot * world_ + r];
    figures.step_most(s, Figures::minus_begin) = -static_cast<double>(book.begin - origin_) * nanosecond;
    figures.step_most(s, Figures::end) = static_cast<double>(book.end - origin_) * nanosecond;
    for (int64_t l = 0; l < layers(); ++l) {
      const auto rows = static_cast<double>(layers_[static_cast<size_t>(l)].rows[slot]);
      figures.step_rows(s, first_layer + l) = figures.step_most_rows(s, first_layer + l) = rows;
    }
  }
  figures.most_total(Figures::dropped_seconds) = static_cast<double>(dropped) * nanosecond;
  figures.most_total(Figures::clock_error) = static_cast<double>(alignment_.error(clock_.now())) * nanosecond;
  figures.most_total(Figures::clock_offset) = static_cast<double>(std::abs(alignment_.offset())) * nanosecond;
}

}  // namespace moemesh::timeline
