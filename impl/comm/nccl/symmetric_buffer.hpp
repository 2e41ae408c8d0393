// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/comm/nccl/nccl_comm.hpp"

namespace moemesh {

// Memory of ncclMemAlloc, made known to NCCL; null where it offers that not. Collective, the same bytes on every rank.
void* register_memory(NcclComm& comm, void* data, int64_t bytes);

// Device memory in which messages lie, made known to NCCL where it offers that: as a symmetric window (2.27), which its
// kernels read on other devices, else as registered memory (2.19), which spares a copy. In two steps, because only the first
// can run out of memory, and ranks can still agree on that before the second.
class SymmetricBuffer {
 public:
  explicit SymmetricBuffer(int64_t bytes);  // local; throws ERROR_OUT_OF_MEMORY. Contents are not initialized
  SymmetricBuffer(const SymmetricBuffer&) = delete;
  SymmetricBuffer& operator=(const SymmetricBuffer&) = delete;
  ~SymmetricBuffer();

  // Collective, the same bytes on every rank. Some machines can't: NCCL then says so without an error, and the memory works
  // as any other. The communicator must outlive this object or be closed through unregister() first.
  void register_with(NcclComm& comm);
  void unregister();  // collective; nothing where it was not registered

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool registered() const { return handle_ != nullptr; }

 private:
  NcclComm* comm_ = nullptr;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  void* handle_ = nullptr;
};

}  // namespace moemesh
