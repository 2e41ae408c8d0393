// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P35: offsets and counts beyond 32 bits, in the arithmetic that lays out messages, shards and rows. Address space is
// reserved, nothing is written to it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "impl/base/error.hpp"
#include "impl/base/view.hpp"
#include "impl/family/flat_view.hpp"
#include "impl/moe/lanes.hpp"
#include "kernels/rows.hpp"
#include "kernels/runtime.hpp"
#include "unit/device_copy.hpp"

namespace moemesh {
namespace {

constexpr int64_t rows = 38000 * 8, hidden = 7168;
constexpr int64_t row_bytes = hidden * 2;  // bf16

// Addresses without memory behind them.
class Reserved {
 public:
  explicit Reserved(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    address_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Reserved() {
    if (good()) munmap(address_, bytes_);
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  bool good() const { return address_ != MAP_FAILED; }
  char* bytes() const { return static_cast<char*>(address_); }
  float* floats() const { return static_cast<float*>(address_); }

 private:
  size_t bytes_;
  void* address_ = nullptr;
};

void start_kernels() {
  if (kernels::runtime_state() == kernels::RuntimeState::not_started) kernels::start_runtime(1);
}

TEST(Case, P35_message_layout) {
  const std::vector<int64_t> copies{0, 299593, 299594, rows}, tags{0, 299593, 299594, rows};
  const Lanes plain = make_lanes(copies, nullptr, row_bytes, 1, true);
  EXPECT_EQ(plain.offset, (Recycled<int64_t>{0, 299593 * row_bytes, 299594 * row_bytes}));
  EXPECT_EQ(plain.offset[1], int64_t{2} * 2147482624);
  EXPECT_EQ(plain.offset[2], int64_t{2} * 2147489792);
  EXPECT_EQ(plain.total, 4358144000);
  EXPECT_EQ(plain.bytes[1], 0) << "own copies do not travel";
  const Lanes tagged = make_lanes(copies, &tags, row_bytes, 1, true);
  EXPECT_EQ(tagged.total, 4358144000 + 8 * rows);
  EXPECT_EQ(tagged.tags_at[0], 299593 * row_bytes);
  const Lanes without_own = make_lanes(copies, &tags, row_bytes, 0, false);
  EXPECT_EQ(without_own.total, (rows - 299593) * (row_bytes + 8));
}

TEST(Case, P35_shards) {
  const Shards shards{rows * hidden * 3, 2};
  EXPECT_EQ(shards.part(), 3268608000);
  EXPECT_EQ(shards.begin(1), 3268608000);
  EXPECT_EQ(shards.end(1), 6537216000);
}

TEST(Case, P35_row_pointers) {
  start_kernels();
  const Reserved space(rows * hidden * 4);
  ASSERT_TRUE(space.good());
  std::vector<int32_t> tokens{0, 299593, 299594, static_cast<int32_t>(rows) - 1};
  auto* const start = reinterpret_cast<std::byte*>(space.bytes());
  std::vector<std::byte*> pointers(4);
  kernels::token_pointers(4, test::dev(tokens), start, hidden * 4, test::dev(pointers));
  EXPECT_EQ(pointers[1] - start, 2147482624 * int64_t{4});
  EXPECT_EQ(pointers[2] - start, 2147489792 * int64_t{4});
  EXPECT_EQ(pointers[3] - start, (rows * hidden - hidden) * 4);
  const std::vector<int64_t> offsets{0, rows};
  std::vector<std::byte*> base{start};
  std::vector<std::byte*> all(static_cast<size_t>(rows));
  kernels::segment_pointers(1, offsets.data(), base.data(), hidden * 4, test::dev(all));
  EXPECT_EQ(all[299594] - start, 2147489792 * int64_t{4});
  EXPECT_EQ(all[static_cast<size_t>(rows) - 1] - start, (rows * hidden - hidden) * 4);
}

moemesh_view view_of(const Reserved& space, int64_t count, int64_t width, int64_t stride) {
  moemesh_view view{};
  view.dtype = MOEMESH_FLOAT32;
  view.memory = MOEMESH_MEMORY_HOST;
  view.rank = 2;
  view.extents[0] = count;
  view.extents[1] = width;
  view.strides[0] = stride;
  view.strides[1] = 1;
  view.data = space.bytes();
  return view;
}

TEST(Case, P35_views) {
  const Reserved space(rows * hidden * 4);
  ASSERT_TRUE(space.good());
  const moemesh_view large = view_of(space, rows, hidden, hidden);
  const TypedRows checked = check_typed_rows(&large, "x", MOEMESH_FLOAT32, rows, hidden);
  EXPECT_EQ(checked.rows * checked.ld, 2179072000);
  EXPECT_EQ(check_dense(&large, "x"), 2179072000);
  // Halves of it do not overlap; 32-bit ends would.
  TypedRows low = checked, high = checked;
  low.rows = high.rows = rows / 2;
  high.data += rows / 2 * hidden * 4;
  EXPECT_FALSE(overlap(low, high));
  EXPECT_TRUE(overlap(checked, high));
  for (const int64_t count : {int64_t{1} << 50, INT64_MAX}) {
    const moemesh_view wraps = view_of(space, count, hidden, hidden);
    EXPECT_THROW((void)check_dense(&wraps, "x"), Error) << count;
    EXPECT_THROW((void)check_rows(&wraps, "x", -1, hidden), Error) << count;
  }
  const moemesh_view far = view_of(space, 2, hidden, INT64_MAX / 2);
  EXPECT_THROW((void)check_rows(&far, "x", -1, hidden), Error);
}

}  // namespace
}  // namespace moemesh
