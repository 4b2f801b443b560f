/// \file member.hpp
/// One incarnation of a node in the simulated world: the library's own membership, groups and
/// predicate loop over simulated memory, an application that sends and checks what it gets, and the
/// history of all that.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "history/recorder.hpp"
#include "membership/membership.hpp"
#include "membership/state_transfer.hpp"
#include "predicates/predicate_loop.hpp"
#include "sim/failpoints.hpp"
#include "sim/memory.hpp"
#include "sim/net.hpp"
#include "sim/row.hpp"

namespace tutti::sim {

/// What all nodes of a world have in common.
struct Plan {
  std::vector<std::string> nodes;    ///< names by slot
  std::vector<GroupOptions> groups;  ///< resolved
  ViewWords words;
  StateWords state_words{};
  std::vector<RowLayout> layouts;  ///< by slot
  std::size_t row_bytes = 0;       ///< the largest
  std::uint64_t heartbeat_ns = 0;
  std::uint64_t suspect_after_ns = 0;
  std::uint32_t founders = 0;
  std::uint64_t found_after_ns = 0;
};

class Member final : public MembershipEvents {
 public:
  Member(const Plan& plan, ViewMember self, bool may_found, Net& net, std::uint64_t seed);

  /// One pass. Returns how much was done.
  std::size_t pass();

  /// The application sends to one of its groups if there is space.
  void send();
  void leave();

  [[nodiscard]] bool was_removed(std::uint64_t incarnation) const {
    return membership_->was_removed(incarnation);
  }
  void lost(std::uint32_t slot);
  void connected(std::uint32_t slot, std::uint64_t incarnation);

  [[nodiscard]] const ViewMember& self() const { return self_; }
  [[nodiscard]] const std::string& name() const { return plan_.nodes[self_.slot]; }
  [[nodiscard]] const View& view() const { return membership_->view(); }
  [[nodiscard]] bool changing() const { return membership_->changing(); }
  [[nodiscard]] bool drained() const { return fabric_->drained(); }
  [[nodiscard]] std::optional<StopReason> stopped() const;
  [[nodiscard]] std::uint64_t next_step_ns() const { return membership_->next_step_ns(); }
  /// All that it sent has been delivered here.
  [[nodiscard]] bool idle() const;
  /// How many decisions it has made or heard of.
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  [[nodiscard]] std::optional<std::uint64_t> asked_to_leave_ns() const { return leave_ns_; }
  /// When it learned last that it is connected to the other.
  [[nodiscard]] std::optional<std::uint64_t> connected_ns(const ViewMember& other) const;
  [[nodiscard]] Progress progress();
  /// It suspected somebody, ever.
  [[nodiscard]] bool suspected_any() const { return suspicions_ != 0; }
  [[nodiscard]] std::uint64_t messages_sent() const;
  [[nodiscard]] const history::Recorder& recorder() const { return *recorder_; }
  /// Of the events so far.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  /// What is wrong with what it was given; empty if nothing.
  [[nodiscard]] const std::string& finding() const { return finding_; }

 private:
  // The application's: a digest of all that was delivered, and how much that was.
  struct State {
    std::uint64_t digest = 0;
    std::uint64_t messages = 0;
  };
  struct Connection {
    ViewMember to;
    std::uint64_t at_ns;
  };
  struct Seat {
    std::unique_ptr<Subgroup<Memory>> subgroup;
    std::uint64_t sent = 0;       // messages
    std::uint64_t delivered = 0;  // own, of them
    State state{};
  };

  void suspected(const ViewMember& member) override;
  void wedged(const View& view) override;
  void decided(const Proposal& proposal) override;
  void installed(const View& view, const View& before) override;
  void stopped(StopReason reason) override;
  void removed(const ViewMember& member) override;
  [[nodiscard]] Result<void> save(std::uint16_t group, const StateSink& write);
  [[nodiscard]] Result<void> load(std::uint16_t group, const StatePiece& piece);
  [[nodiscard]] bool at_cut();
  void deliver(std::uint16_t group, std::span<const Message> batch);
  void record(const history::Event& event);
  [[nodiscard]] history::Event event(history::EventKind kind) const;
  [[nodiscard]] std::uint64_t view_id() const { return membership_ ? view().id : 0; }

  const Plan& plan_;
  const ViewMember self_;
  Net& net_;
  Prng random_;
  std::unique_ptr<history::Recorder> recorder_;
  Row row_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::uint64_t> connected_;  // by slot: the incarnation there, the last one
  std::vector<Seat> seats_;
  std::unique_ptr<Membership<Memory>> membership_;
  std::unique_ptr<StateTransfer<Memory>> states_;
  std::vector<std::byte> loaded_;  // of a state, so far
  std::unique_ptr<PredicateLoop> loop_;
  std::vector<Proposal> cuts_;  // the one decided last
  std::uint64_t hash_ = 0;
  std::string finding_;
  std::uint64_t decisions_ = 0;
  std::uint64_t suspicions_ = 0;
  std::optional<std::uint64_t> leave_ns_;
  std::vector<Connection> connections_;
};

[[nodiscard]] Plan make_plan(std::uint32_t nodes, std::vector<GroupOptions> groups);

}  // namespace tutti::sim
