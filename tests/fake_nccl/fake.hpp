// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// What tests say to the fake device and hear from it.
namespace fake {

inline constexpr int devices = 2;

// A kernel: runs when the stream comes to it.
void launch(cudaStream_t stream, std::function<void()> kernel);

// What was done wrong so far, each once, the oldest first. Also on stderr with FAKE_NCCL_VERBOSE.
std::vector<std::string> take_complaints();

// How often this process has called it: "ncclSend", ...; a collective, a send or a receive.
int64_t calls(const std::string& name);

// The next call of that name fails: ncclGetUniqueId, ncclCommInitRankConfig, ncclGroupEnd, cudaStreamCreateWithPriority.
void fail_next(const std::string& name);

// How long the host waits for the device before that is called a deadlock; a minute if nothing is said.
void set_patience(double seconds);

// The device's thread ends. Before MPI is finalized, after all ranks are through.
void shutdown();

}  // namespace fake
