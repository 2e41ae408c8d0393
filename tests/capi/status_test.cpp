// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// Statuses, version, last error, view_init.
#include <array>
#include <cstring>
#include <set>
#include <thread>

#include "support.hpp"

extern "C" int header_c11_check(void);

namespace capi_test {
namespace {

TEST(Header, WorksFromC11) { EXPECT_EQ(header_c11_check(), 0) << "line of header_c11.c"; }

TEST(Status, NamesAndTextsOfTheWholeList) {
  std::set<int32_t> values;
#define CHECK_STATUS(name, value, text)                       \
  EXPECT_STREQ(moemesh_status_name(value), "MOEMESH_" #name); \
  EXPECT_STREQ(moemesh_status_text(value), text);             \
  EXPECT_EQ(static_cast<int32_t>(MOEMESH_##name), value);     \
  EXPECT_TRUE(values.insert(value).second) << "used twice: " << (value);
  MOEMESH_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
  for (const int32_t unknown : {-1000, 999, INT32_MIN, INT32_MAX}) {
    EXPECT_STREQ(moemesh_status_name(unknown), "MOEMESH_UNKNOWN");
    EXPECT_NE(moemesh_status_text(unknown), nullptr);
  }
}

TEST(Status, VersionIsTheHeaders) {
  int32_t major = -1, minor = -1, patch = -1;
  ASSERT_EQ(moemesh_version(&major, &minor, &patch), MOEMESH_OK);
  EXPECT_EQ(major, MOEMESH_VERSION_MAJOR);
  EXPECT_EQ(minor, MOEMESH_VERSION_MINOR);
  EXPECT_EQ(patch, MOEMESH_VERSION_PATCH);
}

TEST(LastError, IsCutToTheCapacityAndAlwaysEnds) {
  int32_t number = 0;
  ASSERT_EQ(moemesh_version(nullptr, &number, &number), MOEMESH_ERROR_INVALID_ARGUMENT);
  const std::string whole = last_error();
  ASSERT_GT(whole.size(), 10U);
  std::array<char, 8> buffer;
  buffer.fill('#');
  int64_t length = 0;
  ASSERT_EQ(moemesh_last_error(nullptr, buffer.data(), 5, &length), MOEMESH_OK);
  EXPECT_EQ(length, static_cast<int64_t>(whole.size()));
  EXPECT_EQ(std::memcmp(buffer.data(), (whole.substr(0, 4) + '\0' + "###").data(), 8), 0);
  ASSERT_EQ(moemesh_last_error(nullptr, buffer.data(), 1, nullptr), MOEMESH_OK);
  EXPECT_EQ(buffer[0], 0);
}

TEST(LastError, SurvivesSuccessAndIsKeptForEachContext) {
  Model a, b;
  ASSERT_EQ(a.create(), MOEMESH_OK);
  ASSERT_EQ(b.create(), MOEMESH_OK);
  EXPECT_EQ(moemesh_ledger_get_count(a.mesh, nullptr), MOEMESH_ERROR_INVALID_ARGUMENT);
  const std::string text = last_error(a.context);
  EXPECT_NE(text.find("MOEMESH_ERROR_INVALID_ARGUMENT"), std::string::npos) << text;
  EXPECT_NE(text.find("count"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 0"), std::string::npos) << text;
  EXPECT_EQ(last_error(b.context), "");
  ASSERT_EQ(moemesh_ledger_reset(a.mesh), MOEMESH_OK);
  EXPECT_EQ(last_error(a.context), text);
}

TEST(LastError, OfAThreadIsItsOwn) {
  int32_t number = 0;
  ASSERT_EQ(moemesh_version(nullptr, &number, &number), MOEMESH_ERROR_INVALID_ARGUMENT);
  std::string other = "unset";
  std::thread([&] { other = last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_NE(last_error(), "");
}

TEST(View, InitFillsADenseArray) {
  float data[24];
  const int64_t extents[] = {2, 3, 4};
  moemesh_view view;
  std::memset(&view, 0xab, sizeof view);
  ASSERT_EQ(moemesh_view_init(&view, MOEMESH_FLOAT32, 3, extents, data), MOEMESH_OK);
  EXPECT_EQ(view.dtype, MOEMESH_FLOAT32);
  EXPECT_EQ(view.memory, MOEMESH_MEMORY_HOST);
  EXPECT_EQ(view.rank, 3);
  EXPECT_EQ(view.reserved, 0);
  EXPECT_EQ(view.data, data);
  const std::array<int64_t, 4> wanted_extents{2, 3, 4, 0}, wanted_strides{12, 4, 1, 0};
  EXPECT_TRUE(std::equal(wanted_extents.begin(), wanted_extents.end(), view.extents));
  EXPECT_TRUE(std::equal(wanted_strides.begin(), wanted_strides.end(), view.strides));
}

TEST(View, InitRefusesAndLeavesTheView) {
  const int64_t good[] = {2, 3, 4, 5}, negative[] = {2, -1};
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  moemesh_view view, before;
  std::memset(&view, 0xab, sizeof view);
  before = view;
  const auto refused = [&](int32_t dtype, int32_t rank, const int64_t* extents) {
    EXPECT_EQ(moemesh_view_init(&view, dtype, rank, extents, nullptr), MOEMESH_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(std::memcmp(&view, &before, sizeof view), 0);
    return last_error();
  };
  for (const int32_t dtype : {-1, 0, 7}) EXPECT_NE(refused(dtype, 2, good).find("dtype"), std::string::npos);
  for (const int32_t rank : {-1, 0, 5}) EXPECT_NE(refused(MOEMESH_FLOAT32, rank, good).find("rank"), std::string::npos);
  EXPECT_NE(refused(MOEMESH_FLOAT32, 2, negative).find("extents[1]"), std::string::npos);
  EXPECT_NE(refused(MOEMESH_FLOAT32, 2, huge).find("extents"), std::string::npos);
}

}  // namespace
}  // namespace capi_test
