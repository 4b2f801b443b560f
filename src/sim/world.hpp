/// \file world.hpp
/// A simulated cluster: nodes that run the library's protocol objects in virtual time, an
/// application that sends, faults, and then a time without faults in which all members must
/// recover.
///
/// The seed determines all that happens: the same options give the same run, as hash() shows.
/// Threads: one.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "history/history.hpp"
#include "history/make_event.hpp"
#include "sim/delays.hpp"
#include "sim/happening.hpp"
#include "sim/interrupts.hpp"
#include "sim/log_watch.hpp"
#include "sim/member.hpp"
#include "sim/net.hpp"
#include "sim/openings.hpp"
#include "sim/options.hpp"
#include "sim/rounds.hpp"
#include "sim/tick_watch.hpp"
#include "sim/token_watch.hpp"
#include "sim/troubles.hpp"
#include "sim/view_watch.hpp"

namespace tutti::sim {

class World {
 public:
  explicit World(const Options& options);

  /// Runs the whole world: faults, then the time without faults.
  void run();

  /// Histories of all incarnations and of the world itself; valid while the world lives.
  [[nodiscard]] std::vector<history::History> histories() const;
  [[nodiscard]] std::uint64_t hash() const;
  [[nodiscard]] Delays delays() const;
  /// What a member found to be wrong itself; empty if nothing.
  [[nodiscard]] std::string finding() const;
  /// What is not as it should be at the end; empty if all is well.
  [[nodiscard]] std::string unfinished() const;
  [[nodiscard]] std::uint64_t passes() const { return passes_; }
  [[nodiscard]] std::uint64_t suspect_after_ns() const { return options_.suspect_after_ns; }
  [[nodiscard]] std::uint64_t calm_ns() const { return options_.calm_ns; }
  /// What the token needs to go round for all that may be under way (choose_windows), or a message,
  /// its acknowledgement and the space behind it along a chain; 0 if there is no ring.
  [[nodiscard]] std::uint64_t rotations_ns() const {
    return options_.order == Order::round_robin ? 0 : 40 * options_.nodes * one_way_ns();
  }
  [[nodiscard]] const Options& options() const { return options_; }
  /// By the number that they have in the histories.
  [[nodiscard]] const std::vector<GroupOptions>& groups() const { return plan_.rows.groups; }
  [[nodiscard]] const Openings& openings() const { return openings_; }
  /// V3, F2: how long a member may go on after it lost the majority, or after the others went on
  /// without it, not counting its pauses.
  [[nodiscard]] std::uint64_t stop_bound_ns() const;
  /// The longest time that a post takes to arrive, unless its link is cut.
  [[nodiscard]] std::uint64_t flight_ns() const;
  /// The bound of V5; 0 if deliveries may wait for applications.
  [[nodiscard]] std::uint64_t wake_bound_ns() const;
  /// Whether all members end, one after the other, at the end: views go on changing.
  [[nodiscard]] bool all_end() const { return options_.faults.ends; }
  /// Number of the newest view; 0 if all members had to stop.
  [[nodiscard]] std::uint64_t views() const;
  /// How many members died at the run's failpoint.
  [[nodiscard]] std::uint64_t deaths() const { return deaths_; }
  /// How many messages the applications sent.
  [[nodiscard]] std::uint64_t messages() const;

 private:
  struct Node {
    std::unique_ptr<Member> member;  // null: not running
    std::uint64_t paused_until_ns = 0;
    std::uint64_t wake_at_ns = ~0ULL;
    bool left = false;
    bool may_have_created = false;  // one of its incarnations
    bool changing = false;
    bool looks_again = false;  // before it sleeps
    // For a pass that has stopped in the middle:
    std::uint64_t goes_on_at_ns = 0;
    bool woken = false;
    std::size_t work = 0;  // of the last that may stop
    bool turns = false;    // its delivery threads have yet to look
    Progress progress{};
    std::vector<std::uint64_t> peers{};  // by slot: the incarnation it was connected to last
    std::uint64_t decisions = 0;
    bool finishes = false;  // its application does, whatever incarnation it is
    Ending ends = Ending::none;
    std::uint64_t vanished = 0;     // an incarnation; nothing answers for its connections
    bool distrusts = false;         // it ended because of a path
    std::uint64_t doorbell_ns = 0;  // before then no lost doorbell is noted
  };

  void at(std::uint64_t at_ns, What what, std::uint32_t node = 0, std::uint32_t other = 0,
          std::uint64_t which = 0);
  void set_time(std::uint64_t now_ns);
  void wake(std::uint32_t node, std::uint64_t at_ns);
  void note_lost_doorbell(std::uint32_t node, std::uint64_t at_ns);
  void plan_faults();
  void happen_next();
  void happen(const Happening& now);
  void pass(std::uint32_t node);
  void end_pass(std::uint32_t node, std::size_t work);
  void turn(std::uint32_t node);
  void stick(std::uint32_t node);
  [[nodiscard]] Lingered linger(std::uint32_t node);
  void start(std::uint32_t node);
  void attach(std::uint32_t node, std::uint64_t incarnation);
  [[nodiscard]] bool try_attach(std::uint32_t a, std::uint32_t b);
  void meet(const Happening& now);
  void crash(std::uint32_t node, bool secretly);
  void gone(std::uint32_t node, bool told, bool secretly = false);
  void lose(std::uint32_t node, std::uint32_t other, std::uint64_t most_ns, What how = What::lose);
  void lost(const Happening& now);
  [[nodiscard]] static bool decided_since(const Member& member, std::uint64_t since_ns);
  void come_back(std::uint32_t node);
  void pause(std::uint32_t node, std::uint64_t until_ns);
  void cut(std::uint32_t from, std::uint32_t to, std::uint64_t until_ns);
  void mute(std::uint32_t node);
  void flap(std::uint32_t a, std::uint32_t b);
  void stand_still();
  void partition();
  [[nodiscard]] bool dies(Node& node);
  void hit_change(const View& view);
  void cut_off_successor(std::uint32_t node);
  void part_a_newcomer();
  void split_founders(std::uint32_t node);
  void silence(std::uint32_t node);
  void plan_lone();
  void follow_lone(std::uint32_t node);
  void die_alone();
  void hit_decision(std::uint32_t node);
  void break_link(std::uint32_t a, std::uint32_t b);
  void lie(std::uint32_t node);
  void believe_lost(std::uint32_t node, std::uint32_t other);
  void heal();
  // world_interrupts.cpp
  void follow_pass(std::uint32_t node, bool over);
  void stop_for(std::uint32_t node, std::uint64_t ns);
  void go_on(std::uint32_t node);
  void end_passes();
  void stop_for_long(std::uint32_t node);
  [[nodiscard]] bool waits_for_pass(const Happening& now);
  // world_outsiders.cpp
  void plan_outsiders();
  void hush(std::uint32_t node);
  void vanish(std::uint32_t node);
  [[nodiscard]] bool gives_up(std::uint32_t node);
  void mend_paths();
  // world_ends.cpp
  void plan_ends();
  void start_latecomers();
  void end_in_change();
  [[nodiscard]] bool ask_to_end(std::uint32_t node);
  void fall_silent(std::uint32_t node);
  void hang_up(std::uint32_t node, std::uint64_t incarnation);
  void hear_end(const Happening& now);
  [[nodiscard]] std::vector<const Member*> all_members() const;
  [[nodiscard]] const Member& find(const ViewMember& member) const;
  [[nodiscard]] bool was_suspected_before(const Suspicion& suspicion) const;
  [[nodiscard]] std::string lost_for_nothing(const Member& member) const;
  [[nodiscard]] std::string lacks_something(const Member& member) const;
  [[nodiscard]] std::string wrong_end(const Member& member) const;
  [[nodiscard]] std::string unended() const;
  void record_core();
  [[nodiscard]] std::string died_in_calm() const;
  [[nodiscard]] std::string unmet_wishes() const;
  // world_minority.cpp
  void record_minorities();
  void record_minorities(Member& member, std::uint64_t gone_ns);
  void record_minorities(const Member& member, const View& view, Troubles::Span begins_in,
                         std::uint64_t to_ns);
  [[nodiscard]] Troubles::Spans silences(const ViewMember& of, const Member& listener) const;
  void begin_quiet();
  void end_quiet();
  void end_ticks();
  [[nodiscard]] std::vector<std::uint32_t> running() const;
  static constexpr std::uint32_t kAnyNode = ~0U;
  [[nodiscard]] std::uint32_t some_node();
  [[nodiscard]] std::uint32_t one(std::uint32_t node);  // that one, or any
  [[nodiscard]] std::uint64_t soon(std::uint64_t most_ns);
  // See sim/delays.hpp. Where the network promises no order, words wait until the data and the
  // frame posted before them are known to have landed, and then the data that they guard.
  [[nodiscard]] std::uint64_t one_way_ns() const {
    const NetOptions& net = options_.net;
    const std::uint64_t trips = net.ordering == Ordering::writes ? 1 : 3 * 2 + 1;
    const std::uint64_t pass_ns = options_.step_ns + options_.interrupts.most_ns;
    return trips * (net.delay_ns + net.jitter_ns + net.landing_ns + 2 * pass_ns);
  }
  [[nodiscard]] Member* member(std::uint32_t node) const { return nodes_[node].member.get(); }
  void record(const history::Event& event);

  const Options options_;
  Rounds rounds_;
  TokenWatch tokens_;
  TickWatch ticks_;
  LogWatch logs_;
  ViewWatch views_;
  Openings openings_;
  const Plan plan_;
  Prng random_;
  Prng rare_random_;
  Troubles troubles_;
  Net net_;
  Happenings queue_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Member>> gone_;  // their histories and rows stay
  std::vector<bool> crashed_;                  // of gone_
  std::vector<std::uint64_t> gone_ns_;         // likewise
  Interrupts interrupts_;                      // of passes of these members: ends before them
  std::unique_ptr<history::Recorder> recorder_;
  Disturbances disturbances_;
  // Pairs whose connection broke as both were complete, until they are connected again.
  std::set<std::pair<std::uint32_t, std::uint32_t>> apart_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t passes_ = 0;
  std::uint32_t hits_left_ = 0;              // of faults in changes of view
  std::uint32_t newcomers_left_ = 0;         // to lose another
  std::uint32_t successors_left_ = 0;        // to be cut off
  std::uint32_t splits_left_ = 0;            // of those who found
  std::optional<std::uint64_t> core_ns_{};   // a group was there, and all was healed
  std::uint32_t cut_off_leader_ = kAnyNode;  // the last leader that was cut off so
  std::uint32_t failpoint_after_ = 0;        // so many pass it yet
  std::uint32_t failpoint_left_ = 0;         // and so many die there then
  std::uint32_t hushes_left_ = 0;            // of those in no view
  std::uint32_t lingers_left_ = 0;
  std::uint32_t lingering_ = kAnyNode;     // in a callback
  std::uint32_t lone_ = kAnyNode;          // is about to let others in, and to die
  std::vector<std::uint32_t> latecomers_;  // nodes that join once all is complete, or one is left
  std::uint32_t long_stops_ = 0;           // of passes, that are due
  std::uint32_t mid_deaths_ = 0;           // in passes, likewise
  std::uint64_t deaths_ = 0;               // that did
  bool founded_ = false;                   // somebody was in a view
  bool calm_ = false;
  std::vector<std::uint64_t> posts_before_quiet_;  // of data, by node; empty: it is not quiet
  std::uint64_t quiet_view_ = 0;
  std::string lacks_ticks_;
};

}  // namespace tutti::sim
