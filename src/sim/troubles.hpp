/// \file troubles.hpp
/// Which node could not hear which other one, and when. The world records it; the checker compares
/// the members' suspicions with it.
///
/// What one node writes to another may be held, or late; a node may be paused; and a connection may
/// be lost, or believed to be. In the first three cases the node cannot be heard for a time: such
/// times are merged where they overlap. A node sees the rows of its own host even if the link is
/// held. Threads: one.
#pragma once
#include <cstdint>
#include <vector>

#include "history/event.hpp"
#include "history/recorder.hpp"

namespace tutti::sim {

class Troubles {
 public:
  static constexpr std::uint64_t kOpen = ~0ULL;
  struct Span {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = kOpen;
  };
  using Spans = std::vector<Span>;

  /// Drops times that are shorter than `least_ns` and not near another one. Nodes whose numbers
  /// are equal modulo `hosts` are on one host.
  Troubles(std::uint32_t nodes, std::uint64_t least_ns, std::uint32_t hosts);

  void set_time(std::uint64_t now_ns) { now_ns_ = now_ns; }

  /// The node is paused from now on until then.
  void paused(std::uint32_t node, std::uint64_t until_ns);
  /// The pause ends now, if there is one.
  void resumed(std::uint32_t node);
  void hold(std::uint32_t from, std::uint32_t to, bool held);
  void late(std::uint32_t from, std::uint32_t to, std::uint64_t until_ns);
  /// `by` lost its connection to `node`, or believes so.
  void lost(std::uint32_t by, std::uint32_t node);
  void met(std::uint32_t by, std::uint32_t node);

  /// The exact times in which the listener heard nothing of the other, which ran up to `gone_ns`. A
  /// late write ends a silence when it arrives; one that arrives within `flight_ns` makes none. The
  /// times have no order and may overlap.
  [[nodiscard]] Spans silences(std::uint32_t of, std::uint32_t listener, std::uint64_t gone_ns,
                               std::uint64_t flight_ns) const;
  [[nodiscard]] const Spans& pauses(std::uint32_t node) const { return stopped_[node]; }

  /// Records all of them as faults.
  void record(history::Recorder& recorder) const;

 private:
  [[nodiscard]] std::size_t way(std::uint32_t from, std::uint32_t to) const {
    return std::size_t{from} * nodes_ + to;
  }
  void add(Spans& spans, std::uint64_t until_ns) const;
  void close(Spans& spans) const;
  void record(history::Recorder& recorder, const Spans& spans, history::FaultKind kind,
              std::uint32_t node, std::uint32_t second) const;

  std::uint32_t nodes_;
  std::uint64_t least_ns_;
  std::uint32_t hosts_;
  std::uint64_t now_ns_ = 0;
  std::vector<Spans> paused_;              // by node
  std::vector<Spans> held_, late_, lost_;  // of what the first says, by way to the second
  std::vector<Spans> stopped_, cut_;       // paused_ and held_, each as it was
};

}  // namespace tutti::sim
