/// \file view_disk.hpp
/// What a node has of its views on a simulated disk: the ViewLog of a simulated member.
///
/// The disk is the node's: an incarnation finds what those before it have synced. As in a node, the
/// whole is written anew each time, and the newest that is synced counts. Threads: one.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "membership/view_log.hpp"
#include "sim/disk_syncs.hpp"
#include "sim/net.hpp"
#include "sim/options.hpp"

namespace tutti::sim {

/// An acceptance. Ballots and views are those of one incarnation of the node.
struct AcceptedOnDisk {
  std::uint64_t incarnation = 0;
  std::uint64_t view = 0;  ///< that the proposal follows
  std::uint64_t ballot = 0;
  std::uint64_t digest = 0;  ///< of the proposal
  friend bool operator==(const AcceptedOnDisk&, const AcceptedOnDisk&) = default;
};

struct InstalledOnDisk {
  std::uint64_t incarnation = 0;
  View view{};
  std::vector<std::uint64_t> firsts{};  ///< by group
  friend bool operator==(const InstalledOnDisk&, const InstalledOnDisk&) = default;
};

struct ViewsOnDisk {
  std::optional<AcceptedOnDisk> accepted{};    ///< last
  std::optional<InstalledOnDisk> installed{};  ///< last
};

class ViewDisk final : public ViewLog {
 public:
  /// What the disk tells: a view that it is about to write, and a view that is confirmed.
  struct Told {
    std::function<void(const InstalledOnDisk& before, const InstalledOnDisk& next)> installs{};
    std::function<void(std::uint64_t view)> confirmed{};
  };

  ViewDisk(const DiskOptions& options, const Net& net, std::uint64_t seed, Told told)
      : syncs_(options, net, seed), told_(std::move(told)) {}

  /// The node starts again.
  void begin(std::uint64_t incarnation) { incarnation_ = incarnation; }

  // ViewLog.
  [[nodiscard]] bool has_accepted(std::uint64_t view, const Proposal& proposal,
                                  std::uint64_t ballot) override;
  [[nodiscard]] bool has_installed(const View& view,
                                   const std::vector<std::uint64_t>& firsts) override;
  void confirmed(std::uint64_t view) override { told_.confirmed(view); }

  /// What would be there after a crash.
  [[nodiscard]] const ViewsOnDisk& synced() const { return versions_[syncs_.synced() - base_]; }
  /// When there is more on disk than now; never without a sync under way.
  [[nodiscard]] std::uint64_t next_ns() const { return syncs_.next_ns(); }

  /// From now on no sync is slow, nor is one that is under way.
  void mend() { syncs_.mend(); }
  /// The process crashes: what is not synced is lost.
  void crash();
  /// The node has ended in order: what it wrote is there.
  void close() { syncs_.close(newest()); }

 private:
  [[nodiscard]] std::uint64_t newest() const { return base_ + versions_.size() - 1; }
  void write(ViewsOnDisk next);

  DiskSyncs syncs_;  // by the numbers of the versions
  const Told told_;
  std::uint64_t incarnation_ = 0;
  std::deque<ViewsOnDisk> versions_ =
      std::deque<ViewsOnDisk>(1);  // from the one that was synced when the newest came
  std::uint64_t base_ = 0;         // the number of the first of these
  std::uint64_t accepted_in_ = 0;  // the version with the newest acceptance
  std::uint64_t installed_in_ = 0;
};

}  // namespace tutti::sim
