// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "impl/comm/device_group.hpp"
#include "impl/family/chunk_transfer.hpp"
#include "impl/family/family.hpp"
#include "impl/schedule/windows.hpp"

namespace moemesh {

struct FabricParams {
  int32_t overlap = MOEMESH_OVERLAP_GAPS;
  int64_t chunk_bytes = default_chunk_bytes;  // of one message
};

// The one place that decides when gradients are reduced and values gathered. All of it is one row of chunks, over the families'
// groups, on communicators of its own: the buckets in the order in which the first step completed them on the stage's first
// rank, then those of the step's end. The row is the same on every rank; each chunk waits for all before it to have begun.
// When a chunk begins is the policy's:
// - after: at the step's end.
// - eager: once its bucket is complete.
// - gaps: as many as the windows so far allow, wherever those that are not used up were; while no exchange of tokens is under way.
// At the step's end all that is left goes, complete or not, on every rank, also on one that failed: so nobody waits for what
// does not come. Chunks are begun and moved by whoever polls: a thread, or any wait. Between devices they are begun by the
// program alone, at the places where more are granted, and the device moves them: so they are put into its streams in the same
// order on every rank, that of the exchanges included. How long they and the windows take is then measured in the first steps,
// in which the host waits for them.
class Fabric final : public Background, public ExchangeWatcher, public Mesh::Guest {
 public:
  struct Member {
    Family* family;
    std::shared_ptr<Gradients> gradients;
    int32_t stage;
  };
  // Local; throws OUT_OF_MEMORY.
  Fabric(Mesh& mesh, const std::vector<Member>& members, const FabricParams& params);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  void open();  // collective: its communicators

  bool early() const { return params_.overlap != MOEMESH_OVERLAP_AFTER && reduces_; }

  // factor: of all sums of this step, where it is known already.
  void begin_step(std::optional<float> factor);
  void complete(const Parameter& parameter);  // its gradient of the last microbatch is in
  // The step's end: everything is reduced afterwards, with the factor of begin_step or, where there was none, this one.
  // Collective over the groups.
  void finish_reductions(float factor);
  // Results of a bucket to every rank, at once. Collective over the family's group.
  void gather_gradients(Family& family, size_t bucket);
  // Updated values go to every rank. Collective over the groups; with wait = false they do so in the background.
  void gather_values(bool wait);
  void require_values(const Parameter& parameter);
  void finish_gathers();

  // Between two steps: all ranks of the stage take its first rank's order (once) and equal quotas. Collective over the stage.
  void tune();
  bool poll() override;
  bool busy() const override;
  void exchanges_begin() override;
  void exchanges_ended(const ExchangePlace& place) override;
  void leave() noexcept override;  // the communicators go

 private:
  struct Lane {
    Member member;
    size_t units = 0;  // position of its first
    Communicator* wire = nullptr;
    int64_t number = 0;  // of the next chunk
    std::unique_ptr<DeviceWire> device;
    Buffer<std::byte> staging;  // of its chunks

    Family& family() const { return *member.family; }
  };
  // A bucket of a family.
  struct Unit {
    size_t lane = 0, bucket = 0;
    int64_t parameters = 0;
    int64_t complete = 0;  // of them in this step
    int64_t chunks = 0;
    BucketKind kind = BucketKind::plain;
    bool late() const { return kind != BucketKind::plain; }
  };
  // Chunks of the units in `order`, one after the other.
  struct Row {
    std::vector<size_t> order;
    std::vector<int64_t> left;  // of each unit: chunks that are not through
    size_t next = 0;            // position in order, of the next chunk to begin
    int64_t chunk = 0;
    size_t forced = 0;               // positions before this one begin whatever the policy says
    int64_t begun = 0, granted = 0;  // chunks; granted: by the policy
    bool open = false;
    std::shared_ptr<Recording> recording;  // that of the moment when the row was opened, which all ranks agree on

    bool all_begun() const { return !open || next == order.size(); }
  };
  struct Slot {
    std::optional<ChunkTransfer> transfer;
    SharedBuffer<std::byte> staging;
    Row* row = nullptr;  // of the chunk that is in it; null: free
    size_t unit = 0;
    bool waited_for = false;
  };

  const Family* experts() const;  // whose layers' exchanges make the windows; null without any
  const Shards& shards_of(const Unit& unit) const { return lanes_[unit.lane].family().buckets()[unit.bucket]; }
  int64_t chunk_elements(const Unit& unit) const;
  Chunk::Kind kind_of(const Unit& unit, const Row& row) const;
  size_t unit_of(const Family& family, size_t bucket) const;
  void add_units(size_t lane);
  void set_order(const std::vector<int32_t>& order);
  std::vector<int32_t> own_order() const;
  void take_order();
  void reserve();
  void reserve_on_devices();
  void open_on_devices(Lane& lane);

  bool usable() const;  // the context is not broken, MPI not finalized
  void grant();
  int64_t ready(const Row& row) const;
  int64_t chunks_before(const Row& row, size_t until) const;
  void open_row(Row& row);
  void skip_empty(Row& row) const;
  const Row& current_row() const { return single_.open ? single_ : gathers_.all_begun() ? reductions_ : gathers_; }
  Row& current_row() { return const_cast<Row&>(std::as_const(*this).current_row()); }
  bool may_begin(const Row& row) const;
  struct Begun {
    size_t unit = 0;
    Chunk chunk;
  };
  Begun take_next(Row& row);
  void begin(Slot& slot, Row& row);
  void begin_on_device(Row& row);
  void begin_granted();
  void run_on_device(Row& row, size_t until);
  void join();
  void hear_times();
  bool measures() const { return params_.overlap == MOEMESH_OVERLAP_GAPS && tunings_ < measured_tunings; }
  void measure(bool wanted);
  void end(Slot& slot);
  bool through(const Row& row, size_t until) const;
  void run(Row& row, size_t until);  // until so many positions of the row are through
  Slot* used_slot();
  Slot* wanted_slot(const Row& row, size_t until);
  void count(const Row& row);
  void count_chunk(const Unit& unit, Chunk::Kind kind, int64_t first, bool stamped);

  Mesh& mesh_;
  FabricParams params_;
  std::vector<Lane> lanes_;
  std::vector<Unit> units_;
  Row reductions_, gathers_, single_;
  std::array<Slot, 4> slots_;
  std::vector<int32_t> completed_;  // units, in the order of the first step
  bool ordered_ = false;
  bool reduces_ = false, finishing_ = false;
  int64_t busy_since_ = 0;  // the chunks under way have begun, or the last one of them was through
  bool first_ = true;       // none of them was through since
  std::optional<float> factor_;
  bool exchanging_ = false;
  bool opened_ = false;
  bool on_devices_ = false;
  bool measuring_ = false;  // this step, of devices
  static constexpr int64_t measured_tunings = 4;
  int64_t tunings_ = 0;
  Windows windows_;
};

}  // namespace moemesh
