// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <unistd.h>

#include <utility>

namespace moemesh::sockets {

// A number of the system's for something open; closed with this object.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& from) noexcept : number_(std::exchange(from.number_, -1)) {}
  Descriptor& operator=(Descriptor&& from) noexcept {
    std::swap(number_, from.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close() noexcept {
    if (open()) (void)::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace moemesh::sockets
