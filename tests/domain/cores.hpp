/// \file cores.hpp
/// What stands behind Node and Group in this program: members of a simulated cluster, in the place
/// of src/node. The public interface above them and all of src/dds are the library's own.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/group.hpp"
#include "tutti/node.hpp"
#include "tutti/options.hpp"

namespace tutti::domain {
class Cluster;
struct Delivery;
struct GroupLog;
}  // namespace tutti::domain

namespace tutti {

/// A member of the cluster, from Node::create until the Node is destroyed.
class NodeCore {
 public:
  NodeCore(domain::Cluster& in, MemberIndex index) : cluster(in), own(index) {}

  [[nodiscard]] bool runs() const { return started && !over; }
  /// It is in a view, so that it delivers and sends.
  [[nodiscard]] bool is_in_view() const { return runs() && entered > 0; }

  domain::Cluster& cluster;
  const MemberIndex own;
  std::string name{};
  std::string state_dir{};
  std::uint64_t incarnation = 0;
  std::vector<std::shared_ptr<GroupCore>> groups{};
  ViewCallback watcher{};
  bool started = false;
  bool over = false;        // it has crashed, or left
  std::size_t entered = 0;  // views, of all that there have been; 0: none yet
};

/// A group at a member: what the member has sent that has no place in the sequence yet, how far it
/// has delivered, and who waits for what.
class GroupCore {
 public:
  GroupCore(NodeCore& at, std::size_t which, GroupOptions with,
            IndexedBy<MemberIndex, std::string> all);
  ~GroupCore();
  GroupCore(const GroupCore&) = delete;
  GroupCore& operator=(const GroupCore&) = delete;

  [[nodiscard]] bool is_ordered() const { return options.order != Order::none; }
  [[nodiscard]] bool is_member() const { return own.value < members.size(); }
  [[nodiscard]] bool is_sender() const;
  [[nodiscard]] bool has_space();
  /// A batch is being delivered: its callback has not returned.
  [[nodiscard]] bool is_delivering() const;
  /// Of a stream: messages whose delivery here has ended.
  [[nodiscard]] std::uint64_t delivered_of(std::size_t stream) const;
  [[nodiscard]] bool is_delivered(Ticket ticket) const {
    return ticket.value != 0 && ticket.value <= delivered;
  }
  /// ok, or why there is no space.
  [[nodiscard]] ClaimOutcome may_claim(std::uint32_t size);
  [[nodiscard]] Claim try_claim(std::uint32_t size);
  [[nodiscard]] Ticket commit_own(Claim& claim);
  void abandon(Claim& claim);
  [[nodiscard]] Error why_none(ClaimOutcome outcome) const;
  /// As Group::intact. The others may use the space again just after it was asked.
  [[nodiscard]] bool is_intact();
  /// Calls a handler that may be called now. False: there is none.
  bool call_handler();

  enum class SlotState : std::uint8_t { open, committed, abandoned };
  struct Slot {
    std::vector<std::byte> bytes{};
    SlotState state = SlotState::open;
  };
  struct Placed {
    std::uint64_t ticket = 0;
    std::size_t stream = 0;
    std::uint64_t position = 0;
  };

  NodeCore& node;
  const std::size_t number;
  GroupOptions options;
  const IndexedBy<MemberIndex, std::string> members;
  MemberIndex own{};
  std::uint64_t window = 4;                      // messages
  std::deque<Slot> outbox{};                     // without a place yet
  std::uint64_t first_in_outbox = 1;             // ticket
  std::uint64_t delivered = 0;                   // tickets
  std::deque<Placed> unreleased{};               // with a place, and not delivered by all
  std::vector<std::uint64_t> at{};               // by stream: messages that were handed on here
  std::unique_ptr<domain::Delivery> delivery{};  // with DeliveryThread::own, once it has delivered
  // The others have gone on without this member, and use the space of the batch that it is handed
  // again, once it has asked so often whether it is intact.
  std::optional<std::uint64_t> overwritten_after{};
  bool overwritten = false;                 // that has happened
  std::unique_ptr<domain::GroupLog> log{};  // of a group that is logged, once it is in a view
  std::deque<std::pair<std::uint32_t, SpaceHandler>> wait_for_space{};
  std::deque<std::pair<Ticket, DeliveredHandler>> wait_for_delivery{};
};

}  // namespace tutti
