// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impl/comm/sockets/descriptor.hpp"

struct sockaddr;

namespace moemesh::sockets {

// A place in the network, IPv4 or IPv6, as the system writes it; plain bytes, so that it can be sent to another host.
struct Address {
  std::array<std::byte, 28> bytes{};
  int32_t length = 0;

  static Address of(const sockaddr* address);  // length 0: of another family
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(bytes.data()); }
  int family() const;
  std::string text() const;  // "10.0.0.1:4711", "[fd00::1]:4711"
};

// One address of a network interface of this host.
struct Interface {
  std::string name;
  bool loopback = false;
  Address address;
};
std::vector<Interface> interfaces();  // those that are up, in the system's order

// Which interfaces may be used, as NCCL_SOCKET_IFNAME says it: a list of names' beginnings, separated by commas. A leading ^ makes
// it those that may not be used, a leading = (also after ^) whole names of it.
class InterfaceRule {
 public:
  explicit InterfaceRule(std::string_view text);
  bool allows(std::string_view name) const;
  bool names_wanted() const { return !excludes_ && !names_.empty(); }

 private:
  bool excludes_ = false, exact_ = false;
  std::vector<std::string> names_;
};

// The first that the rule allows; without wanted names no bridge or other end of containers, and a loopback one last. IPv4 before
// IPv6. Null: none.
const Interface* choose(std::span<const Interface> all, const InterfaceRule& rule);

// The place of this rank where others come to: a port of the system's choice at the chosen interface's address.
class Listener {
 public:
  Listener();  // by MOEMESH_SOCKET_IFNAME or NCCL_SOCKET_IFNAME. Throws INVALID_ARGUMENT, COMMUNICATION
  explicit Listener(const Address& interface);
  int get() const { return socket_.get(); }
  const Address& address() const { return address_; }
  void close() { socket_.close(); }

 private:
  Descriptor socket_;
  Address address_;
};

std::string error_of(int number);  // the system's text

}  // namespace moemesh::sockets
