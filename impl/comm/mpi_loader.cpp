// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/mpi_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "impl/base/error.hpp"

namespace moemesh {
namespace {

constexpr const char* module_name = "libmoemesh_mpi.so";

// The folder of the shared object (or program) that contains this function, with its slash; empty if unknown.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&mpi_transport), &info) == 0 || !info.dli_fname) return {};
  const std::string path(info.dli_fname);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::vector<std::string> candidates() {
  if (const char* const path = std::getenv("MOEMESH_MPI_MODULE"); path && *path) return {path};
  std::vector<std::string> names;
  if (const std::string folder = own_folder(); !folder.empty()) names.push_back(folder + module_name);
  names.emplace_back(module_name);
  return names;
}

void* open_module(std::string& path) {
  std::string reasons;
  for (const std::string& candidate : candidates()) {
    if (void* const module = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      path = candidate;
      return module;
    }
    const char* const reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason ? reason : candidate);
  }
  fail(MOEMESH_ERROR_MPI_UNAVAILABLE, "the MPI module could not be loaded: {}", reasons);
}

const moemesh_transport* load() {
  std::string path;
  void* const module = open_module(path);
  const auto entry = reinterpret_cast<moemesh_transport_entry>(dlsym(module, MOEMESH_TRANSPORT_ENTRY));
  require(entry != nullptr, MOEMESH_ERROR_MPI_UNAVAILABLE, "{} has no entry {}", path, MOEMESH_TRANSPORT_ENTRY);
  const moemesh_transport* const table = entry(MOEMESH_TRANSPORT_VERSION);
  require(table != nullptr && table->version == MOEMESH_TRANSPORT_VERSION &&
              table->struct_size >= static_cast<int64_t>(sizeof(moemesh_transport)),
          MOEMESH_ERROR_MPI_UNAVAILABLE, "{} does not have version {} of the transport", path,
          MOEMESH_TRANSPORT_VERSION);
  return table;
}

}  // namespace

const moemesh_transport& mpi_transport() {
  static std::mutex mutex;
  static const moemesh_transport* table = nullptr;
  const std::lock_guard lock(mutex);
  if (!table) table = load();
  return *table;
}

}  // namespace moemesh
