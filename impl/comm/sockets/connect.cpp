// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/connect.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <list>
#include <string>

#include "impl/base/error.hpp"
#include "impl/base/hash.hpp"

namespace moemesh::sockets {
namespace {

// The first thing in either direction of a connection.
struct Hello {
  uint64_t magic = 0x316873656d656f6d;  // also tells a host of another byte order
  int64_t from = 0, to = 0, size = 0;
  Secret secret{};
};
static_assert(sizeof(Hello) == 64);

// Without looking longer where more of it is right.
bool same(const Secret& a, const Secret& b) {
  auto difference = std::byte{0};
  for (size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{0};
}

// Small messages go at once, and a host that lost its power or its cable is noticed. A rank that computes and reads nothing for
// long is neither, so there is no limit to how long data may wait.
void set_options(int socket) {
  const auto set = [&](int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 6);
}

int64_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<int64_t>(limit.rlim_cur) : INT64_MAX;
}

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

[[noreturn]] void too_few_descriptors(size_t ranks) {
  fail(MOEMESH_ERROR_COMMUNICATION,
       "{} ranks need {} sockets in each process, which may have {} files open (ulimit -n), or the system has no more",
       ranks, ranks - 1, descriptor_limit());
}

// One connection on its way. Who comes says hello first, and is answered.
struct Attempt {
  enum Step { connecting, sending, receiving, settled };
  Descriptor socket;
  int64_t peer = -1;  // of one that came: known by its hello
  bool ours = false;  // this rank went there
  Step step = receiving;
  size_t moved = 0;  // bytes of the present hello
  int error = 0;     // 0 with failed: the other side closed it
  bool failed = false;
  Hello out{}, in{};

  short events() const { return step == receiving ? POLLIN : POLLOUT; }
};

class Meeting {
 public:
  Meeting(Listener& listener, int64_t rank, std::span<const Peer> peers, const Secret& secret)
      : listener_(listener), rank_(rank), peers_(peers), secret_(secret), connected_(peers.size()) {}
  std::vector<Descriptor> run(double seconds);

 private:
  Hello hello_to(int64_t peer) const { return {.from = rank_, .to = peer, .size = size(), .secret = secret_}; }
  int64_t size() const { return static_cast<int64_t>(peers_.size()); }
  void go_to(int64_t peer);
  void accept_some();
  void wait(std::chrono::milliseconds most);
  void advance(Attempt& attempt);
  bool move(Attempt& attempt);
  bool welcome(const Attempt& attempt) const;
  void answer(Attempt& attempt);
  void keep(Attempt& attempt);
  void tidy();
  [[noreturn]] void expire(double seconds) const;
  [[noreturn]] void unreachable(const Attempt& attempt) const;

  Listener& listener_;
  int64_t rank_;
  std::span<const Peer> peers_;
  const Secret& secret_;
  std::vector<Descriptor> connected_;
  int64_t missing_ = 0;
  std::list<Attempt> attempts_;
};

std::vector<Descriptor> Meeting::run(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  missing_ = size() - 1;
  for (int64_t peer = 0; peer < rank_; ++peer) go_to(peer);
  while (missing_ > 0) {
    const std::chrono::duration<double> left = std::chrono::duration<double>(seconds) - (Clock::now() - start);
    if (left.count() <= 0) expire(seconds);
    wait(std::chrono::milliseconds(left < std::chrono::seconds(1) ? static_cast<int64_t>(left.count() * 1000) + 1
                                                                  : 1000));
  }
  return std::move(connected_);
}

void Meeting::go_to(int64_t peer) {
  const Address& place = peers_[static_cast<size_t>(peer)].address;
  Attempt& attempt = attempts_.emplace_back();
  attempt.peer = peer;
  attempt.ours = true;
  attempt.step = Attempt::connecting;
  attempt.out = hello_to(peer);
  attempt.socket = Descriptor(::socket(place.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!attempt.socket.open() && out_of_descriptors(errno)) too_few_descriptors(peers_.size());
  const bool going = attempt.socket.open() &&
                     (::connect(attempt.socket.get(), place.get(), static_cast<socklen_t>(place.length)) == 0 ||
                      errno == EINPROGRESS || errno == EINTR);
  if (going) return;
  attempt.error = errno;
  unreachable(attempt);
}

void Meeting::wait(std::chrono::milliseconds most) {
  std::vector<pollfd> looked_at{{listener_.get(), POLLIN, 0}};
  for (const Attempt& attempt : attempts_) looked_at.push_back({attempt.socket.get(), attempt.events(), 0});
  if (::poll(looked_at.data(), looked_at.size(), static_cast<int>(most.count())) <= 0) return;  // or interrupted
  size_t i = 1;
  for (Attempt& attempt : attempts_)
    if (looked_at[i++].revents != 0) advance(attempt);
  if (looked_at[0].revents != 0) accept_some();
  tidy();
}

void Meeting::accept_some() {
  for (;;) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.open() && out_of_descriptors(errno)) too_few_descriptors(peers_.size());
    if (!socket.open()) return;  // no more, or it went away again
    attempts_.emplace_back().socket = std::move(socket);
  }
}

// As far as it goes.
void Meeting::advance(Attempt& attempt) {
  if (attempt.step == Attempt::connecting) {
    socklen_t length = sizeof attempt.error;
    (void)::getsockopt(attempt.socket.get(), SOL_SOCKET, SO_ERROR, &attempt.error, &length);
    attempt.failed = attempt.error != 0;
    attempt.step = Attempt::sending;
  }
  while (!attempt.failed && attempt.step != Attempt::settled && move(attempt)) {
    attempt.moved = 0;
    if (attempt.step == Attempt::receiving)
      answer(attempt);
    else
      attempt.step = attempt.ours ? Attempt::receiving : Attempt::settled;
  }
  if (attempt.failed && attempt.ours) unreachable(attempt);
}

// True: the present hello is through.
bool Meeting::move(Attempt& attempt) {
  const int socket = attempt.socket.get();
  while (attempt.moved < sizeof(Hello)) {
    const size_t left = sizeof(Hello) - attempt.moved;
    const ssize_t n = attempt.step == Attempt::sending
                          ? ::send(socket, reinterpret_cast<char*>(&attempt.out) + attempt.moved, left, MSG_NOSIGNAL)
                          : ::recv(socket, reinterpret_cast<char*>(&attempt.in) + attempt.moved, left, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    attempt.failed = n <= 0;
    attempt.error = n < 0 ? errno : 0;
    if (attempt.failed) return false;
    attempt.moved += static_cast<size_t>(n);
  }
  return true;
}

bool Meeting::welcome(const Attempt& attempt) const {
  const Hello& hello = attempt.in;
  if (hello.magic != Hello{}.magic || hello.to != rank_ || hello.size != size() || !same(hello.secret, secret_))
    return false;
  if (attempt.ours) return hello.from == attempt.peer;
  return hello.from > rank_ && hello.from < size() && !connected_[static_cast<size_t>(hello.from)].open();
}

void Meeting::answer(Attempt& attempt) {
  attempt.failed = !welcome(attempt);
  if (attempt.failed) return;
  attempt.step = attempt.ours ? Attempt::settled : Attempt::sending;
  attempt.peer = attempt.in.from;
  attempt.out = hello_to(attempt.peer);
}

// Strangers are forgotten; those that say nothing hold a descriptor, so the oldest go where there are many.
void Meeting::tidy() {
  for (Attempt& attempt : attempts_)
    if (attempt.step == Attempt::settled) keep(attempt);
  std::erase_if(attempts_, [](const Attempt& attempt) { return attempt.failed || !attempt.socket.open(); });
  constexpr size_t strangers = 64;
  for (auto one = attempts_.begin(); one != attempts_.end() && attempts_.size() > peers_.size() + strangers;)
    one = one->ours ? std::next(one) : attempts_.erase(one);
}

void Meeting::keep(Attempt& attempt) {
  Descriptor& place = connected_[static_cast<size_t>(attempt.peer)];
  attempt.failed = place.open();
  if (attempt.failed) return;
  set_options(attempt.socket.get());
  place = std::move(attempt.socket);
  --missing_;
}

void Meeting::expire(double seconds) const {
  constexpr int64_t most = 8;
  std::string names;
  int64_t named = 0;
  for (int64_t peer = 0; peer < size() && named <= most; ++peer)
    if (peer != rank_ && !connected_[static_cast<size_t>(peer)].open())
      names += ++named > most ? ", ..." : format_message("{}{}", named > 1 ? ", " : "", peer);
  fail(MOEMESH_ERROR_TIMEOUT, "rank {} of {} had no connection after {:.3f} s with rank {}", rank_, size(), seconds,
       names);
}

void Meeting::unreachable(const Attempt& attempt) const {
  fail(MOEMESH_ERROR_COMMUNICATION, "rank {} of {} can't connect with rank {} at {}: {}", rank_, size(), attempt.peer,
       peers_[static_cast<size_t>(attempt.peer)].address.text(),
       attempt.error != 0 ? error_of(attempt.error) : "it does not answer as that rank");
}

}  // namespace

Secret random_secret() {
  Secret secret;
  require(::getrandom(secret.data(), secret.size(), 0) == static_cast<ssize_t>(secret.size()),
          MOEMESH_ERROR_COMMUNICATION, "the system gives no random bytes: {}", error_of(errno));
  return secret;
}

uint64_t host_identity() {
  std::string text, line;
  for (const char* const file : {"/proc/sys/kernel/random/boot_id", "/etc/machine-id"})
    if (text.empty() && std::getline(std::ifstream(file), line)) text = line;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) text += name.data();
  return hash_bytes(text.data(), std::ssize(text), 0);
}

void check_descriptors(int64_t ranks) {
  if (ranks > descriptor_limit()) too_few_descriptors(static_cast<size_t>(ranks));
}

std::vector<Descriptor> connect_all(Listener& listener, int64_t rank, std::span<const Peer> peers, const Secret& secret,
                                    double seconds) {
  return Meeting(listener, rank, peers, secret).run(seconds);
}

}  // namespace moemesh::sockets
