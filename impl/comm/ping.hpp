// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>

#include "impl/comm/batch.hpp"

namespace moemesh {

// A word to one peer, and three words back: how clocks are compared. One call of the group in the ledger, in which each rank
// asks and answers as often as it likes; made at the same place on every rank.
class Communicator::Ping {
 public:
  using Answer = std::array<int64_t, 3>;  // when the question came, when the answer went, what is known of both
  Ping(Communicator& owner, const Purpose& purpose) : owner_(owner), purpose_(purpose), tag_(owner.next_tag()) {
    owner_.begin(purpose_);
  }

  Answer ask(int64_t peer) {
    int64_t word = 0;
    Answer answer{};
    Batch batch(owner_, purpose_, tag_);
    batch.receive(answer.data(), sizeof answer, peer);
    batch.send(&word, sizeof word, peer);
    if (batch.wait()) owner_.disagree("a comparison of clocks");
    return answer;
  }
  template <class Now, class Error>
  void answer(int64_t peer, const Now& now, const Error& error) {
    int64_t word = 0;
    Answer answer{};
    Batch question(owner_, purpose_, tag_);
    question.receive(&word, sizeof word, peer);
    if (question.wait()) owner_.disagree("a comparison of clocks");
    answer[0] = now();
    answer[2] = error();
    Batch reply(owner_, purpose_, tag_);
    answer[1] = now();
    reply.send(answer.data(), sizeof answer, peer);
    (void)reply.wait();  // sends alone can't come short
  }

 private:
  Communicator& owner_;
  Purpose purpose_;
  int32_t tag_;
};

}  // namespace moemesh
