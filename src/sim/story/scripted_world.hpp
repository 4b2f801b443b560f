/// \file scripted_world.hpp
/// A simulated cluster for stories and figures: only those things happen that a script asks for.
///
/// Members, network and memory are those of World, which draws all from a seed. Here nothing is
/// drawn: each post lands whole, one delay after it was made unless the network says otherwise, and
/// members pass in the order of their slots. Threads: one.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/failpoints.hpp"
#include "sim/member.hpp"
#include "sim/net.hpp"
#include "sim/plan.hpp"
#include "sim/troubles.hpp"

namespace tutti::sim {

/// Events of the world. posted() is called in the middle of a pass, the others between passes.
class ScriptEvents {
 public:
  virtual ~ScriptEvents() = default;
  virtual void posted(const Net::Posted& posted) = 0;
  virtual void wakes(std::uint32_t slot, bool by_doorbell) = 0;
  virtual void passed(std::uint32_t slot) = 0;
  virtual void sleeps(std::uint32_t slot) = 0;
  /// The node runs no more; its objects are destroyed after this call.
  virtual void gone(std::uint32_t slot, const std::string& why) = 0;
  virtual void hears_loss(std::uint32_t slot, std::uint32_t of) = 0;
};

class ScriptedWorld {
 public:
  /// The unit of all times of a story: in which a post lands.
  static constexpr std::uint64_t kDelayNs = 1'000;
  static constexpr std::uint64_t kHeartbeatNs = 10 * kDelayNs;
  static constexpr std::uint64_t kSuspectAfterNs = 100 * kDelayNs;
  static constexpr std::uint64_t kNever = ~0ULL;
  static constexpr NetOptions kNet{.delay_ns = kDelayNs, .jitter_ns = 0, .landing_ns = 0};

  /// `shared`: all nodes are on one host. `net` draws nothing. `plan` and `events` outlive it.
  ScriptedWorld(const Plan& plan, bool shared, ScriptEvents& events, const NetOptions& net = kNet);

  [[nodiscard]] std::uint64_t now_ns() const { return now_ns_; }
  /// Null if the node does not run.
  [[nodiscard]] Member* member(std::uint32_t slot) const { return nodes_[slot].member.get(); }
  [[nodiscard]] const std::byte* row(std::uint32_t reader, std::uint32_t of) const {
    return net_.row(reader, of);
  }

  /// Starts the node and connects it to all that run. False if one of those still has a connection
  /// to the last incarnation in its slot. A node that may not found only joins (J7).
  [[nodiscard]] bool start(std::uint32_t slot, bool may_create);
  /// The node makes a pass soon: a command has given it something to do.
  void poke(std::uint32_t slot) { nodes_[slot].wake_at_ns = now_ns_; }
  /// The node crashes. `secretly`: no other node is told.
  void kill(std::uint32_t slot, bool secretly);
  /// The node crashes right after the pass that takes it to that point.
  void kill_at(std::uint32_t slot, Failpoint point);
  /// The node makes no pass for so long.
  void pause(std::uint32_t slot, std::uint64_t ns) { nodes_[slot].paused_until_ns = now_ns_ + ns; }
  void cut(std::uint32_t from, std::uint32_t to, bool held) { net_.cut(from, to, held); }
  /// Runs until `is_over` returns true for the time of the next event.
  void run(const std::function<bool(std::uint64_t)>& is_over);
  /// Runs everything up to that time.
  void run_to(std::uint64_t at_ns);
  /// What a member found to be wrong itself; empty if nothing.
  [[nodiscard]] std::string finding() const;

 private:
  struct Node {
    std::unique_ptr<Member> member{};
    std::uint64_t wake_at_ns = kNever;      // by itself
    std::vector<std::uint64_t> rings_ns{};  // and when its doorbell rings
    std::uint64_t paused_until_ns = 0;
    Failpoint dies_at = Failpoint::none;
    Progress progress{};
  };
  // The node learns that its connection to the other is no more.
  struct Loss {
    std::uint64_t at_ns;
    std::uint32_t node;
    std::uint32_t of;
    std::uint64_t connection;
  };

  [[nodiscard]] static std::uint64_t next_ns(const Node& node);
  [[nodiscard]] std::uint64_t next_ns() const;
  void set_time(std::uint64_t at_ns);
  void hear_losses(std::uint32_t slot);
  void turn(std::uint32_t slot);
  [[nodiscard]] bool dies(Node& node);
  // The node has ended, and is removed now.
  [[nodiscard]] bool ends(std::uint32_t slot);
  void gone(std::uint32_t slot, const std::string& why, std::uint64_t told_after_ns);

  const Plan& plan_;
  const bool shared_;
  ScriptEvents& events_;
  Troubles troubles_;
  Net net_;
  std::vector<Node> nodes_;
  std::vector<Loss> losses_;
  std::vector<std::unique_ptr<Member>> gone_;  // their rows stay
  std::uint64_t now_ns_ = 0;
  std::uint64_t incarnations_ = 0;
};

}  // namespace tutti::sim
