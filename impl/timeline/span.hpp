// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include "impl/timeline/recorder.hpp"

namespace moemesh::timeline {

// Where this thread is: read by the operations that it starts.
inline thread_local Whereabouts here;

// While it lives, what this thread starts is of this layer and microbatch. recorder null: nothing is recorded.
class LayerScope {
 public:
  LayerScope(const Recorder* recorder, int32_t layer, int32_t microbatch) : before_(here) {
    if (recorder) here = {layer, microbatch, 0};
  }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;
  ~LayerScope() { here = before_; }

 private:
  Whereabouts before_;
};

// While it lives, what this thread starts is of this chunk of the layer's tokens.
class ChunkScope {
 public:
  explicit ChunkScope(size_t chunk) : before_(here.chunk) { here.chunk = static_cast<int32_t>(chunk); }
  ChunkScope(const ChunkScope&) = delete;
  ChunkScope& operator=(const ChunkScope&) = delete;
  ~ChunkScope() { here.chunk = before_; }

 private:
  int32_t before_;
};

// Records what its block does. rows: of the experts' products.
class Span {
 public:
  Span(Recorder* recorder, Kind kind, int64_t rows = -1)
      : recorder_(recorder), kind_(kind), rows_(rows), begin_(recorder ? recorder->now() : 0) {}
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (!recorder_) return;
    if (rows_ < 0)
      recorder_->span(kind_, begin_);
    else
      recorder_->experts(kind_, begin_, rows_);
  }

 private:
  Recorder* recorder_;
  Kind kind_;
  int64_t rows_;
  int64_t begin_;
};

}  // namespace moemesh::timeline
