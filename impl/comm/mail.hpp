// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "impl/comm/batch.hpp"

namespace moemesh {

// Messages to single peers beside the collectives of a group, on tags of their own: sends are posted and go on while this
// rank does something else, receives block. Messages of one channel between two ranks arrive in the order of their sends.
class Communicator::Mail : public Background {
 public:
  enum Name : int32_t { forward, backward, channels };
  static constexpr int32_t first_tag = 32768 - channels;  // MPI promises tags up to 32767

  Mail(Communicator& owner, const Purpose& forward_purpose, const Purpose& backward_purpose);
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  ~Mail();

  // The number of a new run of messages, counted over all mail of the group. What an earlier run has sent and nobody has
  // taken yet stays under way, but flush() does not wait for it.
  int64_t open_run();

  struct Part {
    const void* data;
    int64_t bytes;
  };
  // The head, then a stamp and a body where they have bytes; one call in the ledger, where the stamp is of
  // MOEMESH_COLLECTIVE_CLOCK. `open` as in Batch::send.
  void send(Name channel, int64_t peer, Part head, Part stamp, Part body, int32_t* open);
  void receive(Name channel, int64_t peer, void* data, int64_t bytes);
  void drop(Name channel, int64_t peer);  // takes one message of any size
  bool poll() override;
  bool busy() const override { return !idle() && usable(); }
  void flush(Name channel);  // waits until this run's sends of the channel are out
  bool idle() const;
  bool usable() const { return !owner_.link_->broken && owner_.comm_ != nullptr; }
  [[noreturn]] void disagree(const std::string& text);  // a message that no rank could have meant

 private:
  struct Waiting {
    Part part;
    int64_t peer;
    int32_t* open;
    int32_t collective;
    bool late;  // of an earlier run
  };
  struct Channel {
    Channel(Communicator& owner, const Purpose& its_purpose, int32_t tag)
        : purpose(its_purpose), out(owner, purpose, tag), late(owner, purpose, tag) {}
    bool poll();
    bool idle() const { return out.idle() && late.idle() && queue.empty(); }
    bool done() const { return out.idle() && (queue.empty() || queue.back().late); }

    Purpose purpose;
    Batch out;
    Batch late;                 // of earlier runs
    std::deque<Waiting> queue;  // behind a message of several pieces, between which nothing else may come
  };

  void post(Channel& channel, Part part, int32_t collective, int64_t peer, int32_t* open);

  Communicator& owner_;
  std::array<Channel, channels> channels_;
};

}  // namespace moemesh
