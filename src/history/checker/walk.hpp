/// \file walk.hpp
/// Walks one member's history, event by event, and tracks the state that its protocol must have
/// been in. One class in several files: walk.cpp calls the others, which are walk_tickets.cpp (D1
/// D2 D3 D8 D10 D12), walk_order.cpp (D6 D7 D9 M8), walk_view.cpp (D3 D13 D14 M8 F1 F3) and
/// walk_acts.cpp (V3 V4 F2 M8).
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "history/checker/run.hpp"
#include "history/checker/timing.hpp"
#include "history/checker/trace.hpp"

namespace tutti::history {

class Walk {
 public:
  Walk(Run& run, Trace& trace, const Timing& timing, std::uint32_t life);

  void see(const Event& event, std::uint64_t index);
  /// After the last event: hands what is left to the trace.
  void end();

 private:
  /// What this member delivered of one sender to one group.
  struct Sender {
    std::uint32_t number = 0;  // in Trace; 0: not heard before
    const std::uint32_t* life = nullptr;
    SendLog* log = nullptr;
    std::uint64_t first = 0;                                    // ticket that it began with
    std::uint64_t next = 0;                                     // ticket expected
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;  // [from, to) that were skipped
    std::uint64_t checked_view = kNever;  // the view for which rank was looked up
    std::uint32_t rank = 0;
  };

  struct InGroup {
    Group* group = nullptr;
    GroupTrace* trace = nullptr;
    FlatMap<Sender> senders;
    Tally tally;
    Ending ending;
    bool began = false;
    std::uint64_t wedged = 0;  // 1 + view
    std::uint64_t cut = 0;     // 1 + view
    std::uint64_t checked_view = kNever;
    std::uint64_t round_view = kNever;
    std::uint64_t tail_view = kNever;         // for which tail was looked up
    bool tail = false;                        // its deliveries of that view are not compared here
    std::uint32_t round = 0, round_rank = 0;  // of the last delivery in round_view
  };

  struct Step {
    const Event& event;
    EventRef ref;
    InGroup& in;
    Sender& sender;
    Sent sent;  // time 0: not known
  };

  InGroup& in_group(std::uint16_t group);
  Sender& sender_of(InGroup& in, const Event& event);
  void add(Property property, EventRef ref, const std::string& what);

  void deliver(const Event& event, std::uint64_t index);
  void deliver_end(const Event& event, std::uint64_t index);
  void tally(const Step& step);
  // walk_tickets.cpp
  void check_ticket(const Step& step);
  void check_gap(const Step& step, std::uint64_t expected);
  void check_sent(const Step& step);
  void send_ok(const Event& event, std::uint64_t index);
  [[nodiscard]] std::uint64_t first_expected(const Step& step) const;
  // walk_order.cpp
  void check_order(const Step& step);
  void check_against(const Step& step, const Entry& entry);
  void check_first(const Step& step);
  void check_round(const Step& step);
  [[nodiscard]] bool in_tail(const Step& step) const;
  [[nodiscard]] std::vector<EventRef> with_other(EventRef ref) const;
  // walk_view.cpp
  void check_in_view(const Step& step);
  void check_members(const Step& step);
  void install(std::uint64_t index);
  void write_landed(const Event& event, std::uint64_t index);
  // walk_acts.cpp
  void check_act(const Event& event, std::uint64_t index);
  void decide(const Event& event, std::uint64_t index);

  Run& run_;
  Trace& trace_;
  const Timing& timing_;
  const std::uint32_t number_;
  const Life& life_;
  std::uint32_t installed_ = 0;           // how many of life_.installs were passed
  const ViewContent* content_ = nullptr;  // of the current view, null if it is not known
  std::uint64_t view_ = kNever;
  std::uint64_t wedged_all_ = 0;    // 1 + the view wedged for all groups
  std::uint64_t decided_ = 0;       // 1 + view
  std::uint64_t removed_ = kNever;  // where it learnt that the next view is without it
  FlatMap<InGroup> groups_;
};

}  // namespace tutti::history
