/// \file world.hpp
/// Some nodes in one thread, each an Engine as in production, that a test passes; and a GroupLog
/// per group that checks whatever is delivered.
///
/// Nodes are named "a", "b", ... They have founded their only view when the world is made. From
/// then on the clock stands, and no fabric tells of a loss: nobody beats or is suspected, and what
/// a test sees is how messages move within one view. How views end is the simulator's (src/sim).
/// A test (or a Schedule) says which node makes a pass and who claims and commits what. With
/// `nested` other nodes and their delivery threads also run in the middle of delivery callbacks
/// and, where the rows are shared, of protocol steps; and a stand-in passes the node whose
/// application is in a callback.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "engine/engine.hpp"
#include "support/aligned_row.hpp"
#include "support/faulty_fabric.hpp"
#include "support/group_log.hpp"
#include "support/landing_memory.hpp"
#include "support/landing_net.hpp"
#include "support/local_fabric.hpp"

namespace tutti::testing {

inline constexpr std::uint32_t kNone = ~0U;

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
  /// turn() and Part::machine only. Called with the node.
  std::function<void(std::uint32_t, std::span<const Message>)> on_delivery = {};
};

/// A group with small windows, so that they fill up and wrap: 4 KiB and 16 records.
[[nodiscard]] GroupOptions small_group(const std::string& name, const std::string& members,
                                       const std::string& senders, Level level = Level::atomic);

class World final : public BetweenLoads, private EngineEvents {
 public:
  explicit World(const WorldOptions& options);

  struct OpenClaim {
    SendRing::Space space;
    std::uint32_t size = 0;
    std::uint64_t seed = 0;
  };

  /// A node's part in a group that it is a member of.
  struct Part {
    std::uint32_t node = 0;
    std::uint32_t group = 0;
    std::uint32_t member = 0;                    ///< rank in the group's list of members
    std::uint32_t sender = kNone;                ///< rank among the senders of the view
    Subgroup<LandingMemory>* machine = nullptr;  ///< the engine's
    std::vector<OpenClaim> open;
    bool own_thread = false;
    bool finished = false;
  };

  /// One pass of a node. Returns what its engine returned.
  std::size_t pass(std::uint32_t node);
  /// The same, and nothing else: each node by a thread of its own.
  std::size_t turn(std::uint32_t node) { return engines_[node]->pass(now_ns_); }
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
  void cut(std::uint32_t a, std::uint32_t b) { faulty_[a]->cut(Slot{b}); }
  void kill(std::uint32_t node) { cluster_->kill(Slot{node}); }

  [[nodiscard]] std::uint32_t nodes() const { return options_.nodes; }
  [[nodiscard]] std::deque<Part>& parts() { return parts_; }
  /// The part of a node ("a") in a group.
  [[nodiscard]] Part& part(std::uint32_t node, std::uint32_t group = 0);
  [[nodiscard]] GroupLog& log(std::uint32_t group = 0) { return *logs_[group]; }
  [[nodiscard]] const GroupOptions& group(std::uint32_t group) const { return plan_.groups[group]; }
  [[nodiscard]] const AlignedRow& row(std::uint32_t node) const { return rows_[node]; }
  [[nodiscard]] FabricCounters posted(std::uint32_t node) const {
    return fabrics_[node]->counters();
  }
  [[nodiscard]] bool drained() const;
  /// All that the logs found, and violations that members report of correct peers.
  [[nodiscard]] std::string findings() const;
  void check_end();

  void before_load(Slot reader) override;

 private:
  // EngineEvents. Nothing but the first view is to be told.
  void entered(const Entry& entry) override;
  void stopped(StopReason reason) override;
  void let_go(Slot slot) override;
  void tell(const Entry& /*entry*/) override {}
  void no_state(const Error& why) override;

  void make_fabrics(const std::vector<std::size_t>& row_bytes);
  void make_parts(std::uint32_t number);
  void make_engine(std::uint32_t node);
  void found();
  void on_delivery(Part& part, std::span<const Message> batch);
  void note_sent(std::uint32_t node);
  // `in_callback`: the node whose callback this is, which a stand-in passes.
  void run_others(std::uint64_t passes, std::uint32_t in_callback = kNone);

  const WorldOptions options_;
  const RowPlan plan_;
  Prng random_;
  std::vector<AlignedRow> rows_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<LandingNet> net_;
  std::vector<std::unique_ptr<Fabric>> fabrics_;
  std::vector<FaultyFabric*> faulty_;
  std::vector<std::unique_ptr<GroupLog>> logs_;
  std::deque<Part> parts_;
  std::deque<StateJobs> jobs_;  // by node; none are asked for
  std::vector<std::unique_ptr<Engine<LandingMemory>>> engines_;
  // All nodes carry all groups. A node that is no member has a delivery thread like the others; it
  // has nothing to do there, so it makes a turn in every pass.
  std::vector<std::pair<std::uint32_t, Subgroup<LandingMemory>*>> bystanders_;
  std::uint64_t now_ns_ = 0;
  bool founded_ = false;
  std::vector<bool> running_;  // nodes that are in the middle of a pass
};

}  // namespace tutti::testing
