// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/sockets/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstdlib>

#include "impl/base/error.hpp"
#include "impl/comm/sockets/code.hpp"

namespace moemesh::sockets {
namespace {

Address address(const char* text) {
  sockaddr_in four{};
  sockaddr_in6 six{};
  four.sin_family = AF_INET;
  six.sin6_family = AF_INET6;
  if (inet_pton(AF_INET, text, &four.sin_addr) == 1) return Address::of(reinterpret_cast<const sockaddr*>(&four));
  EXPECT_EQ(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
  return Address::of(reinterpret_cast<const sockaddr*>(&six));
}

const std::vector<Interface> host{{"lo", true, address("127.0.0.1")},        {"docker0", false, address("172.17.0.1")},
                                  {"br-1f2e", false, address("172.18.0.1")}, {"veth12", false, address("172.19.0.1")},
                                  {"eth0", false, address("10.0.0.5")},      {"eth10", false, address("10.1.0.5")},
                                  {"ib0", false, address("10.2.0.5")},       {"lo", true, address("::1")},
                                  {"eth0", false, address("fd00::5")},       {"tun6", false, address("fd01::5")}};

std::string chosen(const char* rule, const std::vector<Interface>& all = host) {
  const Interface* const one = choose(all, InterfaceRule(rule));
  return one ? one->name + " " + one->address.text() : "none";
}

TEST(SocketAddress, FirstOfTheHostsOwn) {
  EXPECT_EQ(chosen(""), "eth0 10.0.0.5:0");
  const std::vector<Interface> alone(host.begin(), host.begin() + 4);
  EXPECT_EQ(chosen("", alone), "lo 127.0.0.1:0");
  EXPECT_EQ(chosen("", {host[1], host[9]}), "tun6 [fd01::5]:0");
  EXPECT_EQ(chosen("", {host[9], host[7], host[6]}), "ib0 10.2.0.5:0") << "IPv4 goes first";
  EXPECT_EQ(chosen("", {host[7], host[9]}), "tun6 [fd01::5]:0") << "loopback goes last";
  EXPECT_EQ(chosen("", {host[1], host[2]}), "none");
  EXPECT_EQ(chosen("", {}), "none");
}

TEST(SocketAddress, NamesAsNcclHasThem) {
  EXPECT_EQ(chosen("ib"), "ib0 10.2.0.5:0");
  EXPECT_EQ(chosen("eth1,ib"), "eth10 10.1.0.5:0");
  EXPECT_EQ(chosen("ib,eth1"), "eth10 10.1.0.5:0") << "it is the host's order that counts";
  EXPECT_EQ(chosen("=eth1"), "none");
  EXPECT_EQ(chosen("=eth10"), "eth10 10.1.0.5:0");
  EXPECT_EQ(chosen("^eth0"), "eth10 10.1.0.5:0");
  EXPECT_EQ(chosen("^eth"), "ib0 10.2.0.5:0");
  EXPECT_EQ(chosen("^=eth1,ib"), "eth0 10.0.0.5:0");
  EXPECT_EQ(chosen("^eth,ib,tun"), "lo 127.0.0.1:0");
  EXPECT_EQ(chosen("^eth,ib,tun,lo"), "none");
  EXPECT_EQ(chosen("docker"), "docker0 172.17.0.1:0") << "whoever asks for it gets it";
  EXPECT_EQ(chosen("lo"), "lo 127.0.0.1:0");
  EXPECT_EQ(chosen("tun"), "tun6 [fd01::5]:0");
  EXPECT_EQ(chosen(",,ib,"), "ib0 10.2.0.5:0");
  EXPECT_EQ(chosen("wlan"), "none");
}

TEST(SocketAddress, OfThisHost) {
  const std::vector<Interface> all = interfaces();
  for (const Interface& one : all) EXPECT_NE(one.address.text().find(":0"), std::string::npos) << one.address.text();
  const auto with = [](const char* first, const char* second) {
    setenv("MOEMESH_SOCKET_IFNAME", first, 1);
    setenv("NCCL_SOCKET_IFNAME", second, 1);
    std::string text;
    try {
      const Listener listener;
      text = listener.address().text();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), MOEMESH_ERROR_INVALID_ARGUMENT);
      text = error.what();
    }
    unsetenv("MOEMESH_SOCKET_IFNAME");
    unsetenv("NCCL_SOCKET_IFNAME");
    return text;
  };
  EXPECT_EQ(with("=lo", "=none").find("127.0.0.1:"), 0u);
  EXPECT_EQ(with("", "=lo").find("127.0.0.1:"), 0u);
  EXPECT_EQ(with("=none", "=lo").find("MOEMESH_SOCKET_IFNAME==none allows no network interface"), 0u);
  EXPECT_EQ(with("", "none").find("NCCL_SOCKET_IFNAME=none allows no network interface"), 0u);
}

TEST(SocketCode, NamesTheRankAndTheSystemsError) {
  const std::string text = text_of(code_of(Failure::lost, most_ranks - 1, ECONNRESET));
  EXPECT_NE(text.find("rank 1048575 of the world is lost"), std::string::npos) << text;
  EXPECT_NE(text.find("Connection reset"), std::string::npos) << text;
  EXPECT_GT(code_of(Failure::bad_fake_nodes, most_ranks - 1, 127), 0);
  EXPECT_EQ(text_of(code_of(Failure::left, 3)), "rank 3 of the world closed its context");
  EXPECT_EQ(text_of(0), "unknown error");
}

}  // namespace
}  // namespace moemesh::sockets
