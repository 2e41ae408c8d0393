// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/comm/nccl/symmetric_buffer.hpp"

#include <utility>

#include "impl/base/error.hpp"
#include "kernels/memory.hpp"

namespace moemesh {
namespace {

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
ncclResult_t add(ncclComm_t comm, void* data, size_t bytes, void** handle) {
  static_assert(sizeof(ncclWindow_t) == sizeof(void*));
  return ncclCommWindowRegister(comm, data, bytes, reinterpret_cast<ncclWindow_t*>(handle), NCCL_WIN_COLL_SYMMETRIC);
}
ncclResult_t drop(ncclComm_t comm, void* handle) {
  return ncclCommWindowDeregister(comm, static_cast<ncclWindow_t>(handle));
}
#else
ncclResult_t add(ncclComm_t comm, void* data, size_t bytes, void** handle) {
  return ncclCommRegister(comm, data, bytes, handle);
}
ncclResult_t drop(ncclComm_t comm, void* handle) { return ncclCommDeregister(comm, handle); }
#endif

// So that the library's long-lived arrays are of that kind.
void* take_lasting(int64_t bytes) {
  void* data = nullptr;
  return ncclMemAlloc(&data, static_cast<size_t>(bytes)) == ncclSuccess ? data : nullptr;
}
void give_lasting(void* data) noexcept { (void)ncclMemFree(data); }

[[maybe_unused]] const bool lasting_memory_set = [] {
  kernels::set_lasting_memory({take_lasting, give_lasting});
  return true;
}();

}  // namespace

void* register_memory(NcclComm& comm, void* data, int64_t bytes) {
  void* handle = nullptr;
  comm.check();
  const kernels::DeviceScope device;
  comm.settle(add(comm.get(), data, static_cast<size_t>(bytes), &handle), "registering memory of messages");
  return handle;
}

SymmetricBuffer::SymmetricBuffer(int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const kernels::DeviceScope device;
  void* data = nullptr;
  const ncclResult_t code = ncclMemAlloc(&data, static_cast<size_t>(bytes));
  require(code == ncclSuccess, MOEMESH_ERROR_OUT_OF_MEMORY, "{} bytes of device memory for messages: {}", bytes,
          ncclGetErrorString(code));
  data_ = static_cast<std::byte*>(data);
}

SymmetricBuffer::~SymmetricBuffer() {
  const kernels::DeviceScope device;
  // Of a communicator that was aborted or closed nothing is registered any more.
  if (comm_ && handle_ && !comm_->closed()) (void)drop(comm_->get(), handle_);
  if (data_) (void)ncclMemFree(data_);
}

void SymmetricBuffer::register_with(NcclComm& comm) {
  require(!comm_, MOEMESH_ERROR_INTERNAL, "memory of messages was registered twice");
  if (bytes_ == 0) return;
  handle_ = register_memory(comm, data_, bytes_);
  comm_ = &comm;
}

void SymmetricBuffer::unregister() {
  NcclComm* const comm = std::exchange(comm_, nullptr);
  void* const handle = std::exchange(handle_, nullptr);
  if (!comm || !handle) return;
  comm->check();
  comm->settle(drop(comm->get(), handle), "giving back memory of messages");
}

}  // namespace moemesh
