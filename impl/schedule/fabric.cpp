// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/schedule/fabric.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "impl/base/error.hpp"
#include "impl/family/device_chunk.hpp"
#include "impl/family/gradients.hpp"

namespace moemesh {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

constexpr int64_t element = sizeof(float);

}  // namespace

Fabric::Fabric(Mesh& mesh, const std::vector<Member>& members, const FabricParams& params)
    : mesh_(mesh), params_(params) {
  for (const Member& member : members) {
    lanes_.emplace_back().member = member;
    on_devices_ |= member.family->group().devices() != nullptr;
  }
  for (size_t lane = 0; lane < lanes_.size(); ++lane) add_units(lane);
  completed_.reserve(units_.size());
  for (Row* row : {&reductions_, &gathers_, &single_}) row->left.resize(units_.size());
  single_.order.resize(1);
  set_order(own_order());
  for (const size_t unit : reductions_.order) reduces_ |= units_[unit].chunks > 0;
  windows_ = Windows(experts() ? experts()->layers : 0, std::ssize(units_));
  reserve();
}

void Fabric::add_units(size_t lane) {
  const Family& family = lanes_[lane].family();
  lanes_[lane].units = units_.size();
  for (size_t bucket = 0; bucket < family.buckets().size(); ++bucket) {
    Unit unit;
    unit.lane = lane;
    unit.bucket = bucket;
    unit.kind = family.bucket_kind(bucket);
    for (const auto& parameter : family.parameters()) unit.parameters += parameter->bucket == bucket;
    const Shards& shards = family.buckets()[bucket];
    if (shards.owners > 1) unit.chunks = chunks_of(shards, params_.chunk_bytes);
    units_.push_back(unit);
  }
}

int64_t Fabric::chunk_elements(const Unit& unit) const {
  return elements_of_chunk(shards_of(unit), params_.chunk_bytes);
}

// Several chunks at a time: one is added up while others have the network, or wait for a rank that is late.
void Fabric::reserve() {
  int64_t bytes = 0;
  if (on_devices_) return reserve_on_devices();
  for (const Unit& unit : units_)
    if (unit.chunks > 0)
      bytes = std::max(bytes, ChunkTransfer::staging_bytes(lanes_[unit.lane].family(),
                                                           *lanes_[unit.lane].member.gradients, chunk_elements(unit)));
  if (bytes > 0)
    for (Slot& slot : slots_) slot.staging = SharedBuffer<std::byte>(mesh_.allocator(), bytes);
}

// One chunk after the other in the lane's stream.
void Fabric::reserve_on_devices() {
  for (Lane& lane : lanes_) {
    int64_t bytes = 0;
    for (const Unit& unit : units_)
      if (unit.chunks > 0 && &lanes_[unit.lane] == &lane)
        bytes = std::max(bytes, DeviceChunk::staging_bytes(lane.family(), *lane.member.gradients, chunk_elements(unit),
                                                           mesh_.context()->link().deterministic));
    if (bytes > 0) lane.staging = Buffer<std::byte>(mesh_.allocator(), bytes);
  }
}

// Its messages are made of these arrays, unless a rank has borrowed some of them.
void Fabric::open_on_devices(Lane& lane) {
  Communicator& group = lane.family().group();
  lane.device = group.devices()->wire();
  const std::span<float> gradients = lane.member.gradients->own();
  const auto offer = [&](void* data, int64_t bytes) {
    int64_t most[] = {bytes, -bytes};
    group.agree_max(most, {lane.family().kind(), MOEMESH_PHASE_SETUP, MOEMESH_COLLECTIVE_AGREEMENT});
    if (bytes > 0 && most[0] == bytes && most[1] == -bytes) lane.device->offer(data, bytes);
  };
  offer(lane.family().own_values().data(), std::ssize(lane.family().own_values()));
  offer(gradients.data(), static_cast<int64_t>(gradients.size_bytes()));
}

void Fabric::open() {
  for (Lane& lane : lanes_) {
    Communicator& group = lane.family().group();
    if (on_devices_) {
      lane.wire = &group;
      if (group.devices()) open_on_devices(lane);
      continue;
    }
    lane.wire = &mesh_.add_group(group.axes());
    lane.wire->set_ledger(nullptr);  // counted here, where the program is, and not where a chunk happens to begin
  }
  mesh_.progress().add(this);
  mesh_.watch(this);
  mesh_.add_guest(this);
  opened_ = true;
}

// Messages of a step that was not finished: nobody may come for them. What they read and write must outlive them.
void Fabric::leave() noexcept {
  if (!std::exchange(opened_, false)) return;
  (void)attempt([&] { finish_gathers(); });
  for (const auto until = now() + 1'000'000'000; usable() && used_slot() && now() < until;)
    (void)attempt([&] { poll(); });
  const std::lock_guard lock(mesh_.progress().mutex());
  mesh_.progress().remove(this);
  mesh_.unwatch(this);
  mesh_.remove_guest(this);
  measure(false);
  for (Lane& lane : lanes_) {
    if (lane.device && usable()) (void)attempt([&] { lane.device->wait(); });
    lane.device.reset();
  }
  if (!used_slot()) return;
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::pair<std::shared_ptr<Gradients>, SharedBuffer<std::byte>>>;
  const std::lock_guard keeping(mutex);
  for (Slot& slot : slots_) {
    if (slot.row && !usable()) slot.transfer->forget();
    if (slot.row) kept->emplace_back(lanes_[units_[slot.unit].lane].member.gradients, std::move(slot.staging));
    slot.transfer.reset();
  }
}

Fabric::~Fabric() { leave(); }

bool Fabric::usable() const {
  return !attempt([&] { mesh_.context()->require_usable(); });
}

Fabric::Slot* Fabric::used_slot() {
  const auto found = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.row != nullptr; });
  return found == slots_.end() ? nullptr : &*found;
}

// ---- the order

// Those that this rank's first step completed, in that order; then the rest, later parameters first; late ones last.
std::vector<int32_t> Fabric::own_order() const {
  std::vector<int32_t> order(completed_);
  for (const bool late : {false, true})
    for (auto unit = static_cast<int32_t>(units_.size()) - 1; unit >= 0; --unit)
      if (units_[static_cast<size_t>(unit)].late() == late &&
          std::find(order.begin(), order.end(), unit) == order.end())
        order.push_back(unit);
  return order;
}

// Values are wanted in the order of the next forward, gradients come in that of the backward.
void Fabric::set_order(const std::vector<int32_t>& order) {
  reductions_.order.clear();
  gathers_.order.clear();
  for (const int32_t number : order) {
    const auto unit = static_cast<size_t>(number);
    const int32_t stage = lanes_[units_[unit].lane].member.stage;
    if (stage < 2) reductions_.order.push_back(unit);
    if (stage > 0) gathers_.order.push_back(unit);
  }
  std::reverse(gathers_.order.begin(), gathers_.order.end());
}

void Fabric::take_order() {
  std::vector<int32_t> order = own_order();
  mesh_.group(MOEMESH_GROUP_STAGE)
      .broadcast(reinterpret_cast<std::byte*>(order.data()), static_cast<int64_t>(order.size() * sizeof(int32_t)), 0,
                 {0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_BROADCAST});
  set_order(order);
  ordered_ = true;
}

void Fabric::tune() {
  if (!early()) return;
  if (!ordered_) take_order();
  if (params_.overlap != MOEMESH_OVERLAP_GAPS) return;
  if (on_devices_ && tunings_++ >= measured_tunings) return;
  std::span<int64_t> words;
  {
    const std::lock_guard lock(mesh_.progress().mutex());
    hear_times();
    words = windows_.measured();
  }
  mesh_.group(MOEMESH_GROUP_STAGE).agree_max(words, {0, MOEMESH_PHASE_UPDATE, MOEMESH_COLLECTIVE_AGREEMENT});
  const std::lock_guard lock(mesh_.progress().mutex());
  windows_.agreed(words);
}

// ---- the step

void Fabric::begin_step(std::optional<float> factor) {
  const std::lock_guard lock(mesh_.progress().mutex());
  for (Unit& unit : units_) unit.complete = 0;
  if (!ordered_) completed_.clear();
  factor_ = factor;
  finishing_ = false;
  measure(on_devices_ && measures());
  windows_.forget();
  open_row(reductions_);
  grant();
  begin_granted();
}

void Fabric::measure(bool wanted) {
  if (std::exchange(measuring_, wanted) == wanted) return;
  mesh_.context()->link().wants_exact_times += wanted ? 1 : -1;
}

size_t Fabric::unit_of(const Family& family, size_t bucket) const {
  const auto lane =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return &lane.family() == &family; });
  return lane->units + bucket;
}

void Fabric::complete(const Parameter& parameter) {
  const std::lock_guard lock(mesh_.progress().mutex());
  const size_t index = unit_of(*parameter.family, parameter.bucket);
  Unit& unit = units_[index];
  if (++unit.complete < unit.parameters) return;
  // Messages are made of what is in the arrays now, by whoever moves them; devices know what comes before what.
  if (!on_devices_) kernels::finish();
  if (!ordered_ && !unit.late()) completed_.push_back(static_cast<int32_t>(index));
  if (unit.chunks > 0) windows_.bucket_complete(now(), static_cast<int64_t>(index));
  grant();
  begin_granted();
  (void)poll();
  mesh_.progress().wake();
}

void Fabric::finish_reductions(float factor) {
  if (!on_devices_) kernels::finish();
  const std::lock_guard lock(mesh_.progress().mutex());
  mesh_.progress().check();
  windows_.forget();
  finishing_ = true;
  if (!reductions_.open) open_row(reductions_);
  if (!factor_) factor_ = factor;
  count(reductions_);
  run(gathers_, gathers_.order.size());
  run(reductions_, reductions_.order.size());
  join();
  measure(false);
  reductions_.open = false;
  factor_.reset();
}

void Fabric::gather_gradients(Family& family, size_t bucket) {
  if (!on_devices_) kernels::finish();
  const std::lock_guard lock(mesh_.progress().mutex());
  single_.order[0] = unit_of(family, bucket);
  open_row(single_);
  count(single_);
  run(single_, 1);
  join();
  single_.open = false;
}

void Fabric::gather_values(bool wait) {
  if (!on_devices_) kernels::finish();
  const std::lock_guard lock(mesh_.progress().mutex());
  open_row(gathers_);
  grant();
  begin_granted();
  count(gathers_);
  if (wait) return finish_gathers();
  (void)poll();
  mesh_.progress().wake();
}

void Fabric::finish_gathers() {
  const std::lock_guard lock(mesh_.progress().mutex());
  if (!gathers_.open) return;
  run(gathers_, gathers_.order.size());
  join();
  gathers_.open = false;
}

void Fabric::require_values(const Parameter& parameter) {
  const std::lock_guard lock(mesh_.progress().mutex());
  if (!gathers_.open) return;
  const size_t unit = unit_of(*parameter.family, parameter.bucket);
  const auto place = std::find(gathers_.order.begin(), gathers_.order.end(), unit);
  if (place == gathers_.order.end()) return;
  run(gathers_, static_cast<size_t>(place - gathers_.order.begin()) + 1);
  const Lane& lane = lanes_[units_[unit].lane];
  if (lane.device && units_[unit].chunks > 0) lane.device->join_mark(units_[unit].bucket);
}

// ---- windows

const Family* Fabric::experts() const {
  for (const Lane& lane : lanes_)
    if (!lane.family().shared()) return &lane.family();
  return nullptr;
}

void Fabric::exchanges_begin() {
  const std::lock_guard lock(mesh_.progress().mutex());
  exchanging_ = true;
  windows_.exchange_begins(now());
}

void Fabric::exchanges_ended(const ExchangePlace& place) {
  const std::lock_guard lock(mesh_.progress().mutex());
  const int64_t own = place.model == experts() ? place.layer * Windows::kinds + place.kind : -1;
  exchanging_ = false;
  windows_.exchange_ended(now(), own);
  grant();
  begin_granted();
  if (!busy()) return;
  (void)poll();
  mesh_.progress().wake();
}

// ---- chunks

void Fabric::open_row(Row& row) {
  for (const size_t unit : row.order) row.left[unit] = units_[unit].chunks;
  row.next = row.forced = 0;
  row.chunk = row.begun = row.granted = 0;
  row.open = true;
  row.recording = mesh_.group(MOEMESH_GROUP_WORLD).recording();
  skip_empty(row);
}

void Fabric::skip_empty(Row& row) const {
  while (row.next < row.order.size() && row.chunk >= units_[row.order[row.next]].chunks) {
    ++row.next;
    row.chunk = 0;
  }
}

int64_t Fabric::chunks_before(const Row& row, size_t until) const {
  int64_t chunks = 0;
  for (size_t i = 0; i < until; ++i) chunks += units_[row.order[i]].chunks;
  return chunks;
}

// Chunks of the row, from its beginning, whose content is there.
int64_t Fabric::ready(const Row& row) const {
  const auto missing = [&](size_t index) {
    const Unit& unit = units_[index];
    return &row == &reductions_ && (unit.late() || unit.complete < unit.parameters);
  };
  const auto end = std::find_if(row.order.begin(), row.order.end(), missing);
  return chunks_before(row, static_cast<size_t>(end - row.order.begin()));
}

// At a place of the program, the same on every rank: so are the numbers. A rank that has not begun all of its window's chunks
// when the next exchange comes begins them in the next window, or others would wait there for chunks that it never begins.
void Fabric::grant() {
  for (Row* row : {&gathers_, &reductions_}) {
    if (!row->open || params_.overlap == MOEMESH_OVERLAP_AFTER) continue;
    const int64_t more = ready(*row) - row->granted;
    row->granted += params_.overlap == MOEMESH_OVERLAP_EAGER ? more : windows_.take(more);
  }
}

bool Fabric::may_begin(const Row& row) const {
  if (!row.open || row.next == row.order.size()) return false;
  if (row.next < row.forced) return true;
  if (params_.overlap == MOEMESH_OVERLAP_GAPS && exchanging_) return false;
  return row.begun < row.granted;
}

Chunk::Kind Fabric::kind_of(const Unit& unit, const Row& row) const {
  if (&row == &gathers_) return Chunk::gather_values;
  if (&row == &single_) return Chunk::gather_gradients;
  const bool whole = lanes_[unit.lane].member.stage == 0 && unit.kind != BucketKind::tied;
  return whole ? Chunk::reduce_and_gather : Chunk::reduce;
}

Fabric::Begun Fabric::take_next(Row& row) {
  const size_t index = row.order[row.next];
  const Unit& unit = units_[index];
  const int64_t count = chunk_elements(unit), first = row.chunk * count;
  ++row.begun;
  ++row.chunk;
  skip_empty(row);
  return {index, {kind_of(unit, row), unit.bucket, first, count, factor_.value_or(1.0F)}};
}

void Fabric::begin(Slot& slot, Row& row) {
  if (!used_slot()) {
    busy_since_ = now();
    first_ = true;
  }
  const Begun begun = take_next(row);
  slot.row = &row;
  slot.unit = begun.unit;
  Lane& lane = lanes_[units_[begun.unit].lane];
  slot.transfer.emplace(lane.family(), *lane.member.gradients, *lane.wire, row.recording);
  slot.transfer->start(begun.chunk, lane.number++, slot.staging.data());
}

// ---- between devices

void Fabric::begin_on_device(Row& row) {
  const Begun begun = take_next(row);
  const Unit& unit = units_[begun.unit];
  Lane& lane = lanes_[unit.lane];
  const bool timed = measuring_ && &row == &reductions_ && !finishing_;
  DeviceChunk(lane.family(), *lane.member.gradients, *lane.device, mesh_.context()->link().deterministic)
      .run(begun.chunk, lane.staging.data(), timed);
  if (--row.left[begun.unit] == 0) lane.device->mark(unit.bucket);
}

void Fabric::hear_times() {
  constexpr double nanoseconds = 1e9;
  for (const Lane& lane : lanes_)
    if (lane.device)
      for (const double seconds : lane.device->take_times())
        windows_.chunk_took(static_cast<int64_t>(seconds * nanoseconds), true);
}

void Fabric::begin_granted() {
  while (on_devices_ && usable() && may_begin(current_row())) begin_on_device(current_row());
}

// What is forced of this row comes after all of the row before it.
void Fabric::run_on_device(Row& row, size_t until) {
  while (!through(row, until)) {
    mesh_.context()->require_usable();
    begin_on_device(current_row());
  }
}

void Fabric::join() {
  for (const Lane& lane : lanes_)
    if (lane.device) lane.device->join();
}

// ---- between hosts

void Fabric::end(Slot& slot) {
  --slot.row->left[slot.unit];
  const bool measure = slot.row == &reductions_ && !finishing_;
  slot.row = nullptr;
  const int64_t time = now();
  if (measure) windows_.chunk_took(time - busy_since_, first_);
  busy_since_ = time;
  first_ = false;
}

bool Fabric::poll() {
  const std::lock_guard lock(mesh_.progress().mutex());
  bool moved = false;
  if (on_devices_ || !busy() || !usable()) return moved;
  for (Slot& slot : slots_) {
    if (!slot.row || slot.waited_for || !slot.transfer->poll()) continue;
    end(slot);
    moved = true;
  }
  for (Slot& slot : slots_) {
    if (slot.row || !may_begin(current_row())) continue;
    begin(slot, current_row());
    moved = true;
  }
  return moved;
}

bool Fabric::busy() const {
  if (on_devices_) return false;
  const bool under_way =
      std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.row != nullptr; });
  return under_way || may_begin(current_row());
}

bool Fabric::through(const Row& row, size_t until) const {
  return std::all_of(row.order.begin(), row.order.begin() + static_cast<std::ptrdiff_t>(until),
                     [&](size_t unit) { return row.left[unit] == 0; });
}

// A chunk under way that is among the first `until` positions of the row; null: none of them is.
Fabric::Slot* Fabric::wanted_slot(const Row& row, size_t until) {
  const auto end = row.order.begin() + static_cast<std::ptrdiff_t>(until);
  const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return slot.row == &row && std::find(row.order.begin(), end, slot.unit) != end;
  });
  return found == slots_.end() ? nullptr : &*found;
}

// The lock is held all the time: this wait itself moves what the thread would. It waits for what is wanted alone: a later chunk
// may be one that another rank keeps back while it waits for this rank in an exchange.
void Fabric::run(Row& row, size_t until) {
  if (!row.open) return;
  row.forced = std::max(row.forced, until);
  row.granted = std::max(row.granted, chunks_before(row, until));
  if (on_devices_) return run_on_device(row, until);
  while (!through(row, until)) {
    mesh_.context()->require_usable();
    (void)poll();
    Slot* const slot = wanted_slot(row, until);
    if (!slot) continue;
    slot->waited_for = true;
    const Finding finding = attempt([&] { slot->transfer->wait(); });
    slot->waited_for = false;
    if (finding) throw Error(finding.status, finding.text);
  }
}

// ---- the ledger

void Fabric::count(const Row& row) {
  for (const size_t index : row.order) {
    const Unit& unit = units_[index];
    for (int64_t chunk = 0; chunk < unit.chunks; ++chunk)
      count_chunk(unit, kind_of(unit, row), chunk * chunk_elements(unit), row.recording != nullptr);
  }
}

void Fabric::count_chunk(const Unit& unit, Chunk::Kind kind, int64_t first, bool stamped) {
  const Lane& lane = lanes_[unit.lane];
  const Communicator& wire = *lane.wire;
  const Chunk chunk{kind, unit.bucket, first, chunk_elements(unit)};
  const auto range = [&](int64_t owner) { return chunk_of(shard_of(shards_of(unit), owner), first, chunk.count); };
  const auto half = [&](int32_t phase, int32_t collective, auto&& bytes_to) {
    const Ledger::Key key{wire.axes(), lane.family().kind(), phase, collective};
    const Ledger::Key stamp{key.axes, key.family, phase, MOEMESH_COLLECTIVE_CLOCK};
    mesh_.ledger().call(key);
    for (int64_t peer = 0; peer < wire.size(); ++peer) {
      const int64_t bytes = peer == wire.rank() ? 0 : bytes_to(peer);
      if (bytes == 0) continue;
      const bool internode = wire.nodes()[static_cast<size_t>(peer)] != wire.nodes()[static_cast<size_t>(wire.rank())];
      mesh_.ledger().message(key, bytes, internode);
      if (stamped) mesh_.ledger().message(stamp, sizeof(int64_t), internode);
    }
  };
  if (chunk.reduces())
    half(MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_REDUCE_SCATTER,
         [&](int64_t peer) { return range(peer).size() * element; });
  const bool values = kind == Chunk::gather_values;
  const int64_t own = range(wire.rank()).size() * (values ? lane.family().values().element_bytes() : element);
  if (chunk.gathers())
    half(values ? MOEMESH_PHASE_UPDATE : MOEMESH_PHASE_REDUCTION, MOEMESH_COLLECTIVE_ALL_GATHER,
         [&](int64_t) { return own; });
}

}  // namespace moemesh
