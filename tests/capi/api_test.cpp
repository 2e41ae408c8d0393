// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// moemesh_get_api: the table as the header's text declares it, against the header's functions and the library's symbols.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <type_traits>
#include <vector>

#include "support.hpp"

#define PIN(offset, member)                               \
  static_assert(offsetof(moemesh_api, member) == offset); \
  static_assert(std::is_same_v<decltype(moemesh_api::member), decltype(&moemesh_##member)>);
#include "api_offsets.inc"
#undef PIN
static_assert(offsetof(moemesh_api, struct_size) == 0 && offsetof(moemesh_api, abi_version) == 8);

namespace capi_test {
namespace {

constexpr size_t first_function = 16;  // struct_size, abi_version, reserved

struct Pin {
  size_t offset;
  const char* member;
};
constexpr Pin pins[] = {
#define PIN(offset, member) {offset, #member},
#include "api_offsets.inc"
#undef PIN
};

std::string header_text() {
  std::ifstream file(MOEMESH_HEADER);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first group of every place where `pattern` is found.
std::vector<std::string> all_of(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), expression); at != std::sregex_iterator(); ++at)
    found.push_back((*at)[1]);
  return found;
}

std::vector<std::string> declared_functions() {
  auto names = all_of(header_text(), "\nMOEMESH_API [^(;]*moemesh_([a-z0-9_]+)\\(");
  names.erase(std::remove(names.begin(), names.end(), "get_api"), names.end());
  return names;
}

std::vector<std::string> table_members() {
  const std::string text = header_text();
  const size_t begin = text.find("typedef struct moemesh_api {"), end = text.find("} moemesh_api;");
  if (begin == std::string::npos || end == std::string::npos) return {};
  return all_of(text.substr(begin, end - begin), "\\(\\*([a-z0-9_]+)\\)");
}

TEST(Api, EveryFunctionOfTheHeaderIsInTheTableOnce) {
  auto declared = declared_functions(), members = table_members();
  ASSERT_GT(declared.size(), 100u);
  std::sort(declared.begin(), declared.end());
  std::sort(members.begin(), members.end());
  EXPECT_EQ(declared, members) << "cmake/update-api adds new functions";
}

// What a program gets that opens the library and knows the header alone.
TEST(Api, PointersAreTheExportedFunctions) {
  const moemesh_api* api = moemesh_get_api(MOEMESH_ABI_VERSION);
  ASSERT_NE(api, nullptr);
  const auto members = table_members();
  ASSERT_EQ(api->struct_size, static_cast<int64_t>(first_function + members.size() * sizeof(void*)));
  for (size_t i = 0; i < members.size(); ++i) {
    void* pointer = nullptr;
    std::memcpy(&pointer, reinterpret_cast<const char*>(api) + first_function + i * sizeof pointer, sizeof pointer);
    void* const symbol = dlsym(RTLD_DEFAULT, ("moemesh_" + members[i]).c_str());
    ASSERT_NE(symbol, nullptr) << members[i];
    EXPECT_EQ(pointer, symbol) << members[i];
  }
}

TEST(Api, OffsetsArePinned) {
  const auto members = table_members();
  ASSERT_EQ(std::size(pins), members.size()) << "cmake/update-api adds new functions to api_offsets.inc";
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(pins[i].member, members[i]);
    EXPECT_EQ(pins[i].offset, first_function + i * sizeof(void*)) << members[i];
  }
}

TEST(Api, VersionsThatItDoesNotHave) {
  EXPECT_EQ(MOEMESH_ABI_VERSION, 1);
  for (const int32_t unknown : {0, 2, -1, 1000, INT32_MIN, INT32_MAX}) EXPECT_EQ(moemesh_get_api(unknown), nullptr);
  const moemesh_api* api = moemesh_get_api(1);
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api, moemesh_get_api(1));
  EXPECT_EQ(api->abi_version, 1);
  EXPECT_EQ(api->reserved, 0);
  EXPECT_EQ(api->struct_size, static_cast<int64_t>(sizeof *api)) << "built from one header";
}

TEST(Api, ACallThroughTheTable) {
  const moemesh_api* api = moemesh_get_api(MOEMESH_ABI_VERSION);
  ASSERT_NE(api, nullptr);
  moemesh_context context = nullptr;
  ASSERT_EQ(api->context_create(nullptr, &context), MOEMESH_OK);
  EXPECT_EQ(api->context_finalize(context), MOEMESH_OK);
  api->context_destroy(&context);
  EXPECT_STREQ(api->status_name(MOEMESH_ERROR_FILE), "MOEMESH_ERROR_FILE");
}

}  // namespace
}  // namespace capi_test
