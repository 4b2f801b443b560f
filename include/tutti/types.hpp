/// \file types.hpp
/// The small types that every part of the interface shares: ranks, member indexes, sequence
/// numbers, orders, levels.
///
/// Order and level are separate choices: the order defines the sequence of messages, the level says
/// when a member delivers a message of that sequence.
#pragma once
#include <compare>
#include <cstdint>
#include <string_view>

namespace tutti {

/// Index of a member in a view: dense, from 0, the same at all members. Another view may give the
/// same member another rank.
struct Rank {
  std::uint32_t value = 0;
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

/// Index of a member in Group::members(): fixed as long as the group lasts, in all views.
/// Group::name_of gives the name.
struct MemberIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(const MemberIndex&, const MemberIndex&) = default;
};

/// Number of a message in a group's sequence: 0, 1, 2, ... without gaps, the same at each member.
/// At Level::unordered it counts the messages of one sender instead, as this member delivers them:
/// from 0, across changes of view as long as the sender stays. A member that joined after the
/// sender counts fewer.
struct SeqNo {
  std::uint64_t value = 0;
  friend auto operator<=>(const SeqNo&, const SeqNo&) = default;
};

/// Names one of this member's own messages: the n-th that it committed to a group, from 1.
struct Ticket {
  std::uint64_t value = 0;
  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

/// What defines the sequence.
enum class Order : std::uint8_t {
  none,         ///< each sender's messages in its order; members may interleave senders differently
  round_robin,  ///< the senders in turn, one message each in a round [Spindle, 2.1]
  /// The member that holds the token, which goes round the members: with accelerated_window 0
  /// Totem's ring, with more the Accelerated Ring [Accelerated Ring, III]. Level::atomic is safe
  /// delivery.
  token_ring,
  /// The senders in turn, as with round_robin, but each member hands all messages to the member
  /// behind it: no link carries a message twice, whoever sends [LCR, 4]. Goes with Level::atomic.
  lcr,
};

/// When a member delivers a message to its application.
enum class Level : std::uint8_t {
  unordered,  ///< on receipt; goes with Order::none
  agreed,     ///< once all earlier messages have arrived here. When members are lost, the survivors
              ///< pass on what any of them has received, so they all deliver the same. A lost
              ///< member may have delivered more: what other lost members sent to it alone
  atomic,     ///< once every member has it as well: if any member delivers it, all have received it
  durable,    ///< as atomic, and once it is in the log, on disk (GroupOptions::logged), of every
              ///< member that was in the view it was sent in and is in the newest one. A member
              ///< that leaves is not delivered what was not durable yet when its last view ended.
              ///< With GroupOptions::durable_quorum a majority of the newest view is enough
};

/// What the sender of one message asks for.
enum class Service : std::uint8_t {
  of_level,  ///< what Level says
  /// As at Level::atomic: a member delivers the message once every member has it. Later messages of
  /// the sequence wait for it. For groups with Order::token_ring at Level::agreed; at Level::atomic
  /// it is what every message gets [Accelerated Ring, II].
  safe,
};

/// Which fabric carries the table between this member and the others.
enum class FabricChoice : std::uint8_t {
  /// Shared memory to members on this host; to others RDMA if both have a working device for it,
  /// else TCP.
  automatic,
  shm,    ///< shared memory only: all members must be on this host
  tcp,    ///< TCP only, even to members on this host
  verbs,  ///< RDMA only, by NodeOptions::rdma_device, even to members on this host
  ofi,    ///< libfabric only, by NodeOptions::provider, even to members on this host
};

/// Which thread runs the predicate loop.
enum class Drive : std::uint8_t {
  own_thread,  ///< a thread of the node (the default), and a stand-in while that is in a callback
  caller,      ///< a thread of the application, in Node::poll, which says how often
};

/// On which thread messages are delivered.
enum class DeliveryThread : std::uint8_t {
  predicate,  ///< the thread that runs the predicate loop: fastest. A slow callback delays the
              ///< deliveries of all groups of this node, until their senders run out of window;
              ///< the node answers the other members meanwhile, from another thread
  own,        ///< a thread for this group: a slow callback delays this group alone
  /// Whichever thread of the application takes batches (Group::take); there is no callback. While
  /// the application takes nothing, the group waits, once its senders are out of window
  /// (batch.hpp).
  application,
};

}  // namespace tutti
