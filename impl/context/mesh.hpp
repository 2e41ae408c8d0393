// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "impl/base/error.hpp"
#include "impl/comm/communicator.hpp"
#include "impl/context/context.hpp"
#include "impl/context/workspace.hpp"
#include "impl/mesh/mesh_layout.hpp"
#include "moemesh.h"

namespace moemesh {

namespace timeline {
class Recorder;
}

// The mesh's integers together with this rank's group communicators and the ledger. A planned mesh has only the integers.
class Mesh {
 public:
  // Collective over the context. `problem`: what was found wrong with this rank's arguments before.
  static std::shared_ptr<Mesh> create(std::shared_ptr<Context> context, const moemesh_mesh_params& params,
                                      const Finding& problem);
  static std::shared_ptr<Mesh> plan(int64_t world, const moemesh_mesh_params& params);
  ~Mesh();

  const MeshLayout& layout() const { return layout_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  const std::shared_ptr<const Allocator>& allocator() const { return context_->allocator(); }
  int64_t rank() const { return context_->rank(); }
  const Coordinates& here() const { return here_; }
  Ledger& ledger() { return *ledger_; }
  Workspace& workspace() { return workspace_; }
  bool planned() const { return context_ == nullptr; }

  // This rank's group; the first use of an axes value creates it (collective over the group).
  Communicator& group(int32_t axes);
  // The ranks that hold the other slices of this rank's data shard, in the order of the slices (see MeshLayout::slices).
  Communicator& slices() { return *slices_; }
  // Another communicator of that group, for one purpose alone. Collective over the group, freed by finalize.
  Communicator& add_group(int32_t axes);
  // This rank and the one with its coordinates at the other end of the pipeline, in stage order; null between the ends
  // and without a pipeline.
  Communicator* ends() const { return ends_; }
  // Layers of this stage, in the order in which they were created; the same on all of its ranks.
  int32_t add_layer(const std::string& name, int64_t chunks);
  const std::vector<std::string>& layer_names() const { return layer_names_; }
  int64_t most_chunks() const { return most_chunks_; }  // of any of them

  // What records this rank's timeline, or null. Set at the same place on every rank, with no step open.
  timeline::Recorder* recorder() const { return recorder_.get(); }
  void set_recorder(std::shared_ptr<timeline::Recorder> recorder);
  int64_t recordings() const { return recordings_; }  // so far, the same on every rank
  int64_t open_steps = 0;

  bool node_crossing(int32_t axes) const;
  int64_t node(int64_t rank) const;  // of any rank; planned: by ranks_per_node

  // Who moves messages in the background, and who hears of the exchanges of tokens.
  Progress& progress() const { return context_->link().progress; }
  void watch(ExchangeWatcher* watcher) { context_->link().watchers.push_back(watcher); }
  void unwatch(ExchangeWatcher* watcher) { std::erase(context_->link().watchers, watcher); }
  // What has messages under way on communicators of the mesh: is asked to end that before they are freed.
  class Guest {
   public:
    virtual void leave() noexcept = 0;

   protected:
    ~Guest() = default;
  };
  void add_guest(Guest* guest) { guests_.push_back(guest); }
  void remove_guest(Guest* guest) { std::erase(guests_, guest); }

  void require_usable() const;  // not planned, not finalized, context usable
  void finalize();              // collective

 private:
  Mesh(MeshLayout layout, int32_t ranks_per_node) : layout_(std::move(layout)), ranks_per_node_(ranks_per_node) {}
  void open();
  void attach_devices();
  std::unique_ptr<Communicator> make_group(std::span<const int64_t> ranks, int32_t axes) const;
  std::vector<int64_t> ranks_of(int32_t axes) const;

  MeshLayout layout_;
  int32_t ranks_per_node_ = 0;
  std::shared_ptr<Context> context_;
  Coordinates here_;
  std::shared_ptr<Ledger> ledger_ = std::make_shared<Ledger>();
  Workspace workspace_;
  std::map<int32_t, std::unique_ptr<Communicator>> groups_;
  Communicator* slices_ = nullptr;
  std::vector<std::unique_ptr<Communicator>> added_;
  Communicator* ends_ = nullptr;
  std::vector<std::string> layer_names_;
  int64_t most_chunks_ = 1;
  int64_t recordings_ = 0;
  std::shared_ptr<timeline::Recorder> recorder_;
  std::vector<Guest*> guests_;
  bool finalized_ = false;
};

}  // namespace moemesh
