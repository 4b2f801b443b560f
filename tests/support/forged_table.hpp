/// \file forged_table.hpp
/// The table of one group as plain arrays: tests write what other members would have written, let
/// one machine make a step, and read what it wrote. Rows are shared, so that several machines can
/// also play together over one table. Whole members are the engine's: forged_node.hpp, world.hpp.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "multicast/shape.hpp"
#include "smc/record.hpp"
#include "sst/control_bytes.hpp"
#include "sst/memory.hpp"
#include "sst/pass_words.hpp"
#include "sst/row_layout.hpp"
#include "sst/sent_word.hpp"
#include "support/aligned_row.hpp"

namespace tutti::testing {

struct ForgedOptions {
  std::uint32_t members = 3;
  std::vector<std::uint32_t> sender_ranks{0, 1, 2};
  Level level = Level::atomic;
  Order order = Order::round_robin;  ///< but at Level::unordered
  TokenWindows windows{.personal = 8, .global = 16, .accelerated = 0, .gap = 32};
  std::uint32_t ring_granules = 64;
  std::uint32_t window_records = 16;
  std::uint32_t message_max_bytes = 128;
  std::uint32_t lane_granules = 128;  ///< in Order::lcr
  std::uint64_t tick_every_ns = 0;
  bool copied = false;  ///< rings: each member has its own replica of the others'
};

class ForgedTable {
 public:
  explicit ForgedTable(const ForgedOptions& options)
      : options_(options),
        other_control_(control_bytes(options.order, options.sender_ranks.size(), false)) {
    for (std::uint32_t m = 0; m < options.members; ++m) {
      const std::size_t senders = options.sender_ranks.size();
      controls_.emplace_back(control_bytes(options.order, senders, false) +
                             PassWords::bytes(senders, options.members));
      areas_.emplace_back(area_bytes());
      lanes_.emplace_back(options.lane_granules * kGranule);
      for (std::size_t s = 0; s < senders; ++s) {
        replicas_.emplace_back(options.ring_granules * kGranule);
      }
    }
    for (std::size_t s = 0; s < options.sender_ranks.size(); ++s) {
      rings_.emplace_back(options.ring_granules * kGranule);
      reclaimed_.emplace_back(8);
    }
  }

  /// The group as `self` sees it.
  [[nodiscard]] GroupShape shape(std::uint32_t self) {
    GroupShape shape;
    shape.self = {self};
    shape.tick_every_ns = options_.tick_every_ns;
    for (const std::uint32_t rank : options_.sender_ranks) {
      shape.sender_ranks.push_back(Rank{rank});
      shape.sender_ids.push_back(MemberIndex{rank});
    }
    shape.own_control = controls_[self].data();
    shape.own_other_control = other_control_.data();
    shape.ring_granules = options_.ring_granules;
    shape.window_records = options_.window_records;
    shape.message_max_bytes = options_.message_max_bytes;
    shape.order = options_.level == Level::unordered ? Order::none : options_.order;
    shape.windows = options_.windows;
    shape.level = options_.level;
    for (AlignedRow& control : controls_) shape.member_controls.push_back(control.data());
    for (AlignedRow& area : areas_) shape.member_areas.push_back(area.data());
    shape.own_area = areas_[self].data();
    for (AlignedRow& lane : lanes_) shape.member_lanes.push_back(lane.data());
    shape.own_lane = lanes_[self].data();
    shape.lane_granules = options_.lane_granules;
    shape.area_granules = static_cast<std::uint32_t>(area_bytes() / kGranule);
    for (std::uint32_t s = 0; s < rings_.size(); ++s) {
      const bool copied = options_.copied && options_.sender_ranks[s] != self;
      shape.sender_replicas.push_back(copied ? replica(self, s).data() : nullptr);
      shape.sender_rings.push_back(copied ? replica(self, s).data() : rings_[s].data());
      if (options_.sender_ranks[s] != self) continue;
      shape.own_sender = {s};
      shape.own_ring = rings_[s].data();
      shape.own_reclaimed = reclaimed_[s].data();
    }
    for (AlignedRow& word : reclaimed_) shape.sender_reclaimed.push_back(word.data());
    return shape;
  }

  void sent(std::uint32_t sender, const SentState& state) {
    store_cell(controls_[options_.sender_ranks[sender]].data() + ControlWords::kSent, pack(state));
  }
  void epoch(std::uint32_t member, std::uint64_t view) {
    store_cell(controls_[member].data() + ControlWords::kEpoch, view);
  }
  void met_all(std::uint32_t member) { raise_flag(member, ControlWords::kMetAll); }
  void drained(std::uint32_t member) { raise_flag(member, ControlWords::kDrained); }
  void reclaimed(std::uint32_t sender, std::uint64_t view) {
    store_cell(reclaimed_[sender].data(), view);
  }
  void received(std::uint32_t member, std::uint32_t sender, std::uint64_t rounds) {
    store_cell(controls_[member].data() + ControlWords::kReceived[SenderIndex{sender}], rounds);
  }
  void delivered(std::uint32_t member, std::uint64_t position) {
    store_cell(controls_[member].data() + ControlWords::kDelivered, position);
  }

  [[nodiscard]] std::uint64_t sent_word(std::uint32_t member) const {
    return NativeMemory::load(controls_[member].data() + ControlWords::kSent);
  }
  [[nodiscard]] bool has_met_all(std::uint32_t member) const {
    return has_flag(member, ControlWords::kMetAll);
  }
  [[nodiscard]] bool has_drained(std::uint32_t member) const {
    return has_flag(member, ControlWords::kDrained);
  }
  [[nodiscard]] std::uint64_t reclaimed(std::uint32_t sender) const {
    return NativeMemory::load(reclaimed_[sender].data());
  }
  [[nodiscard]] std::uint64_t received(std::uint32_t member, std::uint32_t sender) const {
    return NativeMemory::load(controls_[member].data() +
                              ControlWords::kReceived[SenderIndex{sender}]);
  }
  [[nodiscard]] std::uint64_t delivered(std::uint32_t member) const {
    return NativeMemory::load(controls_[member].data() + ControlWords::kDelivered);
  }
  /// The block of the view before, whoever is `self`.
  [[nodiscard]] AlignedRow& other_control() { return other_control_; }
  [[nodiscard]] AlignedRow& ring(std::uint32_t sender) { return rings_[sender]; }
  /// If rings are copied.
  [[nodiscard]] AlignedRow& replica(std::uint32_t member, std::uint32_t sender) {
    return replicas_[std::size_t{member} * rings_.size() + sender];
  }
  [[nodiscard]] std::byte* control(std::uint32_t member) { return controls_[member].data(); }
  [[nodiscard]] AlignedRow& area(std::uint32_t member) { return areas_[member]; }
  [[nodiscard]] AlignedRow& lane(std::uint32_t member) { return lanes_[member]; }
  [[nodiscard]] std::byte* pass_word(std::uint32_t member, PassWords::Word column) {
    return controls_[member].data() + control_bytes(options_.order, rings_.size(), false) + column;
  }

 private:
  [[nodiscard]] std::size_t area_bytes() const {
    return pass_area_bytes(options_.ring_granules * kGranule, options_.message_max_bytes, kGranule);
  }
  void raise_flag(std::uint32_t member, std::uint64_t flag) {
    std::byte* base = controls_[member].data() + ControlWords::kBase;
    store_cell(base, NativeMemory::load(base) | flag);
  }
  [[nodiscard]] bool has_flag(std::uint32_t member, std::uint64_t flag) const {
    return (NativeMemory::load(controls_[member].data() + ControlWords::kBase) & flag) != 0;
  }

  ForgedOptions options_;
  std::vector<AlignedRow> controls_;
  AlignedRow other_control_;
  std::vector<AlignedRow> rings_;
  std::vector<AlignedRow> reclaimed_;
  std::vector<AlignedRow> areas_;     // by member
  std::vector<AlignedRow> lanes_;     // by member
  std::vector<AlignedRow> replicas_;  // by member and sender
};

/// Writes records into a ring as a sender does, and nonsense where a test wants it.
class RingWriter {
 public:
  explicit RingWriter(AlignedRow& ring)
      : ring_(ring), granules_(static_cast<std::uint32_t>(ring.size() / kGranule)) {}

  /// The next record, in that round. Stamps and pads as R1 and R3 say. Returns its message.
  std::byte* put(std::uint32_t bytes, std::uint64_t round, std::uint32_t kind = 0) {
    const std::uint32_t stamp = round == next_round_ ? 0 : kStampedBit;
    const auto mod = static_cast<std::uint32_t>(stamp == 0 ? 0 : round);
    next_round_ = round + 1;
    ++records_;
    if (at_ + record_granules(bytes) > granules_) {
      raw({kPadBit | stamp, mod});
      at_ = 0;
      raw({bytes | kind, 0});
    } else {
      raw({bytes | kind | stamp, mod});
    }
    std::byte* message = ring_.data() + (std::size_t{at_} + 1) * kGranule;
    at_ = (at_ + record_granules(bytes)) % granules_;
    return message;
  }

  /// What the record before did not need of its claim (R1).
  void pad(std::uint32_t granules) {
    raw({kPadBit | granules, 0});
    at_ = (at_ + granules) % granules_;
  }

  /// A header at the offset of the next record, or somewhere else.
  void raw(RecordHeader header) { raw_at(at_, header); }
  void raw_at(std::uint32_t granule, RecordHeader header) {
    const std::uint64_t word = pack_header(header);
    std::memcpy(ring_.data() + std::size_t{granule} * kGranule, &word, sizeof word);
  }

  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  AlignedRow& ring_;
  std::uint32_t granules_;
  std::uint32_t at_ = 0;  // in granules
  std::uint64_t next_round_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace tutti::testing
