/// \file story.hpp
/// Makes histories of runs that are right, step by step, as a simple reference of what members may
/// do; tests then spoil them. A "life" is one incarnation; lives are numbered from 0, and one more
/// is the harness.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history/checker/check.hpp"
#include "history/make_event.hpp"

namespace tutti::history::testing {

using LifeId = std::size_t;

class Story {
 public:
  static constexpr std::uint64_t kMs = 1'000'000;

  struct Life {
    history::Identity identity{};
    std::vector<Event> events{};
    bool crashed = false;
    std::uint64_t first_view = 0;
  };
  struct Message {
    LifeId sender = 0;
    std::uint64_t ticket = 0;
    std::uint64_t ordinal = 0;
    std::uint32_t length = 0;
    std::uint32_t crc = 0;
    std::uint64_t sent_view = 0;
    std::uint64_t round = 0;
  };
  struct Change {
    std::vector<LifeId> joins{}, leaves{}, fails{};
  };

  Story();

  // What happens. Each step takes a millisecond.
  LifeId begin(const std::string& name, std::uint16_t node);
  /// `members`: lives; empty: all.
  void add_group(std::uint16_t id, Level level, std::vector<LifeId> members = {});
  void first_view(const std::vector<LifeId>& members);
  void change_view(const Change& change);
  std::uint64_t send(LifeId life, std::uint16_t id);
  /// Puts the oldest message of that sender that has no place yet into the group's sequence.
  bool order(std::uint16_t id, LifeId sender);
  /// The next message of the group, or of `sender` where there is no order; false if there is none.
  bool deliver(LifeId life, std::uint16_t id, LifeId sender = 0);
  /// All that was sent is delivered by all.
  void settle();
  /// Delivers one message of its own that nobody else has.
  void deliver_tail(LifeId life, std::uint16_t id);
  void heal();
  void fault(EventKind kind, history::FaultKind fault, std::uint16_t node);
  void note(LifeId life, Event event);
  void note_harness(const Event& event) { note(kHarness, event); }
  void wait(std::uint64_t ms) { now_ns += ms * kMs; }
  [[nodiscard]] history::At at(std::uint16_t group = 0) const {
    return {.view = view, .time_ns = now_ns, .group = group};
  }
  [[nodiscard]] history::NodeRef ref(LifeId life) const {
    return {lives[life].identity.node, lives[life].identity.incarnation};
  }

  // Spoiling.
  /// Where the n-th event of a kind is in a life's history; from the end if n < 0.
  [[nodiscard]] std::size_t find(LifeId life, EventKind kind, int nth = 0,
                                 std::optional<std::uint16_t> group = {}) const;
  Event& get(LifeId life, EventKind kind, int nth = 0, std::optional<std::uint16_t> group = {}) {
    return lives[life].events[find(life, kind, nth, group)];
  }
  void erase(LifeId life, std::size_t index);
  /// As an event of that life, at the time of the one that stands before.
  void insert(LifeId life, std::size_t index, Event event);
  void move(LifeId life, std::size_t from, std::size_t to);
  void erase_all(LifeId life, EventKind kind, std::optional<std::uint16_t> group = {});

  [[nodiscard]] history::Report check() const;

  static constexpr LifeId kHarness = 0;
  std::vector<Life> lives;
  std::vector<LifeId> present;  ///< in the current view, in rank order
  history::CheckOptions options;
  std::uint64_t now_ns = kMs;
  std::uint64_t view = 0;

 private:
  struct Group {
    Level level = Level::atomic;
    std::vector<LifeId> members;                             // empty: all
    std::vector<Message> sequence;                           // by ordinal
    std::map<LifeId, std::deque<Message>> waiting;           // sent, without a place
    std::map<LifeId, std::vector<Message>> sent;             // all, for those without an order
    std::map<LifeId, std::size_t> next;                      // ordinal, per life
    std::map<std::pair<LifeId, LifeId>, std::size_t> heard;  // receiver, sender
    std::uint64_t round = 0;
    std::optional<std::size_t> last_rank;
  };

  [[nodiscard]] bool is_member(const Group& group, LifeId life) const;
  [[nodiscard]] std::vector<LifeId> members_of(const Group& group) const;
  [[nodiscard]] std::size_t rank(const Group& group, LifeId life) const;
  void note_delivery(LifeId life, std::uint16_t id, const Message& message);
  void install(const Change& change, const std::vector<LifeId>& before);
  void close(const Change& change, const std::vector<LifeId>& staying);

  std::map<std::uint16_t, Group> groups_;
};

/// Five nodes, five views, all levels, joins, a crash, a member cut off, a leave, a return, faults,
/// quiet: the story that hand-made bad histories are made from. See story.cpp.
Story good_story();
inline constexpr LifeId kA = 1, kB = 2, kC = 3, kE = 4, kD = 5, kC2 = 6;
inline constexpr std::uint16_t kAtomic = 0, kAgreed = 1, kUnordered = 2, kSome = 3;

/// A random story that is right.
Story random_story(std::uint64_t seed);

}  // namespace tutti::history::testing
