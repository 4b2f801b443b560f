/// \file cluster.hpp
/// Several nodes of the public interface in this process, on loopback, for the tests of Node and
/// Group: each started in a thread of its own, as processes would be; members die and come again.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "journal.hpp"
#include "tutti/tutti.hpp"

namespace tutti {

using namespace std::chrono_literals;

/// Long enough for any machine; only a failing test waits for it.
inline constexpr std::chrono::seconds kPatience{60};

/// What one member delivered: "seq sender text" per message.
using Deliveries = std::vector<std::string>;

struct ClusterOptions {
  std::size_t members = 3;
  FabricChoice fabric = FabricChoice::shm;  ///< ofi: with its provider tcp
  Drive drive = Drive::own_thread;
  Idle idle{};
  std::vector<GroupOptions> groups = {GroupOptions{.name = "log"}};
  std::vector<GroupOptions> reserved{};  ///< a place of each, for groups joined after the start
  std::uint32_t founders = 0;
  /// Longer than any member is kept from the processor: nobody is suspected who has not died.
  std::chrono::nanoseconds suspect_after = 20s;
  /// What one member has of its own in its groups.
  std::function<void(std::size_t member, GroupOptions&)> adjust_group{};
};

/// A group of few and short messages under way: what is lost with a member is soon missed.
[[nodiscard]] GroupOptions small_group(Level level = Level::atomic,
                                       DeliveryThread delivery = DeliveryThread::predicate);

/// Looks until it holds. False, and the test fails, if that takes too long.
[[nodiscard]] bool until(const std::function<bool()>& holds);

/// The test fails with the message of each that is an error.
void expect_ok(const std::vector<Result<void>>& results);

/// Sends "PREFIX 0", "PREFIX 1", ... in a thread of its own until told to stop or an error.
class Talker {
 public:
  Talker(Group group, std::string prefix);
  ~Talker() { stop(); }
  /// How many it has sent.
  std::uint64_t stop();
  /// After stop().
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::atomic<bool> told_to_stop_{false};
  std::uint64_t sent_ = 0;
  std::optional<Error> error_;
  std::thread thread_;
};

/// One start of a member.
struct Life {
  std::string name{};
  std::string prefix{};  ///< of what its talker sends: another one for each start
  std::vector<std::unique_ptr<Journal>> journals{};  ///< by group
  /// Called in each delivery callback before the journal notes the batch, in on_view after it has
  /// noted the view. To be set before the start.
  std::function<void()> in_delivery{};
  std::function<void()> in_view{};
  std::vector<Group> groups{};
  std::optional<Node> node{};  ///< empty once killed
  std::unique_ptr<Talker> talker{};
  std::optional<std::uint64_t> sent{};
  bool ended = false;
  bool left = false;
};

class TestCluster {
 public:
  using Adjust = std::function<void(std::size_t member, NodeOptions&)>;

  explicit TestCluster(const ClusterOptions& options, const Adjust& adjust = {});
  ~TestCluster();

  /// Starts all nodes, or these; fails the test if one does not.
  void start();
  void start(const std::vector<std::size_t>& members);
  /// Stops all nodes at once and returns what each said.
  std::vector<Result<void>> stop(std::chrono::nanoseconds timeout = kPatience);
  /// A new node in the place of one that was killed, left or was never started; start it then.
  void renew(std::size_t member, const Adjust& adjust = {});
  /// Destroys the node, which says nothing to the others, with what its talker has under way.
  void kill(std::size_t member);
  Result<void> leave(std::size_t member);

  /// In the first group.
  void talk(std::size_t member);
  void talk(const std::vector<std::size_t>& members);
  void hush(std::size_t member);
  void hush();  ///< all of them

  /// Whether all of these are in a view of `members`, no more and no less, and were told of it.
  [[nodiscard]] bool are_in_view_of(const std::vector<std::size_t>& members) const;
  /// Waits until each of them has been delivered so many messages more.
  [[nodiscard]] bool hear_more(const std::vector<std::size_t>& members, std::size_t messages = 100);
  /// Of the first group, of all lives there were; also that nobody who ended well missed anything.
  void expect_one_story();

  Life& life(std::size_t member) { return *now_[member]; }
  Node& node(std::size_t member) { return *life(member).node; }
  Group& group(std::size_t member, std::size_t index = 0) { return life(member).groups[index]; }
  Journal& journal(std::size_t member, std::size_t index = 0) {
    return *life(member).journals[index];
  }
  [[nodiscard]] Deliveries deliveries(std::size_t member, std::size_t index = 0) const;
  [[nodiscard]] std::size_t size() const { return now_.size(); }

 private:
  [[nodiscard]] std::unique_ptr<Life> make(std::size_t member, const Adjust& adjust);

  const ClusterOptions options_;
  std::vector<MemberAddress> addresses_;
  std::vector<std::unique_ptr<Life>> past_;
  std::vector<std::unique_ptr<Life>> now_;  // by member
};

}  // namespace tutti
