// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <tuple>

#include "impl/base/error.hpp"

namespace moemesh::sockets {
namespace {

static_assert(sizeof(sockaddr_in) <= sizeof(Address::bytes) && sizeof(sockaddr_in6) <= sizeof(Address::bytes));

template <class T>
T as(const Address& address) {
  T value{};
  std::memcpy(&value, address.bytes.data(), sizeof value);
  return value;
}

// A link-local address means nothing on another host.
bool reaches_others(const sockaddr* address) {
  if (address->sa_family == AF_INET) return true;
  return address->sa_family == AF_INET6 &&
         !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool of_containers(std::string_view name) {
  constexpr std::string_view beginnings[] = {"docker", "podman", "br-", "virbr", "lxcbr",   "lxdbr",
                                             "veth",   "vnet",   "cni", "cali",  "flannel", "kube"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

std::string rule_text(const char** from) {
  for (const char* const name : {"MOEMESH_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
    *from = name;
    if (const char* const text = std::getenv(name); text && *text) return text;
  }
  return {};
}

Address chosen_address() {
  const char* variable = nullptr;
  const std::string text = rule_text(&variable);
  const std::vector<Interface> all = interfaces();
  if (const Interface* const one = choose(all, InterfaceRule(text))) return one->address;
  std::string names;
  for (const Interface& one : all) names += (names.empty() ? "" : ", ") + one.name;
  require(text.empty(), MOEMESH_ERROR_INVALID_ARGUMENT, "{}={} allows no network interface that is up; there are: {}",
          variable, text, names.empty() ? "none" : names);
  fail(MOEMESH_ERROR_COMMUNICATION, "no network interface is up");
}

}  // namespace

std::string error_of(int number) { return std::generic_category().message(number); }

Address Address::of(const sockaddr* address) {
  Address result;
  if (address->sa_family == AF_INET) result.length = sizeof(sockaddr_in);
  if (address->sa_family == AF_INET6) result.length = sizeof(sockaddr_in6);
  std::memcpy(result.bytes.data(), address, static_cast<size_t>(result.length));
  return result;
}

int Address::family() const { return length == sizeof(sockaddr_in6) ? AF_INET6 : AF_INET; }

std::string Address::text() const {
  char text[INET6_ADDRSTRLEN] = "?";
  if (family() == AF_INET6) {
    const auto value = as<sockaddr_in6>(*this);
    inet_ntop(AF_INET6, &value.sin6_addr, text, sizeof text);
    return format_message("[{}]:{}", text, ntohs(value.sin6_port));
  }
  const auto value = as<sockaddr_in>(*this);
  inet_ntop(AF_INET, &value.sin_addr, text, sizeof text);
  return format_message("{}:{}", text, ntohs(value.sin_port));
}

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  require(getifaddrs(&list) == 0, MOEMESH_ERROR_COMMUNICATION, "the network interfaces can't be listed: {}",
          error_of(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(list, freeifaddrs);
  std::vector<Interface> result;
  for (const ifaddrs* one = list; one; one = one->ifa_next) {
    constexpr unsigned up = IFF_UP | IFF_RUNNING;
    if (!one->ifa_addr || (one->ifa_flags & up) != up || !reaches_others(one->ifa_addr)) continue;
    result.push_back({one->ifa_name, (one->ifa_flags & IFF_LOOPBACK) != 0, Address::of(one->ifa_addr)});
  }
  return result;
}

InterfaceRule::InterfaceRule(std::string_view text) {
  excludes_ = text.starts_with('^');
  if (excludes_) text.remove_prefix(1);
  exact_ = text.starts_with('=');
  if (exact_) text.remove_prefix(1);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma != 0) names_.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
}

bool InterfaceRule::allows(std::string_view name) const {
  if (names_.empty()) return true;
  const bool named = std::any_of(names_.begin(), names_.end(),
                                 [&](const std::string& one) { return exact_ ? name == one : name.starts_with(one); });
  return named != excludes_;
}

const Interface* choose(std::span<const Interface> all, const InterfaceRule& rule) {
  const auto worse = [&](const Interface& one) {
    return std::tuple(!rule.names_wanted() && one.loopback, one.address.family() == AF_INET6);
  };
  const Interface* best = nullptr;
  for (const Interface& one : all) {
    if (!rule.allows(one.name) || (!rule.names_wanted() && of_containers(one.name))) continue;
    if (!best || worse(one) < worse(*best)) best = &one;
  }
  return best;
}

Listener::Listener() : Listener(chosen_address()) {}

Listener::Listener(const Address& interface) {
  constexpr int backlog = 4096;  // every rank of a large world comes at once; the system cuts it to its own limit
  const auto check = [&](bool fine, const char* what) {
    require(fine, MOEMESH_ERROR_COMMUNICATION, "{} at {}: {}", what, interface.text(), error_of(errno));
  };
  socket_ = Descriptor(::socket(interface.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  check(socket_.open(), "a socket");
  check(::bind(get(), interface.get(), static_cast<socklen_t>(interface.length)) == 0, "binding a socket");
  check(::listen(get(), backlog) == 0, "listening");
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  check(::getsockname(get(), reinterpret_cast<sockaddr*>(&own), &length) == 0, "asking for the port");
  address_ = Address::of(reinterpret_cast<const sockaddr*>(&own));
}

}  // namespace moemesh::sockets
