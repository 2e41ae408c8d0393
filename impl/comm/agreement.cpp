// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Agreement: a few words up a binomial tree to rank 0 and down again, so that every rank has the same bits.

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/comm/batch.hpp"
#include "impl/comm/communicator.hpp"

namespace moemesh {

void Communicator::agree(std::span<int64_t> words,
                         const std::function<void(std::span<int64_t>, std::span<const int64_t>)>& combine,
                         Purpose purpose) {
  if (size_ == 1) return;
  begin(purpose);
  const int32_t up = next_tag(), down = next_tag();
  const auto bytes = static_cast<int64_t>(words.size_bytes());
  Recycled<int64_t> from(words.size());
  const auto receive = [&](void* data, int64_t peer, int32_t tag) {
    Batch batch(*this, purpose, tag);
    batch.receive(data, bytes, peer);
    if (batch.wait()) disagree("an agreement");
  };
  const auto send = [&](int64_t peer, int32_t tag) {
    Batch batch(*this, purpose, tag);
    batch.send(words.data(), bytes, peer);
    (void)batch.wait();  // a send alone can't come short
  };
  // The lowest set bit of a rank is the distance to its parent.
  int64_t bit = 1;
  for (; bit < size_ && (rank_ & bit) == 0; bit <<= 1) {
    if (rank_ + bit >= size_) continue;
    receive(from.data(), rank_ + bit, up);
    combine(words, from);
  }
  if (rank_ != 0) {
    send(rank_ - bit, up);
    receive(words.data(), rank_ - bit, down);
  }
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (rank_ + bit < size_) send(rank_ + bit, down);
}

void Communicator::agree_sum(std::span<double> values, Purpose purpose) {
  Recycled<int64_t> words(values.size());
  std::transform(values.begin(), values.end(), words.begin(), [](double v) { return std::bit_cast<int64_t>(v); });
  const auto add = [](int64_t a, int64_t b) {
    return std::bit_cast<int64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  };
  agree(
      words,
      [&](std::span<int64_t> into, std::span<const int64_t> from) {
        std::transform(into.begin(), into.end(), from.begin(), into.begin(), add);
      },
      purpose);
  std::transform(words.begin(), words.end(), values.begin(), [](int64_t w) { return std::bit_cast<double>(w); });
}

void Communicator::agree_sum(std::span<int64_t> values, Purpose purpose) {
  const auto add = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  agree(
      values,
      [&](std::span<int64_t> into, std::span<const int64_t> from) {
        std::transform(into.begin(), into.end(), from.begin(), into.begin(), add);
      },
      purpose);
}

void Communicator::agree_max(std::span<int64_t> values, Purpose purpose) {
  agree(
      values,
      [](std::span<int64_t> into, std::span<const int64_t> from) {
        for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
      },
      purpose);
}

namespace {

int64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<int64_t>(hash);
}

// The words: status, its rank, then {lowest, highest} of every field. Two fields lead that tell different calls apart,
// and the number of fields is rounded up, so that even then the messages have one size.
constexpr size_t head = 2, leading = 2, rounding = 32;

int64_t padded(int64_t fields) {
  const auto values = static_cast<int64_t>(leading) + fields, step = static_cast<int64_t>(rounding);
  return (values + step - 1) / step * step;
}

Recycled<int64_t> words_of(int64_t rank, const char* call, std::span<const Field> fields, int32_t error) {
  Recycled<int64_t> values{hash_of(call), static_cast<int64_t>(fields.size())};
  for (const Field& field : fields) values.push_back(field.value);
  values.resize(static_cast<size_t>(padded(std::ssize(fields))));
  Recycled<int64_t> words{error, rank};
  for (const int64_t value : values) words.insert(words.end(), {value, value});
  return words;
}

// When this rank came to an agreement, for the report: in the last pair of words, where no field is, so that the messages are
// the same with and without a report. The latest rank's goes through merge() as the highest value.
class Arrival {
 public:
  Arrival(const Communicator& world, int64_t fields, int32_t phase) : world_(world), place_(place_of(fields)) {
    constexpr int64_t most_ranks = int64_t{1} << rank_bits;
    if (phase == MOEMESH_PHASE_SETUP || place_ < 0 || world.size() == 1 || world.size() > most_ranks) return;
    recording_ = world.recording().get();
    operation_.purpose = {0, phase, MOEMESH_COLLECTIVE_AGREEMENT};
    operation_.axes = world.axes();
  }
  void tell(std::span<int64_t> words) {
    if (!recording_) return;
    operation_.posted = recording_->now();
    const int64_t ticks = (operation_.posted - recording_->origin()) / tick;
    words[at()] = words[at() + 1] = (ticks << rank_bits) + world_.member(world_.rank());
  }
  void hear(std::span<const int64_t> words) {
    if (!recording_) return;
    operation_.ended = recording_->now();
    operation_.blocked = operation_.ended - operation_.posted;
    const int64_t latest = words[at() + 1], rank = latest & ((int64_t{1} << rank_bits) - 1);
    if (rank != world_.member(world_.rank()))
      operation_.hear(rank, recording_->origin() + (latest >> rank_bits) * tick);
    recording_->keep(operation_);
  }

 private:
  static constexpr int64_t rank_bits = 16, tick = 64;  // nanoseconds
  static int64_t place_of(int64_t fields) {
    const auto used = static_cast<int64_t>(leading) + fields;
    return padded(fields) > used ? padded(fields) - 1 : -1;
  }
  size_t at() const { return head + 2 * static_cast<size_t>(place_); }

  const Communicator& world_;
  int64_t place_;
  Recording* recording_ = nullptr;
  Operation operation_;
};

void merge(std::span<int64_t> into, std::span<const int64_t> from) {
  // A rank that only heard of a failure comes after the ones that have a cause to tell.
  const auto weight = [](int64_t status) {
    return status == MOEMESH_ERROR_PEER_FAILED ? 1 : 2 * (status != MOEMESH_OK);
  };
  const auto worse = [&](int64_t a, int64_t b) { return std::pair(weight(a), a) > std::pair(weight(b), b); };
  if (worse(from[0], into[0]) || (from[0] == into[0] && from[1] < into[1]))
    std::copy_n(from.begin(), head, into.begin());
  for (size_t i = head; i < into.size(); i += 2) {
    into[i] = std::min(into[i], from[i]);
    into[i + 1] = std::max(into[i + 1], from[i + 1]);
  }
}

// The values behind a difference, where they mean something to a reader.
std::string told(const Field& field, int64_t lowest, int64_t highest, int64_t rank) {
  const auto real = [](int64_t bits) { return std::bit_cast<double>(bits); };
  if (field.kind == Field::hash) return {};
  if (field.kind == Field::real)
    return format_message(": some rank has {}, some {}, rank {} has {}", real(lowest), real(highest), rank,
                          real(field.value));
  return format_message(": lowest {}, highest {}, rank {} has {}", lowest, highest, rank, field.value);
}

}  // namespace

int64_t agreement_words(int64_t fields) { return static_cast<int64_t>(head) + 2 * padded(fields); }

void agree_on_configuration(Communicator& world, const char* call, std::span<const Field> fields, int32_t error,
                            const std::string& text, int32_t phase) {
  Recycled<int64_t> words = words_of(world.rank(), call, fields, error);
  Arrival arrival(world, std::ssize(fields), phase);
  arrival.tell(words);
  world.agree(words, merge, {.family = 0, .phase = phase, .collective = MOEMESH_COLLECTIVE_AGREEMENT});
  arrival.hear(words);
  if (error != MOEMESH_OK) throw Error(error, text);
  if (words[0] != MOEMESH_OK)
    fail(static_cast<int32_t>(words[0]), "{}: rank {} failed with {}", call, words[1], status_name(words[0]));
  const int64_t* range = words.data() + head;
  require(range[0] == range[1] && range[2] == range[3], MOEMESH_ERROR_MISMATCH,
          "{}: the ranks are in different calls, or registered different numbers of things (rank {})", call,
          world.rank());
  range += 2 * leading;
  for (const Field& field : fields) {
    if (range[0] != range[1])
      fail(MOEMESH_ERROR_MISMATCH, "{}: {} differs between the ranks{}", call, field.name,
           told(field, range[0], range[1], world.rank()));
    range += 2;
  }
}

}  // namespace moemesh
