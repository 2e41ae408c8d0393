// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "harness.hpp"

#include <dlfcn.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "moemesh_mpi.h"

namespace moemesh::test {

int world_rank() {
  static const int rank = [] {
    int value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    return value;
  }();
  return rank;
}

int world_size() {
  static const int size = [] {
    int value = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &value);
    return value;
  }();
  return size;
}

std::string last_error(moemesh_context context) {
  int64_t length = 0;
  if (moemesh_last_error(context, nullptr, 0, &length) != MOEMESH_OK) return "(no text)";
  std::string text(static_cast<size_t>(length) + 1, '\0');
  moemesh_last_error(context, text.data(), length + 1, nullptr);
  text.pop_back();
  return text;
}

void check(int32_t status, const char* call, const char* file, int line) {
  if (status == MOEMESH_OK) return;
  std::ostringstream text;
  text << file << ":" << line << ": " << call << "\n  returned " << moemesh_status_name(status) << ": " << last_error();
  throw std::runtime_error(text.str());
}

// ---- values

Floats nans(int64_t elements) { return Floats(static_cast<size_t>(elements), std::numeric_limits<float>::quiet_NaN()); }

Floats to_floats(const oracle::Array& array) { return Floats(array.begin(), array.end()); }

Halves to_halves(const Floats& values) {
  Halves halves;
  for (const float value : values) {
    const uint32_t bits = std::bit_cast<uint32_t>(value), low = bits & 0xffffU;
    const bool up = low > 0x8000U || (low == 0x8000U && (bits & 0x10000U) != 0);
    const bool nan = std::isnan(value);
    halves.push_back(static_cast<uint16_t>(nan ? 0x7fc0U : (bits >> 16) + (up ? 1 : 0)));
  }
  return halves;
}

Floats to_floats(const Halves& values) {
  Floats floats;
  for (const uint16_t value : values) floats.push_back(std::bit_cast<float>(uint32_t{value} << 16));
  return floats;
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// ---- context

namespace {

// MOEMESH_TEST_COMM_NCCL: the library gets an id of NCCL's instead of MPI. It comes from the NCCL that the library uses.
bool without_mpi() { return std::getenv("MOEMESH_TEST_COMM_NCCL") != nullptr; }

moemesh_nccl_comm nccl_comm(MPI_Comm comm) {
  moemesh_nccl_comm made{};
  made.struct_size = sizeof made;
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  made.rank = rank;
  made.size = size;
  const auto unique_id = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "ncclGetUniqueId"));
  if (unique_id == nullptr) throw std::runtime_error("the library has no NCCL");
  if (rank == 0 && unique_id(made.id) != 0) throw std::runtime_error("no id");
  MPI_Bcast(made.id, sizeof made.id, MPI_BYTE, 0, comm);
  return made;
}

bool as_a_device = false;

}  // namespace

bool works_as_a_device() { return as_a_device; }

Session::Session(MPI_Comm comm, double timeout_seconds, moemesh_clock_function clock, void* clock_user) {
  auto params = with_defaults(moemesh_context_params_init);
  moemesh_nccl_comm by_id{};
  if (comm != MPI_COMM_NULL && without_mpi()) {
    by_id = nccl_comm(comm);
    params.comm = {reinterpret_cast<intptr_t>(&by_id), MOEMESH_COMM_NCCL, 0};
  } else if (comm != MPI_COMM_NULL) {
    params.comm = moemesh_comm_from_mpi(comm);
  }
  params.deterministic = std::getenv("MOEMESH_TEST_DETERMINISTIC") ? 1 : 0;
  params.log = keep;
  params.log_user = this;
  params.log_level = MOEMESH_LOG_INFO;
  params.timeout_seconds = timeout_seconds;
  params.clock = clock;
  params.clock_user = clock_user;
  params.threads = 1;
  OK(moemesh_context_create(&params, &context_));
  auto info = moemesh_context_info{};
  info.struct_size = sizeof info;
  OK(moemesh_context_get_info(context_, &info));
  const char* const products = std::getenv("MOEMESH_TEST_PRODUCTS");
  as_a_device = info.memory == MOEMESH_MEMORY_CUDA || (products && std::strstr(products, "device"));
}

Session::~Session() {
  // Collective: only where no test is being left by an exception, of which the peers know nothing.
  if (!finalized_ && std::uncaught_exceptions() == 0) moemesh_context_finalize(context_);
  moemesh_context_destroy(&context_);
}

void Session::finalize() {
  OK(moemesh_context_finalize(context_));
  finalized_ = true;
}

void Session::keep(void* user, int32_t level, const char* message) {
  static_cast<Session*>(user)->log_.push_back(std::to_string(level) + ": " + message);
}

// ---- mesh

std::string to_string(const MeshSpec& spec) {
  std::ostringstream text;
  text << "tp" << spec.tp << " ep" << spec.ep << " pp" << spec.pp << " dp" << spec.dp;
  if (spec.expert_tp != 0 && spec.expert_tp != spec.tp) text << " expert_tp" << spec.expert_tp;
  if (!spec.order.empty()) text << " " << spec.order;
  return text.str();
}

std::ostream& operator<<(std::ostream& stream, const MeshSpec& spec) { return stream << to_string(spec); }

std::vector<MeshSpec> meshes_of(int64_t world) {
  std::vector<MeshSpec> meshes;
  for (int64_t tp = 1; tp <= world; ++tp) {
    if (world % tp != 0) continue;
    for (int64_t ep = 1; ep <= world / tp; ++ep) {
      if (world / tp % ep != 0) continue;
      MeshSpec spec{.tp = static_cast<int32_t>(tp), .ep = static_cast<int32_t>(ep), .order = {}};
      spec.dp = static_cast<int32_t>(world / tp / ep);
      for (spec.expert_tp = spec.tp; spec.expert_tp >= 1; --spec.expert_tp)
        if (spec.tp % spec.expert_tp == 0) meshes.push_back(spec);
    }
  }
  return meshes;
}

std::vector<MeshSpec> dense_meshes_of(int64_t world) {
  std::vector<MeshSpec> meshes = meshes_of(world);
  std::erase_if(meshes, [](const MeshSpec& spec) { return spec.expert_tp != spec.tp; });
  return meshes;
}

std::vector<MeshSpec> staged_meshes_of(int64_t world) {
  std::vector<MeshSpec> meshes;
  for (int64_t pp = 2; pp <= world; ++pp) {
    if (world % pp != 0) continue;
    for (MeshSpec spec : meshes_of(world / pp)) {
      spec.pp = static_cast<int32_t>(pp);
      meshes.push_back(spec);
    }
  }
  return meshes;
}

Mesh::Mesh(const Session& session, const MeshSpec& spec) : spec_(spec) {
  auto params = with_defaults(moemesh_mesh_params_init);
  params.tp = spec.tp;
  params.ep = spec.ep;
  params.pp = spec.pp;
  params.dp = spec.dp;
  params.expert_tp = spec.expert_tp;
  if (!spec.order.empty()) params.order = spec_.order.c_str();
  OK(moemesh_mesh_create(session.get(), &params, &mesh_));
  auto info = sized<moemesh_context_info>();
  OK(moemesh_context_get_info(session.get(), &info));
  rank_ = info.rank;
}

Mesh::~Mesh() {
  if (!finalized_ && std::uncaught_exceptions() == 0) moemesh_mesh_finalize(mesh_);
  moemesh_mesh_destroy(&mesh_);
}

void Mesh::finalize() {
  OK(moemesh_mesh_finalize(mesh_));
  finalized_ = true;
}

moemesh_coordinates Mesh::at(int64_t rank) const {
  auto coordinates = sized<moemesh_coordinates>();
  OK(moemesh_mesh_get_coordinates(mesh_, rank, &coordinates));
  return coordinates;
}

moemesh_group Mesh::group(int32_t axes) const {
  auto group = sized<moemesh_group>();
  OK(moemesh_mesh_get_group(mesh_, axes, rank_, &group));
  return group;
}

std::vector<int64_t> Mesh::members(int32_t axes) const {
  std::vector<int64_t> members(static_cast<size_t>(group(axes).size));
  for (size_t i = 0; i < members.size(); ++i)
    OK(moemesh_mesh_get_group_member(mesh_, axes, rank_, static_cast<int64_t>(i), &members[i]));
  return members;
}

std::pair<int64_t, int64_t> Mesh::experts(int64_t experts) const {
  std::pair<int64_t, int64_t> range;
  OK(moemesh_mesh_get_experts(mesh_, experts, rank_, &range.first, &range.second));
  return range;
}

std::vector<moemesh_ledger_entry> Mesh::ledger() const {
  int64_t count = 0;
  OK(moemesh_ledger_get_count(mesh_, &count));
  std::vector<moemesh_ledger_entry> entries(static_cast<size_t>(count), sized<moemesh_ledger_entry>());
  for (int64_t i = 0; i < count; ++i) OK(moemesh_ledger_get_entry(mesh_, i, &entries[static_cast<size_t>(i)]));
  return entries;
}

moemesh_ledger_entry total(const std::vector<moemesh_ledger_entry>& entries, const LedgerFilter& filter) {
  auto sum = sized<moemesh_ledger_entry>();
  for (const auto& entry : entries) {
    if (filter.axes >= 0 && entry.axes != filter.axes) continue;
    if (filter.family >= 0 && entry.family != filter.family) continue;
    if (filter.phase != 0 && entry.phase != filter.phase) continue;
    if (filter.collective != 0 && entry.collective != filter.collective) continue;
    sum.calls += entry.calls;
    sum.messages += entry.messages;
    sum.bytes += entry.bytes;
    sum.bytes_internode += entry.bytes_internode;
  }
  return sum;
}

std::string to_string(const moemesh_ledger_entry& entry) {
  std::ostringstream text;
  text << "axes " << entry.axes << " family " << entry.family << " phase " << entry.phase << " collective "
       << entry.collective << ": calls " << entry.calls << " messages " << entry.messages << " bytes " << entry.bytes;
  return text.str();
}

}  // namespace moemesh::test
