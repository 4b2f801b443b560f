/// \file run.hpp
/// An index of a run, in which all checks look things up. Made in one pass over all events.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/checker/chunked.hpp"
#include "history/checker/findings.hpp"
#include "history/checker/flat_map.hpp"
#include "history/checker/options.hpp"
#include "history/checker/views.hpp"
#include "history/history.hpp"

namespace tutti::history {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// A message as its sender recorded it, in 20 bytes.
struct Sent {
  static constexpr int kTimeShift = 17;  ///< times in units of 131 us, rounded up

  std::uint32_t length = 0;
  std::uint32_t crc = 0;
  std::uint32_t view = 0;   ///< low 32 bits
  std::uint32_t after = 0;  ///< 1 + the last ordinal its sender had delivered before, low 32 bits
  std::uint32_t wedged : 1 = 0;  ///< recorded after the wedge of that view
  std::uint32_t time : 31 = 0;   ///< since the run began, plus 1; 0: not sent
};

/// What one incarnation sent to one group, by ticket - 1.
struct SendLog {
  std::uint32_t life = 0;
  std::uint64_t count = 0;
  std::uint64_t end = 0;  ///< the largest ticket recorded
  Chunked<Sent> sent;
  std::map<std::uint64_t, std::uint64_t> failed;  ///< ticket -> index of its send_fail
};

/// A group as a whole.
struct Group {
  std::uint16_t id = 0;
  std::optional<Level> level{};
  bool round_robin = false;
  bool one_service = false;
  bool one_number = false;
  bool durable = false;
  std::uint64_t first = 0;
  bool at_run_time = false;
  std::map<std::uint64_t, std::uint64_t> parted{};
  std::uint64_t first_ordinal = kNever;  ///< the lowest with which a member began
  std::uint64_t deliveries = 0;
  [[nodiscard]] bool ordered() const { return level != Level::unordered; }
  [[nodiscard]] bool atomic() const { return level == Level::atomic || level == Level::durable; }
};

/// One incarnation: what its history holds, besides sends and deliveries.
struct Life {
  const History* history = nullptr;
  NodeRef who{};
  std::vector<Installation> installs{};
  std::uint64_t end_ns = 0;                                          ///< of its last event
  std::uint64_t leave = kNever, evicted = kNever, stopped = kNever;  ///< indexes
  bool crashed = false;
  [[nodiscard]] bool gaps() const { return history->lost > 0; }
};

/// (view, group), under which events such as cuts are kept.
using Key = std::pair<std::uint64_t, std::uint16_t>;

class Run {
 public:
  Run(std::span<const History> histories, const CheckOptions& given, Findings& found);

  const CheckOptions& options;
  Findings& findings;
  std::vector<Life> lives;  ///< one per history, in their order; those of harnesses are empty
  std::map<std::uint64_t, View> views;
  std::map<std::uint16_t, Group> groups;
  std::map<Key, std::vector<EventRef>> cuts;
  std::map<std::uint64_t, std::vector<EventRef>> wedges;  ///< by view
  std::map<Key, std::vector<EventRef>> snapshots;
  std::vector<EventRef> suspects, accepts, decides, counts, resources;
  std::vector<EventRef> barriers;  ///< the calls
  std::vector<EventRef> harness;   ///< faults, heals and quiet times, by time
  std::uint64_t begin_ns = kNever, end_ns = 0;

  [[nodiscard]] const Event& event(EventRef ref) const { return findings.event(ref); }
  /// The index in `lives` of a (folded) incarnation; null if it has no history.
  [[nodiscard]] const std::uint32_t* life_of(std::uint16_t node, std::uint32_t folded) const {
    return by_name_.find(name_key(node, folded));
  }
  [[nodiscard]] const std::uint32_t* life_of(NodeRef who) const {
    return life_of(who.node, fold(who.incarnation));
  }
  /// What it sent to the group; null if nothing.
  [[nodiscard]] SendLog* sent_by(std::uint32_t life, std::uint16_t group) const {
    const auto* found = send_logs_.find(std::uint64_t{life} << 16 | group);
    return found != nullptr ? found->get() : nullptr;
  }
  template <class Do>
  void for_each_send_log(Do act) const {
    send_logs_.for_each([&](std::uint64_t key, const std::unique_ptr<SendLog>& log) {
      act(static_cast<std::uint16_t>(key & 0xffff), *log);
    });
  }
  [[nodiscard]] const ViewContent& content(const Installation& install) const {
    return views.at(install.view).variants[install.variant].content;
  }
  /// The members that installed this view and then the next one.
  [[nodiscard]] std::vector<std::uint32_t> survivors(std::uint64_t view) const;
  /// The view that the member had installed last at that event; null before its first one.
  [[nodiscard]] const Installation* installed_at(EventRef ref) const;
  /// That member's installation of the view; null if there is none.
  [[nodiscard]] const Installation* installation(std::uint32_t life, std::uint64_t view) const;
  /// The view as that member installed it; null if it did not, or its history ends amid the list.
  [[nodiscard]] const ViewContent* content_at(std::uint32_t life, std::uint64_t view) const;
  /// Whether it is in the group in that view, which it has installed.
  [[nodiscard]] bool is_in(std::uint32_t life, const Group& group, std::uint64_t view) const;
  /// Whether it must deliver all of that view and go on: it is in the group, then and in the next.
  [[nodiscard]] bool stays_in(std::uint32_t life, const Group& group, std::uint64_t view) const;
  /// The first view in which it is; kNever if there is none.
  [[nodiscard]] std::uint64_t first_view_in(std::uint32_t life, const Group& group) const;
  /// A send's time, rounded up to the unit of kTimeShift.
  [[nodiscard]] std::uint64_t time_of(const Sent& sent) const {
    return begin_ns + (std::uint64_t{sent.time} << Sent::kTimeShift);
  }
  [[nodiscard]] std::string name(std::uint32_t life) const { return lives[life].history->source; }

  static std::uint64_t name_key(std::uint16_t node, std::uint32_t folded) {
    return std::uint64_t{node} << 32 | folded;
  }

 private:
  class Scan;
  void finish();

  FlatMap<std::uint32_t> by_name_;
  FlatMap<std::unique_ptr<SendLog>> send_logs_;
};

}  // namespace tutti::history
