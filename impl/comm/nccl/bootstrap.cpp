// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/nccl/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "impl/base/error.hpp"
#include "impl/comm/nccl/symmetric_buffer.hpp"
#include "impl/comm/sockets/code.hpp"
#include "impl/comm/sockets/transport.hpp"
#include "impl/comm/world.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

// What each rank tells all others. Every release sends as many bytes, and its own number.
struct Card {
  static constexpr int32_t this_release = 1;
  int32_t release = this_release;
  int32_t status = MOEMESH_OK;  // what it found wrong
  sockets::Peer peer;
  sockets::Secret secret{};  // rank 0's counts
  std::array<char, 424> text{};
};
static_assert(sizeof(Card) == 512 && std::is_trivially_copyable_v<Card>);

ncclUniqueId id_of(const moemesh_nccl_comm& comm) {
  constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;
  require(comm.size >= 1 && comm.size <= sockets::most_ranks, bad, "comm.handle: size: expected 1..{}, got {}",
          sockets::most_ranks, comm.size);
  require(comm.rank >= 0 && comm.rank < comm.size, bad, "comm.handle: rank: expected 0..{}, got {}", comm.size - 1,
          comm.rank);
  require(std::any_of(std::begin(comm.id), std::end(comm.id), [](int64_t word) { return word != 0; }), bad,
          "comm.handle: id: expected what ncclGetUniqueId gives, got zeros");
  ncclUniqueId id{};
  static_assert(sizeof id == sizeof comm.id);
  std::memcpy(&id, comm.id, sizeof id);
  return id;
}

Card card_of(const moemesh_nccl_comm& comm, std::optional<sockets::Listener>& listener) {
  Card card;
  const Finding finding = attempt([&] {
    sockets::check_descriptors(comm.size);
    listener.emplace();
    card.peer = {listener->address(), 0, sockets::host_identity()};
    if (comm.rank == 0) card.secret = sockets::random_secret();
  });
  card.status = finding.status;
  std::snprintf(card.text.data(), card.text.size(), "%s", finding.text.c_str());
  return card;
}

std::vector<Card> gather(NcclComm& comm, const Card& mine) {
  std::vector<Card> cards(static_cast<size_t>(comm.size()));
  const size_t bytes = cards.size() * sizeof(Card);
  SymmetricBuffer memory(static_cast<int64_t>(bytes + sizeof(Card)));
  std::byte* const own = memory.data() + bytes;
  check_cuda(cudaMemcpyAsync(own, &mine, sizeof mine, cudaMemcpyHostToDevice, comm.stream()), "cudaMemcpyAsync");
  DeviceEvent done;
  comm.all_gather(own, memory.data(), sizeof mine, NcclComm::Element::byte, {nullptr, &done});
  comm.wait(done, "the addresses of all ranks");
  check_cuda(cudaMemcpyAsync(cards.data(), memory.data(), bytes, cudaMemcpyDeviceToHost, comm.stream()),
             "cudaMemcpyAsync");
  done.record(comm.stream());
  comm.wait(done, "a copy of the addresses of all ranks");
  return cards;
}

void check(const std::vector<Card>& cards, int64_t rank) {
  for (size_t from = 0; from < cards.size(); ++from)
    require(cards[from].release == Card::this_release, MOEMESH_ERROR_MISMATCH,
            "comm.handle: rank {} has another release of moemesh than rank {}", from, rank);
  const auto text = [](const Card& card) {
    return std::string(card.text.data(), strnlen(card.text.data(), card.text.size()));
  };
  const Card& own = cards[static_cast<size_t>(rank)];
  if (own.status != MOEMESH_OK) throw Error(own.status, text(own));
  for (size_t from = 0; from < cards.size(); ++from)
    if (const int32_t status = cards[from].status; status != MOEMESH_OK)
      fail(status, "context_create: rank {} failed with {}: {}", from, status_name(status), text(cards[from]));
}

}  // namespace

Bootstrapped bootstrap(std::shared_ptr<Link> link, const moemesh_nccl_comm& comm) {
  const ncclUniqueId id = id_of(comm);
  const kernels::DeviceScope device;
  std::optional<sockets::Listener> listener;
  const Card mine = card_of(comm, listener);
  auto nccl = std::make_unique<NcclComm>(link, id, comm.rank, comm.size, Urgency::payload);
  const std::vector<Card> cards = gather(*nccl, mine);
  check(cards, comm.rank);
  std::vector<sockets::Peer> peers;
  for (const Card& card : cards) peers.push_back(card.peer);
  void* const all = sockets::open(*link, *listener, comm.rank, peers, cards.front().secret);
  return {adopt_world(link, all), std::move(nccl)};
}

}  // namespace moemesh
