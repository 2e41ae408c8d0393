// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// moemesh-info: which moemesh this is, how it was built, and what it works with here. Tells what a bug report should.
#include <cstdio>
#include <cstring>
#include <moemesh.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  bool mpi = false;
  bool json = false;
};

constexpr const char* usage =
    "moemesh-info [--mpi] [--json]: the moemesh library that this program finds, and what it works with\n"
    "  --mpi   also starts MPI and makes a context of all its ranks; the first one prints\n"
    "  --json  as JSON\n";

std::string version_text(int32_t version) {
  if (version == 0) return "unknown";
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

const char* kind_text(int32_t kind) {
  switch (kind) {
    case MOEMESH_COMM_NONE:
      return "none";
    case MOEMESH_COMM_OPENMPI:
      return "Open MPI";
    case MOEMESH_COMM_MPICH_ABI:
      return "MPICH ABI";
    default:
      return "another MPI";
  }
}

Json features(int64_t bits) {
  Json names = Json::array();
  if (bits & MOEMESH_FEATURE_MPI) names.push_back("MPI");
  if (bits & MOEMESH_FEATURE_ONEDNN) names.push_back("oneDNN");
  if (bits & MOEMESH_FEATURE_CUDA) names.push_back("CUDA");
  if (bits & MOEMESH_FEATURE_NCCL) names.push_back("NCCL");
  return names;
}

Json of_library(const moemesh_runtime_info& info) {
  return {{"version", info.version},       {"git", info.git},
          {"abi", moemesh_get_api(MOEMESH_ABI_VERSION)->abi_version},    {"device", info.device},
          {"build_type", info.build_type}, {"compiler", info.compiler},
          {"library", info.library},       {"features", features(info.features)},
          {"threads", info.threads}};
}

Json of_kokkos(const moemesh_runtime_info& info) {
  return {{"compiled", version_text(info.kokkos_compiled)},
          {"loaded", version_text(info.kokkos_loaded)},
          {"shared", info.kokkos_shared == 1},
          {"backends", info.kokkos_backends},
          {"path", info.kokkos_path}};
}

Json of_mpi(const moemesh_runtime_info& info) {
  if (*info.mpi_error) return {{"error", info.mpi_error}};
  return {{"kind", kind_text(info.mpi_kind)}, {"library", info.mpi_library}, {"module", info.mpi_module}};
}

std::string cuda_text(int32_t version) {
  return version == 0 ? "none" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Json of_cuda(const moemesh_runtime_info& info) {
  Json result{{"compiled", cuda_text(info.cuda_compiled)},
              {"runtime", cuda_text(info.cuda_runtime)},
              {"driver", cuda_text(info.cuda_driver)}};
  if (info.nccl > 0) result["nccl"] = {{"version", info.nccl}, {"path", info.nccl_path}};
  return result;
}

Json of_context(const moemesh::context& context) {
  const auto info = context.info();
  return {{"ranks", info.size},
          {"nodes", info.nodes},
          {"threads", info.threads},
          {"progress", info.progress == MOEMESH_PROGRESS_THREAD ? "thread" : "calls"}};
}

Json facts() {
  const auto info = moemesh::runtime_info();
  Json result = of_library(info);
  result["products"] = {{"library", info.matrix_library}, {"path", info.matrix_path}};
  result["kokkos"] = of_kokkos(info);
  result["mpi"] = of_mpi(info);
  if (info.cuda_compiled > 0) result["cuda"] = of_cuda(info);
  return result;
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& entry : value) text += (text.empty() ? "" : ", ") + entry.get<std::string>();
  return text;
}

// One line for each value; those of a part are named "part value".
void print_table(const Json& facts, const std::string& part = "") {
  for (const auto& [name, value] : facts.items()) {
    if (value.is_object())
      print_table(value, name + " ");
    else
      std::printf("%-20s %s\n", (part + name).c_str(), value_text(value).c_str());
  }
}

void print(const Json& facts, const Options& options) {
  if (options.json)
    std::printf("%s\n", facts.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    print_table(facts);
  if (std::fflush(stdout) != 0) throw std::runtime_error("standard output could not be written");
}

void run_alone(const Options& options) { print(facts(), options); }

void run_with_mpi(const Options& options) {
  auto context = moemesh::context::mpi_world();
  Json all = facts();
  all["context"] = of_context(context);
  if (context.rank() == 0) print(all, options);
  context.finalize();
  context.reset();
  moemesh::shutdown();
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mpi") == 0) {
      options.mpi = true;
    } else if (std::strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else {
      const bool help = std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0;
      std::fputs(usage, help ? stdout : stderr);
      return help ? 0 : 2;
    }
  }
  options.mpi ? run_with_mpi(options) : run_alone(options);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "moemesh-info: %s\n", error.what());
  return 1;
}
