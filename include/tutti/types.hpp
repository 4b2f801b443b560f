/// \file types.hpp
/// The small types that every part of the interface shares: ranks, member indexes, sequence
/// numbers, orders, levels.
///
/// Order and level are separate choices: the order says who decides the sequence, the level says
/// when a message of that sequence is handed to the application.
#pragma once
#include <compare>
#include <cstdint>
#include <string_view>

namespace tutti {

/// Position of a member in a view: dense, from 0, the same everywhere. Another view may give the
/// same member another rank.
struct Rank {
  std::uint32_t value = 0;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

/// Position of a member in Group::members(): fixed as long as the group lasts, whatever the view.
/// Group::name_of gives the name.
struct MemberIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const MemberIndex&, const MemberIndex&) = default;
};

/// Position of a message in a group's sequence: 0, 1, 2, ... without gaps, the same at each member.
/// At Level::unordered it counts the messages of one sender instead, as this member delivered them:
/// from 0, through changes of view as long as the sender stays. A member that joined after the
/// sender counts fewer.
struct SeqNo {
  std::uint64_t value = 0;
  friend auto operator<=>(const SeqNo&, const SeqNo&) = default;
};

/// Names one message of one's own: the n-th that this member committed to a group, from 1.
struct Ticket {
  std::uint64_t value = 0;
  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

/// Who decides the sequence.
enum class Order : std::uint8_t {
  none,         ///< nobody: each sender's messages in its order, senders interleaved as they come
  round_robin,  ///< the senders in turn, one message each a round [Spindle, 2.1]
};

/// When a message is handed to the application.
enum class Level : std::uint8_t {
  unordered,  ///< on receipt; goes with Order::none
  agreed,     ///< once every earlier message is here. When members are lost, those that go on pass
              ///< on what one of them has delivered, so they all deliver the same. A member that
              ///< is lost may have delivered more: what other lost members sent to it alone
  atomic,     ///< once every member has it as well: delivered by one means had by all
};

/// Which fabric carries the table between this member and the others.
enum class FabricChoice : std::uint8_t {
  /// Shared memory to members on this host; to others RDMA if both have a device for it that
  /// works, else TCP.
  automatic,
  shm,    ///< shared memory only: all members must be on this host
  tcp,    ///< TCP only, even to members on this host
  verbs,  ///< RDMA only, by NodeOptions::rdma_device, even to members on this host
  ofi,    ///< libfabric only, by NodeOptions::provider, even to members on this host
};

/// Who runs the predicate loop.
enum class Drive : std::uint8_t {
  own_thread,  ///< a thread of the node's own (the default), with one that stands in for it
  caller,      ///< the application, by Node::poll, which says how often
};

/// On which thread messages are delivered.
enum class DeliveryThread : std::uint8_t {
  predicate,  ///< the one that runs the predicate loop: fastest. A slow callback delays the
              ///< deliveries of all groups of this node, until their senders run out of window;
              ///< the node answers the other members meanwhile, from another thread
  own,        ///< a thread of the group's own: a slow callback delays this group alone
};

}  // namespace tutti
