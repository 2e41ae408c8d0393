// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <nccl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"
#include "post.hpp"

namespace fake {

class GroupWork;

// What one rank tells another in one step of a communicator, and what it expects to be told: the two differ in sends and
// receives alone.
struct Talk {
  std::string tells, expects;
  std::vector<std::byte> data;
};

}  // namespace fake

// Every operation counts once for each rank that it involves, so that the two of a pair always know which of the other's
// operations is to meet theirs.
struct ncclComm {
  uint64_t id = 0;
  int rank = 0, size = 1, device = 0;
  bool blocking = true;
  std::vector<int64_t> world;  // rank in MPI_COMM_WORLD of each
  std::vector<int64_t> next;   // number of the next operation with each
  enum { open, finalized, aborted, destroyed } life = open;

  ncclResult_t error = ncclSuccess;
  std::string text;

  // A call is under way: NCCL's threads are at it, and then it is through with the so many'th look.
  int tasks = 0, looks = 0;
  std::vector<std::function<void()>> at_the_end;
  std::vector<CUstream_st*> launching;  // streams that get work at the end

  std::vector<fake::GroupWork*> waiting;  // operations in streams, in order
  CUstream_st* last_stream = nullptr;     // of the operation before
  int64_t last_place = 0;
  int64_t splits = 0;
  std::map<void*, size_t> windows;

  bool dead() const { return error != ncclSuccess || life == aborted; }
  bool busy() const { return tasks > 0 || looks > 0; }
  void fail(ncclResult_t code, const std::string& why);
  void forget(fake::GroupWork* work);
};

namespace fake {

// The ranks' meeting for one operation: sends to all, then waits for all.
class Meeting {
 public:
  // Numbers are taken now: the order of the calls. others: whom it involves, this rank too where it does.
  Meeting(ncclComm& comm, const std::vector<int>& others);
  void start(std::map<int, Talk> talks);
  bool started() const { return started_; }
  bool somebody_came() const;
  // True: all came, or the communicator is dead, or just died of what somebody told.
  bool over();
  const std::map<int, Message>& came() const { return came_; }

 private:
  ncclComm& comm_;
  std::map<int, int64_t> numbers_;
  std::map<int, Talk> talks_;
  std::map<int, Message> came_;
  bool started_ = false;
};

std::vector<int> everyone(const ncclComm& comm);

// One operation of a group.
struct Entry {
  enum Kind { send, receive, reduce, broadcast, all_reduce, reduce_scatter, all_gather, all_to_all } kind;
  const void* from;
  void* to;
  size_t count;
  ncclDataType_t type;
  int peer;  // or root
};

// The operations of one group on one communicator.
class GroupWork : public Work {
 public:
  GroupWork(ncclComm& comm, std::vector<Entry> entries, CUstream_st* stream);
  bool step() override;
  std::string text() const override;
  void look();  // somebody of the others came: their device waits for this one

  CUstream_st* const stream;
  int64_t place = 0;  // in it

 private:
  void start();
  void finish();
  std::vector<int> others() const;
  std::string describe(int peer, bool mirrored) const;

  ncclComm& comm_;
  std::vector<Entry> entries_;
  CUstream_st* before_;
  int64_t before_place_;
  Meeting meeting_;
};

size_t size_of(ncclDataType_t type);

// Of a thread that called ncclGroupStart.
void complain_of_open_group(const char* call);
void complain_of_launch_under_way(const CUstream_st* stream, const char* call);
void* allocate(size_t bytes, int device, Kind kind);
cudaError_t release(void* pointer, Kind kind);
bool forget(void* pointer, Kind kind);  // at once

// While one lives, the devices' memory can be touched. Where it is no memory of the host's (MOEMESH_FAKE_DEVICE), nothing
// else but the library's kernels can.
class Open {
 public:
  Open();
  ~Open();
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
};

// All that were ever made.
class Communicators {
 public:
  static Communicators& get();
  ncclComm& make();
  // Null, with a complaint: it is not one, or can't be used any more.
  ncclComm* use(ncclComm_t comm, const char* call, bool finalized_too = false);
  std::vector<std::unique_ptr<ncclComm>>& all() { return all_; }

 private:
  Communicators();
  bool poll();
  bool answer_joins();

  std::vector<std::unique_ptr<ncclComm>> all_;
};

}  // namespace fake
