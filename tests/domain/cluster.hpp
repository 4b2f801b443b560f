/// \file cluster.hpp
/// Groups as virtual synchrony promises them, without a network: one sequence for each group with
/// an order, one for each sender of a group without, which members deliver at their own pace.
///
/// At a change of view each sequence is cut somewhere behind what anybody has delivered. All that
/// stay deliver up to the cut, then hear of the view, then go on. What survivors sent behind the
/// cut comes again in the next view; what members that have gone sent there is lost. A member that
/// joins loads the states that a survivor has saved between. A group that is logged has its
/// sequence also in a log at each member, which hands it on again when it comes back, from the
/// beginning; after all have stopped, such a group goes on behind what any of them has delivered.
/// A group with a delivery thread of its own may stop in the middle of a batch. Nothing here
/// decides anything by itself: a world makes the steps.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "domain/cores.hpp"
#include "domain/delivery.hpp"
#include "support/sim_disk.hpp"
#include "tutti/message.hpp"
#include "tutti/view.hpp"

namespace tutti::domain {

struct Entry {
  MemberIndex sender{};
  std::uint64_t incarnation = 0;
  Ticket ticket{};
  std::vector<std::byte> bytes{};
  std::uint64_t view = 0;  // in which it is delivered; 0: not settled yet
};
struct Stream {
  MemberIndex sender{};  // of a group without order
  std::uint64_t incarnation = 0;
  bool ended = false;  // its sender is gone
  std::vector<Entry> entries{};
};
using State = std::vector<std::byte>;
struct View {
  static constexpr std::uint64_t kEnded = ~std::uint64_t{0};
  ViewChange change{};
  bool founds = false;  // nobody was there before: its members have nobody to take a state from
  std::vector<std::vector<std::uint64_t>>
      cuts{};                                  // by group and stream; kEnded: its sender is gone
  std::vector<std::optional<State>> states{};  // by group, as the first that stays has saved it
};

/// What a world wants to hear of.
class ClusterEvents {
 public:
  virtual ~ClusterEvents() = default;
  /// Before the group's callback gets it.
  virtual void delivering(NodeCore& node, GroupCore& group, const Message& message) = 0;
  /// After the batch.
  virtual void delivered(NodeCore& node, GroupCore& group) = 0;
  /// The node is about to hear of the view; `joins`: it has loaded the states.
  virtual void entering(NodeCore& node, const View& view, bool joins) = 0;
  virtual void entered(NodeCore& node) = 0;
  /// Blocks the calling thread of an application until it holds, or that time. False: not there.
  virtual bool pause(const std::function<bool()>& holds, std::uint64_t until_ns) = 0;
  /// No call may wait now.
  [[nodiscard]] virtual bool is_in_callback() const = 0;
  virtual void committed(GroupCore& group, Ticket ticket, std::span<const std::byte> bytes) = 0;
  virtual void wrong(const std::string& property, const std::string& what) = 0;
};

class Cluster {
 public:
  Cluster(std::vector<std::string> names, Prng& random, ClusterEvents& events);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Where Node::create makes a member now.
  [[nodiscard]] static Cluster* current();
  [[nodiscard]] std::shared_ptr<NodeCore> make(const std::string& name);
  /// What make() has made last.
  [[nodiscard]] const std::shared_ptr<NodeCore>& newest() const { return newest_; }
  [[nodiscard]] std::shared_ptr<GroupCore> join(NodeCore& node, GroupOptions options);

  /// Whether members that save at one place must have the same samples.
  void compare_stored(bool compares) { compares_stored_ = compares; }
  /// The first view of all, or the first one after all members have stopped.
  void found(const std::vector<std::shared_ptr<NodeCore>>& members);
  /// Each member of the newest view has entered it.
  [[nodiscard]] bool all_have_entered() const;
  /// A view without those that are over, and with `joining`.
  void change_view(const std::vector<std::shared_ptr<NodeCore>>& joining);
  /// Some members of the newest view are over.
  [[nodiscard]] bool needs_view() const;
  [[nodiscard]] const std::vector<View>& views() const { return views_; }
  [[nodiscard]] const std::vector<std::shared_ptr<NodeCore>>& members() const { return members_; }
  [[nodiscard]] const std::vector<Stream>& streams(std::size_t group) const {
    return streams_[group];
  }

  // Steps. False: there is nothing to do.
  bool place_one(NodeCore& node, std::size_t group);
  /// Also goes on with a delivery that has stopped in a batch.
  bool deliver(NodeCore& node, std::size_t group, std::uint64_t most);
  /// The others have gone on without the node, which is about to end. It goes on with a batch that
  /// it delivers, or with the next one, and at some moment other records lie in that space. All
  /// that is by chance of `random`. False: there is no batch.
  bool overtake(NodeCore& node, std::size_t group, Prng& random);
  void overwrite(GroupCore& group);
  /// The delivery that runs, if one does, stops in the middle of a callback.
  void stop_in_callback();
  /// It stops until that is notified.
  void stop_until_notified(const std::condition_variable& condition);
  void notify(const std::condition_variable& condition);
  /// A delivery of the node has stopped in a callback.
  [[nodiscard]] static bool is_in_callback(const NodeCore& node);
  /// Deliveries that have stopped go on, but for those that wait for what was not notified.
  void go_on(NodeCore& node);
  bool enter_view(NodeCore& node);
  bool call_handler(NodeCore& node, std::size_t group);
  /// Nothing is left to be placed, delivered or entered.
  [[nodiscard]] bool is_quiet() const;

  /// Of a stream: every member that runs has delivered so many.
  [[nodiscard]] std::uint64_t delivered_by_all(std::size_t group, std::size_t stream) const;
  /// Where the sender's messages go in the group.
  [[nodiscard]] std::size_t stream_of(const GroupCore& group);
  [[nodiscard]] const std::shared_ptr<testing::SimDisk>& disk() const { return disk_; }

  ClusterEvents& events;

 private:
  [[nodiscard]] std::uint64_t limit(const NodeCore& node, std::size_t group,
                                    std::size_t stream) const;
  [[nodiscard]] bool is_ready_for(const NodeCore& node, const View& view) const;
  void cut(View& view, std::size_t group);
  void begin(View view, const std::vector<std::shared_ptr<NodeCore>>& joining);
  void place(NodeCore& joiner, const View& view);
  bool fill(NodeCore& node, std::size_t number, std::uint64_t most, bool settled, Prng& random);
  void hand_over(GroupCore& group);
  bool resume(GroupCore& group);
  void hand_on(GroupCore& group);
  void take_back(std::size_t group, std::uint64_t cut);
  [[nodiscard]] State save(GroupCore& group);
  void load(GroupCore& group, const State& state);
  void save_all(NodeCore& node, View& view, bool gives);
  void join_view(NodeCore& node, const View& view);

  const std::vector<std::string> names_;
  Prng& random_;
  std::vector<std::shared_ptr<NodeCore>> members_;  // of the newest view
  std::vector<std::vector<Stream>> streams_;        // by group
  std::vector<View> views_;
  std::uint64_t incarnations_ = 0;
  bool compares_stored_ = true;
  std::shared_ptr<NodeCore> newest_{};
  std::shared_ptr<testing::SimDisk> disk_ = std::make_shared<testing::SimDisk>();
  std::uint64_t salts_ = 0;           // of logs: how many were given
  Delivery* running_ = nullptr;       // in it
  Prng* overwriting_ = nullptr;       // chooses what overwrites
  std::vector<Delivery*> stopped_{};  // until they are notified
};

}  // namespace tutti::domain
