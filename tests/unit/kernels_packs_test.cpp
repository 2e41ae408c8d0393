// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/flat.hpp"
#include "unit/kernels_util.hpp"

// Where a device's kernels read 16 bytes at once: every width and place of the arrays takes another mixture of packs and
// single elements, and no other element may change.
namespace moemesh::kernels {
namespace {

constexpr int64_t kMargin = 16, kMost = 5000;

template <class T>
T guard() {
  if constexpr (std::is_same_v<T, float>) return test::kNan;
  return 0x7fc1;
}

template <class T>
bool is_guard(T value) {
  const T expected = guard<T>();
  return test::same_bits(&value, &expected, sizeof value);
}

// n elements that begin `offset` elements behind an address of 16, with guards around and in them.
template <class T>
class Placed {
 public:
  Placed(int64_t n, int64_t offset) : storage_(static_cast<size_t>(n + offset + 2 * kMargin), guard<T>()) {
    first_ = kMargin + offset;
    n_ = n;
  }
  Placed(int64_t n, int64_t offset, uint32_t seed) : Placed(n, offset) {
    std::mt19937 engine(seed);
    for (int64_t i = 0; i < n; ++i) {
      const float value = std::uniform_real_distribution<float>(0.25f, 4)(engine);
      if constexpr (std::is_same_v<T, float>)
        (*this)[i] = value;
      else
        (*this)[i] = test::half_of(value);
    }
  }
  T& operator[](int64_t i) { return storage_[static_cast<size_t>(first_ + i)]; }
  test::DeviceCopy<T> dev() { return {storage_.data(), static_cast<int64_t>(storage_.size()), first_}; }
  void expect_guards() const {
    for (int64_t i = 0; i < static_cast<int64_t>(storage_.size()); ++i) {
      if (i >= first_ && i < first_ + n_) continue;
      ASSERT_TRUE(is_guard(storage_[static_cast<size_t>(i)])) << "element " << i - first_ << " of " << n_;
    }
  }

 private:
  std::vector<T> storage_;
  int64_t first_, n_;
};

// body(n, offsets of the arrays)
template <class Body>
void for_places(const Body& body) {
  for (const int64_t n : std::vector<int64_t>{1, 3, 4, 5, 8, 33, 64, 100, 1024, 1031, kMost})
    for (const std::array<int64_t, 5>& offsets : std::vector<std::array<int64_t, 5>>{
             {0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {7, 7, 7, 7, 7}, {0, 1, 0, 0, 0}, {3, 3, 3, 3, 2}, {0, 4, 8, 0, 0}}) {
      SCOPED_TRACE(testing::Message() << "n " << n << ", offsets " << testing::PrintToString(offsets));
      body(n, offsets);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(KernelsPacks, Zero) {
  for_places([](int64_t n, const auto& at) {
    Placed<float> x(n, at[1]);
    zero(x.dev(), n);
    for (int64_t i = 0; i < n; ++i) ASSERT_TRUE(x[i] == 0 && !std::signbit(x[i])) << i;
    x.expect_guards();
  });
}

TEST(KernelsPacks, AddStrided) {
  for_places([](int64_t n, const auto& at) {
    const int64_t rows = 3, ld = n + at[0] + at[4];
    Placed<float> from(rows * ld, at[0], 1), to(rows * n, at[1], 2), before = to;
    const int64_t extents[] = {rows, n}, strides[] = {ld, 1};
    add_strided(2, extents, from.dev(), strides, to.dev());
    for (int64_t i = 0; i < rows * n; ++i) ASSERT_EQ(to[i], before[i] + from[i / n * ld + i % n]) << i;
    to.expect_guards();
  });
}

TEST(KernelsPacks, OrderedSum) {
  for_places([](int64_t n, const auto& at) {
    Placed<float> a(n, at[0], 1), b(n, at[1], 2), c(n, at[2], 3), sum(n, at[3]);
    {
      const auto first = a.dev(), second = b.dev(), third = c.dev();
      const float* parts[] = {first, second, third};
      ordered_sum(n, 3, parts, 0.3f, sum.dev());
    }
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(sum[i], ((a[i] + b[i]) + c[i]) * 0.3f) << i;
    sum.expect_guards();
  });
}

TEST(KernelsPacks, OrderedSumOfMorePartsThanALaunchTakes) {
  const int64_t n = 1031;
  const int32_t count = 70;
  Placed<float> all(n * count, 0, 1), sum(n, 0);
  {
    const auto places = all.dev();
    std::vector<const float*> parts;
    for (int32_t p = 0; p < count; ++p) parts.push_back(places + p * n);
    ordered_sum(n, count, parts.data(), 0.3f, sum.dev());
  }
  for (int64_t i = 0; i < n; ++i) {
    float want = all[i];
    for (int32_t p = 1; p < count; ++p) want += all[p * n + i];
    ASSERT_EQ(sum[i], want * 0.3f) << i;
  }
  sum.expect_guards();
}

TEST(KernelsPacks, SumSquaresDoesNotDependOnThePlace) {
  for_places([](int64_t n, const auto& at) {
    Placed<float> x(n, at[1], 1), same(n, 0, 1);
    ASSERT_EQ(test::squares(x.dev(), n), test::squares(same.dev(), n));
    double want = 0;
    for (int64_t i = 0; i < n; ++i) want += static_cast<double>(x[i]) * x[i];
    ASSERT_NEAR(test::squares(x.dev(), n), want, 1e-12 * want);
  });
}

TEST(KernelsPacks, Bfloat16) {
  for_places([](int64_t n, const auto& at) {
    Placed<float> wide(n, at[0], 1), back(n, at[2]);
    Placed<uint16_t> narrow(n, at[1]);
    round_to_bfloat16(n, wide.dev(), narrow.dev());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(narrow[i], test::half_of(wide[i])) << i;
    widen_bfloat16(n, narrow.dev(), back.dev());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(back[i], test::float_of(narrow[i])) << i;
    narrow.expect_guards();
    back.expect_guards();
  });
}

TEST(KernelsPacks, RefreshMasters) {
  for_places([](int64_t n, const auto& at) {
    Placed<float> masters(n, at[0], 1), before = masters;
    Placed<uint16_t> values(n, at[1]);
    const uint16_t other = test::half_of(-3);
    for (int64_t i = 0; i < n; ++i) values[i] = i % 7 == 2 ? other : test::half_of(masters[i]);
    refresh_masters(n, values.dev(), masters.dev());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(masters[i], i % 7 == 2 ? -3 : before[i]) << i;
    masters.expect_guards();
  });
}

// What an update has.
struct State {
  State(int64_t n, const std::array<int64_t, 5>& at)
      : gradient(n, at[0], 1), parameter(n, at[1], 2), moment1(n, at[2], 3), moment2(n, at[3], 4), rounded(n, at[4]) {}
  void expect_guards() const {
    gradient.expect_guards();
    parameter.expect_guards();
    moment1.expect_guards();
    moment2.expect_guards();
    rounded.expect_guards();
  }
  Placed<float> gradient, parameter, moment1, moment2;
  Placed<uint16_t> rounded;
};

// update(state, n, piece, rounds): of n elements, in calls of `piece`. They must have the bits of elements that are updated
// one by one; element i is the same for every n, the i-th that is drawn.
template <class Update>
void check_update(const Update& update) {
  State alone(kMost, {0, 0, 0, 0, 0});
  update(alone, kMost, 1, true);
  for_places([&](int64_t n, const std::array<int64_t, 5>& at) {
    for (const bool rounds : {false, true}) {
      State all(n, at);
      update(all, n, n, rounds);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(all.parameter[i], alone.parameter[i]) << i;
        ASSERT_EQ(all.moment1[i], alone.moment1[i]) << i;
        ASSERT_EQ(all.moment2[i], alone.moment2[i]) << i;
        ASSERT_EQ(all.rounded[i], rounds ? test::half_of(all.parameter[i]) : guard<uint16_t>()) << i;
      }
      all.expect_guards();
    }
  });
}

template <class Call>
void in_pieces(State& state, int64_t n, int64_t piece, bool rounds, const Call& call) {
  const auto g = state.gradient.dev(), p = state.parameter.dev(), m = state.moment1.dev(), v = state.moment2.dev();
  const auto r = state.rounded.dev();
  for (int64_t i = 0; i < n; i += piece) call(piece, g + i, p + i, m + i, v + i, rounds ? r + i : nullptr);
}

TEST(KernelsPacks, AdamW) {
  check_update([](State& state, int64_t all, int64_t piece, bool rounds) {
    in_pieces(state, all, piece, rounds,
              [](int64_t n, const float* g, float* p, float* m, float* v, uint16_t* rounded) {
                adamw({1e-2, 0.9, 0.99, 1e-6, 0.1, 3, 0.7f}, n, g, p, m, v, rounded);
              });
  });
}

TEST(KernelsPacks, Sgd) {
  check_update([](State& state, int64_t all, int64_t piece, bool rounds) {
    in_pieces(state, all, piece, rounds, [](int64_t n, const float* g, float* p, float*, float*, uint16_t* rounded) {
      sgd({0.1, 0, 0.01, 0.5f}, n, g, p, nullptr, rounded);
    });
  });
}

TEST(KernelsPacks, SgdWithMomentum) {
  check_update([](State& state, int64_t all, int64_t piece, bool rounds) {
    in_pieces(state, all, piece, rounds, [](int64_t n, const float* g, float* p, float* m, float*, uint16_t* rounded) {
      sgd({0.1, 0.9, 0.01, 0.5f}, n, g, p, m, rounded);
    });
  });
}

}  // namespace
}  // namespace moemesh::kernels
