/// \file world.hpp
/// Some members of some groups in one thread, put together as a node does it, each with a predicate
/// loop that a test turns; and a GroupLog per group that checks whatever is delivered.
///
/// Nodes are named "a", "b", ... A test (or a Schedule) says which node makes a pass and who claims
/// and commits what. With `nested` other nodes also run in the middle of delivery callbacks and,
/// where the rows are shared, of protocol steps.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "predicates/predicate_loop.hpp"
#include "sst/row_layout.hpp"
#include "support/aligned_row.hpp"
#include "support/faulty_fabric.hpp"
#include "support/group_log.hpp"
#include "support/landing_memory.hpp"
#include "support/landing_net.hpp"
#include "support/local_fabric.hpp"
#include "support/member_group.hpp"

namespace tutti::testing {

/// How members see each other's rows.
enum class Wires : std::uint8_t {
  faulty,   ///< LocalCluster behind a FaultyFabric: posts land late and in pieces
  landing,  ///< LandingNet: words land between any two loads of one step
  shared,   ///< one row for all: others run between any two loads of one step
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 3;
  std::vector<GroupOptions> groups;  ///< members and senders by name, filled in
  Wires wires = Wires::faulty;
  bool nested = true;
  bool talkative = false;    ///< delivery callbacks send
  bool guard_first = false;  ///< LandingOptions
  /// Instead of the logs and all that happens in callbacks, for tests with threads: then use
  /// loop() and Part::machine only. Called with the node.
  std::function<void(std::uint32_t, std::span<const Message>)> on_delivery = {};
};

/// A group with small windows, so that they fill up and wrap: 4 KiB and 16 records.
[[nodiscard]] GroupOptions small_group(const std::string& name, const std::string& members,
                                       const std::string& senders, Level level = Level::atomic);

class World final : public BetweenLoads {
 public:
  explicit World(const WorldOptions& options);

  struct OpenClaim {
    SendRing::Space space;
    std::uint32_t size = 0;
    std::uint64_t seed = 0;
  };

  /// A node's part in a group.
  struct Part {
    std::uint32_t node = 0;
    std::uint32_t group = 0;
    std::uint32_t member = 0;  ///< rank in the group
    std::uint32_t sender = kNobody;
    std::unique_ptr<MemberGroup> machine;
    std::vector<OpenClaim> open;
    bool own_thread = false;
    bool finished = false;
  };

  /// One pass of a node's loop. Returns what the loop returned.
  std::size_t pass(std::uint32_t node);
  [[nodiscard]] PredicateLoop& loop(std::uint32_t node) { return *loops_[node]; }
  /// One turn of the delivery thread of a part that has one.
  bool deliver_here(Part& part);

  /// Claims, without commit. False: no space.
  bool claim(Part& part, std::uint32_t size);
  /// Fills and commits (or abandons) the open claim number `index`.
  void commit(Part& part, std::size_t index, bool abandon = false);
  /// Claims and commits. False: no space.
  bool send(Part& part, std::uint32_t size);
  /// Closes the ring; claims that are open may still be committed.
  void finish(Part& part);

  /// Passes in turn until nobody finds anything and nothing is on its way; false after `passes`.
  [[nodiscard]] bool settle(std::uint32_t passes = 100'000);
  [[nodiscard]] bool complete() const;

  /// For Wires::faulty.
  void cut(std::uint32_t a, std::uint32_t b) { faulty_[a]->cut(Rank{b}); }
  void kill(std::uint32_t node) { cluster_->kill(Rank{node}); }

  [[nodiscard]] std::uint32_t nodes() const { return options_.nodes; }
  [[nodiscard]] std::deque<Part>& parts() { return parts_; }
  /// The part of a node ("a") in a group.
  [[nodiscard]] Part& part(std::uint32_t node, std::uint32_t group = 0);
  [[nodiscard]] GroupLog& log(std::uint32_t group = 0) { return *logs_[group]; }
  [[nodiscard]] const GroupOptions& group(std::uint32_t group) const {
    return options_.groups[group];
  }
  [[nodiscard]] const AlignedRow& row(std::uint32_t node) const { return rows_[node]; }
  [[nodiscard]] FabricCounters posted(std::uint32_t node) const {
    return fabrics_[node]->counters();
  }
  [[nodiscard]] bool drained() const;
  /// All that the logs found, and violations that members report of correct peers.
  [[nodiscard]] std::string findings() const;
  void check_end();

  void before_load(Rank reader) override;

 private:
  void make_fabrics(const std::vector<std::size_t>& row_bytes);
  void open_group(std::uint32_t node, std::uint32_t number);
  void on_delivery(Part& part, std::span<const Message> batch);
  void run_others(std::uint64_t passes);
  [[nodiscard]] const std::byte* row_at(std::uint32_t reader, std::uint32_t node) const;
  [[nodiscard]] RowLayout layout(std::uint32_t node) const;

  WorldOptions options_;
  Prng random_;
  std::vector<AlignedRow> rows_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<LandingNet> net_;
  std::vector<std::unique_ptr<Fabric>> fabrics_;
  std::vector<FaultyFabric*> faulty_;
  std::vector<std::unique_ptr<PredicateLoop>> loops_;
  std::vector<std::unique_ptr<GroupLog>> logs_;
  std::deque<Part> parts_;
  std::vector<bool> running_;  // nodes that are in the middle of a pass
};

}  // namespace tutti::testing
