// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Worlds of a ncclUniqueId alone. MPI brings the id around, as a program's own way would.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "impl/comm/nccl/bootstrap.hpp"
#include "nccl_world.hpp"

namespace moemesh::test {
namespace {

moemesh_nccl_comm own_place() {
  ncclUniqueId id = NcclComm::unique_id();
  world().broadcast(reinterpret_cast<std::byte*>(&id), sizeof id, 0, Purpose{});
  moemesh_nccl_comm comm{sizeof(moemesh_nccl_comm), world().rank(), world().size(), {}};
  std::memcpy(comm.id, &id, sizeof comm.id);
  return comm;
}

std::shared_ptr<Link> link_with(double timeout_seconds) {
  auto link = std::make_shared<Link>();
  link->timeout_seconds = timeout_seconds;
  return link;
}

// While one lives, another value is in the environment.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Bootstrap, BothKindsOfMessagesWork) {
  const Bootstrapped made = bootstrap(link_with(60), own_place());
  const int64_t rank = world().rank(), size = world().size();
  EXPECT_EQ(made.control->rank(), rank);
  EXPECT_EQ(made.control->size(), size);
  EXPECT_EQ(made.control->nodes(), std::vector<int64_t>(size, 0));
  std::vector<int64_t> sum{rank, 1};
  made.control->agree_sum(std::span<int64_t>(sum), Purpose{});
  EXPECT_EQ(sum, (std::vector<int64_t>{size * (size - 1) / 2, size}));
  ComputeStream compute;
  DeviceArray<float> data(5);
  data.fill(compute, [](int64_t) { return 1.0F; });
  Between order(compute);
  made.nccl->all_reduce(data.data(), 5, order);
  order.join();
  EXPECT_EQ(data.read(compute)[4], static_cast<float>(size));
  const auto part = made.nccl->split(static_cast<int32_t>(rank % 2), Urgency::reduction);
  EXPECT_EQ(part->rank(), rank / 2);
  part->close();
  made.nccl->close();
  made.control->close();
}

TEST(Bootstrap, WithoutADeadline) {
  const Bootstrapped made = bootstrap(link_with(0), own_place());
  made.nccl->close();
  made.control->close();
}

// Told over NCCL: nobody waits for it.
TEST(Bootstrap, OneRankHasNoInterface) {
  const int64_t last = world().size() - 1;
  const moemesh_nccl_comm place = own_place();
  Outcome outcome;
  {
    const Environment names("MOEMESH_SOCKET_IFNAME", world().rank() == last ? "=none0" : "");
    outcome = outcome_of([&] { (void)bootstrap(link_with(60), place); });
  }
  EXPECT_EQ(outcome.status, MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(outcome.text.find("MOEMESH_SOCKET_IFNAME==none0 allows no network interface that is up; there are: "),
            std::string::npos)
      << outcome.text;
  if (world().rank() != last) {
    const std::string who = "context_create: rank " + std::to_string(last) + " failed with MOEMESH_ERROR_INVALID";
    EXPECT_EQ(outcome.text.find(who), 0u) << outcome.text;
  }
}

TEST(Bootstrap, RefusesBeforeAnybodyWaits) {
  const moemesh_nccl_comm good = own_place();
  const auto expect = [&](const std::function<void(moemesh_nccl_comm&)>& change, const std::string& text) {
    moemesh_nccl_comm comm = good;
    change(comm);
    const Outcome outcome = outcome_of([&] { (void)bootstrap(link_with(10), comm); });
    EXPECT_EQ(outcome.status, MOEMESH_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
  };
  expect([](auto& c) { c.size = 0; }, "size: expected 1..1048576, got 0");
  expect([](auto& c) { c.size = int64_t{1} << 40; }, "size: expected 1..1048576");
  expect([](auto& c) { c.rank = c.size; }, "rank: expected 0..");
  expect([](auto& c) { c.rank = -1; }, "got -1");
  expect([](auto& c) { std::fill(std::begin(c.id), std::end(c.id), 0); }, "got zeros");
}

// ---- by the C API

struct Api {
  moemesh_nccl_comm place = own_place();
  moemesh_context_params params;
  moemesh_context context = nullptr;

  Api() {
    EXPECT_EQ(moemesh_context_params_init(&params, sizeof params), MOEMESH_OK);
    params.comm = {static_cast<int64_t>(reinterpret_cast<intptr_t>(&place)), MOEMESH_COMM_NCCL, 0};
    params.timeout_seconds = 60;
  }
  int32_t create() { return moemesh_context_create(&params, &context); }
  std::string text() const {
    std::string text(1000, 0);
    int64_t length = 0;
    (void)moemesh_last_error(context, text.data(), std::ssize(text), &length);
    return text.c_str();
  }
};

TEST(Bootstrap, ContextAndMesh) {
  Api api;
  ASSERT_EQ(api.create(), MOEMESH_OK) << api.text();
  const int64_t rank = world().rank(), size = world().size();
  moemesh_context_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(moemesh_context_get_info(api.context, &info), MOEMESH_OK);
  EXPECT_EQ(info.rank, rank);
  EXPECT_EQ(info.size, size);
  EXPECT_EQ(info.nodes, 1);
  EXPECT_EQ(info.comm_kind, MOEMESH_COMM_NCCL);
  EXPECT_EQ(info.progress, MOEMESH_PROGRESS_THREAD);
  moemesh_mesh_params mesh_params;
  ASSERT_EQ(moemesh_mesh_params_init(&mesh_params, sizeof mesh_params), MOEMESH_OK);
  mesh_params.dp = size;
  moemesh_mesh mesh = nullptr;
  ASSERT_EQ(moemesh_mesh_create(api.context, &mesh_params, &mesh), MOEMESH_OK) << api.text();
  std::vector<float> data(1000, static_cast<float>(rank));
  const int64_t extent = std::ssize(data);
  moemesh_view view{};
  ASSERT_EQ(moemesh_view_init(&view, MOEMESH_FLOAT32, 1, &extent, data.data()), MOEMESH_OK);
  ASSERT_EQ(moemesh_all_reduce(mesh, MOEMESH_AXIS_DP, MOEMESH_SUM, &view), MOEMESH_OK) << api.text();
  EXPECT_EQ(data, std::vector<float>(1000, static_cast<float>(size * (size - 1) / 2)));
  EXPECT_EQ(moemesh_mesh_finalize(mesh), MOEMESH_OK);
  moemesh_mesh_destroy(&mesh);
  EXPECT_EQ(moemesh_context_finalize(api.context), MOEMESH_OK) << api.text();
  moemesh_context_destroy(&api.context);
}

// What one rank found wrong once there was a way to say it.
TEST(Bootstrap, OneRanksParametersAreToldToAll) {
  Api api;
  const int64_t last = world().size() - 1;
  if (world().rank() == last) api.params.log_level = 99;
  EXPECT_EQ(api.create(), MOEMESH_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(api.context, nullptr);
  const std::string text = api.text();
  EXPECT_NE(text.find(world().rank() == last ? "log_level" : "rank " + std::to_string(last)), std::string::npos)
      << text;
}

TEST(Bootstrap, RefusesWhatIsNoAddress) {
  Api api;
  for (const int64_t handle : {int64_t{0}, api.params.comm.handle + 1}) {
    Api bad;
    bad.params.comm.handle = handle;
    EXPECT_EQ(bad.create(), MOEMESH_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(bad.text().find("comm.handle: expected the address"), std::string::npos) << bad.text();
  }
  api.place.struct_size = 8;
  EXPECT_EQ(api.create(), MOEMESH_ERROR_INVALID_STRUCT);
}

// Two contexts have sockets of their own, and one that is destroyed alone leaves the other be.
TEST(Bootstrap, TwoContexts) {
  Api first, second;
  ASSERT_EQ(first.create(), MOEMESH_OK) << first.text();
  ASSERT_EQ(second.create(), MOEMESH_OK) << second.text();
  moemesh_context_destroy(&first.context);
  EXPECT_EQ(moemesh_context_finalize(second.context), MOEMESH_OK) << second.text();
  moemesh_context_destroy(&second.context);
}

}  // namespace
}  // namespace moemesh::test
