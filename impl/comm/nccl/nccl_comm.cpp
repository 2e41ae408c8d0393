// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// The life of a communicator: made, watched, waited for, given up.
#include "impl/comm/nccl/nccl_comm.hpp"

#include <cstring>
#include <thread>

#include "impl/base/error.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

// Calls return before they are through; otherwise a rank that never comes could not be given up.
ncclConfig_t configuration() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

std::string text_of(ncclResult_t code, ncclComm_t comm) {
  const char* const last = ncclGetLastError(comm);
  const std::string detail = last ? last : "";
  return detail.empty() ? ncclGetErrorString(code) : format_message("{}: {}", ncclGetErrorString(code), detail);
}

}  // namespace

ncclUniqueId NcclComm::unique_id() {
  ncclUniqueId id{};
  const ncclResult_t code = ncclGetUniqueId(&id);
  require(code == ncclSuccess, MOEMESH_ERROR_COMMUNICATION, "ncclGetUniqueId failed: {}", text_of(code, nullptr));
  return id;
}

NcclComm::NcclComm(std::shared_ptr<Link> link, const ncclUniqueId& id, int64_t rank, int64_t size, Urgency urgency)
    : NcclComm(std::move(link), urgency) {
  settle(begin(id, rank, size), "ncclCommInitRankConfig");
}

ncclResult_t NcclComm::begin(const ncclUniqueId& id, int64_t rank, int64_t size) {
  rank_ = rank;
  size_ = size;
  ncclConfig_t config = configuration();
  return ncclCommInitRankConfig(&comm_, static_cast<int>(size), id, static_cast<int>(rank), &config);
}

// Ranks whose device or NCCL can't begin tell the others before anybody waits for them inside NCCL.
std::unique_ptr<NcclComm> NcclComm::over(Communicator& control, std::shared_ptr<Link> link, Urgency urgency) {
  const kernels::DeviceScope device;
  ncclUniqueId id{};
  std::unique_ptr<NcclComm> made;
  int version = 0;
  const Finding finding = attempt([&] {
    if (ncclGetVersion(&version) != ncclSuccess) version = 0;
    made.reset(new NcclComm(std::move(link), urgency));
    if (control.rank() == 0) id = unique_id();
  });
  const Field field{"NCCL's version", version};
  agree_on_configuration(control, "nccl", {&field, 1}, finding.status, finding.text);
  control.broadcast(reinterpret_cast<std::byte*>(&id), sizeof id, 0,
                    {.family = 0, .phase = MOEMESH_PHASE_SETUP, .collective = MOEMESH_COLLECTIVE_AGREEMENT});
  const ncclResult_t code = made->begin(id, control.rank(), control.size());
  const bool wrong = code != ncclSuccess && code != ncclInProgress;
  agree_on_configuration(control, "nccl", {}, wrong ? MOEMESH_ERROR_COMMUNICATION : MOEMESH_OK,
                         wrong ? "ncclCommInitRankConfig failed: " + text_of(code, nullptr) : std::string());
  made->settle(code, "ncclCommInitRankConfig");
  return made;
}

NcclComm::NcclComm(std::shared_ptr<Link> link, Urgency urgency) : link_(std::move(link)), stream_(urgency) {
  link_->progress.add(this);
}

NcclComm::~NcclComm() {
  link_->progress.remove(this);
  abort();
}

std::unique_ptr<NcclComm> NcclComm::split(int32_t colour, Urgency urgency) {
  require_usable();
  const kernels::DeviceScope device;
  std::unique_ptr<NcclComm> made(new NcclComm(link_, urgency));
  ncclConfig_t config = configuration();
  const int group = colour < 0 ? NCCL_SPLIT_NOCOLOR : colour;
  // NCCL writes the new one's address whenever it is ready, so into what outlives this call.
  settle(ncclCommSplit(comm_, group, static_cast<int>(rank_), &made->comm_, &config), "ncclCommSplit");
  if (colour < 0) return nullptr;
  require(made->comm_ != nullptr, MOEMESH_ERROR_COMMUNICATION, "ncclCommSplit gave no communicator");
  made->settle(ncclInProgress, "ncclCommSplit");
  int rank = 0, size = 0;
  Calls calls;
  calls(ncclCommUserRank(made->comm_, &rank));
  calls(ncclCommCount(made->comm_, &size));
  if (calls.code != ncclSuccess) made->failed(calls.code, "asking for a group's rank");
  made->rank_ = rank;
  made->size_ = size;
  return made;
}

void NcclComm::close() {
  if (!comm_) return;
  if (link_->broken) return abort();  // peers may be gone
  settle(ncclCommFinalize(comm_), "ncclCommFinalize");
  const ncclResult_t code = ncclCommDestroy(std::exchange(comm_, nullptr));
  if (code != ncclSuccess && code != ncclInProgress) failed(code, "ncclCommDestroy");
}

void NcclComm::require_usable() {
  if (link_->broken) abort();
  require(!link_->broken, MOEMESH_ERROR_COMMUNICATION, "the context is broken by an earlier failure of communication");
  require(comm_ != nullptr, MOEMESH_ERROR_INVALID_STATE, "the NCCL communicator is closed");
}

ncclResult_t NcclComm::state() const {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t code = ncclCommGetAsyncError(comm_, &state);
  return code == ncclSuccess ? state : code;
}

void NcclComm::check() {
  require_usable();
  const ncclResult_t code = state();
  if (code != ncclSuccess && code != ncclInProgress) failed(code, "an operation under way");
}

void NcclComm::settle(ncclResult_t code, const char* what) {
  if (code != ncclSuccess && code != ncclInProgress) failed(code, what);
  if (!comm_) failed(ncclInternalError, what);
  await(what, [&] {
    const ncclResult_t now = state();
    if (now != ncclSuccess && now != ncclInProgress) failed(now, what);
    return now == ncclSuccess;
  });
}

DeviceEvent NcclComm::take_event() {
  if (events_.empty()) return DeviceEvent();
  DeviceEvent event = std::move(events_.back());
  events_.pop_back();
  return event;
}

void NcclComm::watch_begin(const char* what) {
  if (link_->timeout_seconds <= 0) return;
  const std::lock_guard lock(link_->progress.mutex());
  UnderWay& operation = under_way_.emplace_back(UnderWay{what, take_event(), take_event(), false, {}});
  operation.begun.record(stream());
}

void NcclComm::watch_end() {
  if (link_->timeout_seconds <= 0) return;
  const std::lock_guard lock(link_->progress.mutex());
  under_way_.back().done.record(stream());
  under_way_.back().issued = true;
}

// Now and then: it is for what takes seconds.
bool NcclComm::poll() {
  constexpr std::chrono::milliseconds interval(20);
  const auto now = Clock::now();
  if (!comm_ || link_->broken || under_way_.empty() || now - looked_ < interval) return false;
  looked_ = now;
  const ncclResult_t code = state();
  if (code == ncclInProgress) return false;  // an event of a call under way is not recorded yet
  if (code != ncclSuccess) failed(code, under_way_.front().what);
  while (!under_way_.empty() && under_way_.front().issued && under_way_.front().done.reached()) {
    events_.push_back(std::move(under_way_.front().begun));
    events_.push_back(std::move(under_way_.front().done));
    under_way_.pop_front();
  }
  expire_if_stuck();
  return false;
}

// Its time counts from when the stream had come to it: what is before it may be the caller's, and take long.
void NcclComm::expire_if_stuck() {
  if (under_way_.empty() || !under_way_.front().issued || !under_way_.front().begun.reached()) return;
  UnderWay& first = under_way_.front();
  if (!first.since) first.since = looked_;
  const std::chrono::duration<double> waited = looked_ - *first.since;
  if (waited.count() > link_->timeout_seconds) expire(waited, first.what);
}

void NcclComm::wait(const DeviceEvent& done, const char* what) {
  await(what, [&] {
    const bool reached = done.reached();
    check();  // after it: what was given up reaches its end too
    return reached;
  });
}

template <class F>
void NcclComm::await(const char* what, F&& done) {
  const auto start = Clock::now();
  for (;;) {
    if (done()) return;
    if (!link_->broken) (void)link_->progress.poll();
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (link_->timeout_seconds > 0 && waited.count() > link_->timeout_seconds) expire(waited, what);
    if (waited > std::chrono::milliseconds(1))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else
      std::this_thread::yield();
  }
}

void NcclComm::abort() noexcept {
  if (comm_) (void)ncclCommAbort(std::exchange(comm_, nullptr));
}

void NcclComm::break_link() noexcept {
  abort();
  link_->broken = true;
}

void NcclComm::failed(ncclResult_t code, const char* what) {
  const std::string text = text_of(code, comm_);
  break_link();
  fail(MOEMESH_ERROR_COMMUNICATION, "{} failed on rank {} of {} of NCCL: {}", what, rank_, size_, text);
}

void NcclComm::expire(std::chrono::duration<double> waited, const char* what) {
  break_link();
  fail(MOEMESH_ERROR_TIMEOUT, "rank {} of {} of NCCL waited {:.3f} s, deadline {:.3f} s, for {}", rank_, size_,
       waited.count(), link_->timeout_seconds, what);
}

}  // namespace moemesh
