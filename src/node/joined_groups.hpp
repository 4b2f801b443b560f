/// \file joined_groups.hpp
/// The groups that the application joins and leaves while the node runs, and the spaces that it
/// reserved for them before (membership/open_groups.hpp, GR1 to GR4).
///
/// What the application asks for is put down here; the thread that turns the loop does it, in
/// follow(): it wishes for a group, or takes a wish back. A group is opened when the application is
/// told of the first view in which this member is in it.
/// Invariants:
///  JG1  A group's callback is called only while the group is open: from entered() on, until its
///       wish is taken back (GR4).
///  JG2  After end() no group is opened: who ends the node knows all of them.
///  JG3  What a group's callback refers to is destroyed by the predicate thread, as a call of the
///       application: named and watched, and the loop is lent for it. Without the mutex.
/// Threads: reserve() and begin() before or in start; admit, follow, entered, here and
/// awaits_others the predicate thread, or who has the loop from it; the rest any.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "membership/open_groups.hpp"
#include "node/call_watch.hpp"
#include "node/group_core.hpp"
#include "node/slowness.hpp"
#include "tutti/options.hpp"

namespace tutti {

class Incarnation;
class IncarnationEvents;
class NodeCore;

/// A group that was joined at run time. Handles keep it, after it was left as well.
struct JoinedGroup {
  enum class Phase : std::uint8_t {
    wanted,  ///< it is to be wished for
    wished,  ///< in this member's row
    open,    ///< this member is in it, and the application was told of the view
    leaves,  ///< the wish is to be taken back once all that was sent is delivered
    parts,   ///< it is taken back; the next view is without this member
    left,    ///< or it was never in it, and will not be
  };

  JoinedGroup(NodeCore& node, const GroupOptions& options, MemberIndex own, std::uint32_t of_kind,
              DeliveryCallback deliver)
      : core(node, options, own), kind(of_kind), on_delivery(std::move(deliver)) {}

  std::shared_ptr<Subgroup<NativeMemory>> subgroup{};  ///< that of the core; outlives it
  GroupCore core;
  const std::uint32_t kind;
  // The predicate thread's.
  DeliveryCallback on_delivery;  ///< not the core's: that one lasts as long as there are handles
  bool opened = false;           ///< JG1
  // Of JoinedGroups::mutex_.
  Phase phase = Phase::wanted;
  std::uint64_t first_view = 0;  ///< in which this member is in it for its wish; 0: none yet
  bool closed = false;           ///< left; its handlers have yet to be told
  std::optional<Error> refused{};
};

class JoinedGroups {
 public:
  JoinedGroups(NodeCore& node, Callbacks& callbacks) : node_(node), callbacks_(callbacks) {}

  /// See Node::reserve, Node::join and Group::leave. Without memory join() throws; this member is
  /// then out of the group, or will be.
  [[nodiscard]] Result<void> reserve(GroupOptions shape, std::size_t count);
  [[nodiscard]] Result<std::shared_ptr<JoinedGroup>> join(GroupOptions options,
                                                          std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<void> leave(GroupCore& core, std::chrono::nanoseconds timeout);

  /// The spaces, which stand behind the groups that all nodes have.
  [[nodiscard]] const std::vector<GroupOptions>& spaces() const { return spaces_; }
  /// The node starts, with so many groups that all nodes have.
  void begin(std::size_t groups);
  /// The spaces by their indexes in the node's plan. After begin().
  [[nodiscard]] const GroupSpaces& in_plan() const { return in_plan_; }

  /// Those that were opened and whose handlers have not all been told that they were left.
  [[nodiscard]] std::vector<std::shared_ptr<JoinedGroup>> opened() const;
  /// Those that were opened and not left.
  [[nodiscard]] const std::vector<GroupCore*>& here() const { return here_; }
  /// JG2: the node ends or has failed. What is asked for is given up.
  void end();

  /// There is something to follow.
  [[nodiscard]] bool asks() const { return unsettled_.load(std::memory_order_acquire) != 0; }
  /// True if a group was left. `may_call`: let_go() comes next.
  bool follow(Incarnation& incarnation, bool may_call);
  /// JG3, for the groups that are gone. True if there were any: the node may have ended meanwhile.
  bool let_go(IncarnationEvents& events);
  /// That this goes on.
  [[nodiscard]] const CallMark& letting_go() const { return letting_go_; }
  /// Those who watch calls are to watch the handlers of the groups that are here now. Any thread.
  void show(CallWatch& watch) const;
  /// What is followed waits for acknowledgements, which wake nobody.
  [[nodiscard]] bool awaits_others() const { return awaits_others_; }
  /// This member is about to be in that group, in that view. Returns what its messages are
  /// delivered to.
  [[nodiscard]] DeliveryCallback admit(IncarnationEvents& events, const OpenGroup& open,
                                       std::uint64_t view, CallMark& call);
  /// The application is told of that view.
  void entered(Incarnation& incarnation, std::uint64_t view);

 private:
  using Phase = JoinedGroup::Phase;

  [[nodiscard]] Result<void> may_join(const GroupOptions& options) const;
  [[nodiscard]] Result<std::uint32_t> kind_of(const GroupOptions& options) const;
  [[nodiscard]] std::optional<Error> mismatch(const JoinedGroup& group) const;
  void give_up(JoinedGroup& group);
  [[nodiscard]] Error why_not_joined(const JoinedGroup& group) const;
  [[nodiscard]] bool has_place(std::uint32_t kind) const;
  [[nodiscard]] bool is_in(const JoinedGroup& group, Slot self) const;
  void settle(JoinedGroup& group, Phase phase);
  bool follow(Incarnation& incarnation, JoinedGroup& group);
  void take_back(Incarnation& incarnation, JoinedGroup& group);
  [[nodiscard]] bool has_told_all(JoinedGroup& group);
  [[nodiscard]] JoinedGroup* find(std::string_view name) const;

  NodeCore& node_;
  Callbacks& callbacks_;
  std::vector<GroupOptions> spaces_;  // settled by start; those of a kind side by side
  GroupSpaces in_plan_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<JoinedGroup>> all_;  // in no order; without those that were left
  bool ended_ = false;                             // JG2
  std::uint64_t seen_view_ = 0;                    // that of open_
  OpenGroups open_;                                // of the newest view, as last followed
  std::vector<GroupCore*> here_;
  std::vector<std::shared_ptr<JoinedGroup>> gone_;  // the predicate thread's: for let_go()
  CallMark letting_go_;
  std::atomic<std::uint64_t> opened_version_{0};  // grows whenever opened() changes
  bool awaits_others_ = false;
  std::atomic<std::size_t> unsettled_{0};  // how many of all_ are not open
};

}  // namespace tutti
