/// \file log_watch.hpp
/// All logs of a world. It compares them with each other and with what applications are delivered
/// (docs/histories.md, D18 to D20, D24, V8): histories do not tell of disks.
/// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "membership/view.hpp"
#include "sim/log_disk.hpp"
#include "sim/options.hpp"
#include "tutti/options.hpp"

namespace tutti::sim {

class LogWatch {
 public:
  LogWatch(const DiskOptions& disk, std::uint64_t seed) : disk_(disk), seed_(seed) {}

  /// A member opens a log for the group, which lives as long as this.
  [[nodiscard]] LogSink* open(std::size_t group, const ViewMember& member, const Net& net);

  /// A member's application is delivered a message of the view `in`, while the newest view of its
  /// protocol is `newest`.
  void deliver(std::size_t group, const ViewMember& member, const GroupOptions& options,
               const Message& message, const View& in, const View& newest);
  /// A member is in that view.
  void enter(const View& view) { views_.try_emplace(view.id, view); }
  /// What the member's row says to be on disk; kAllPersisted if it has no log there.
  void look(std::size_t group, const ViewMember& member, std::uint64_t said);
  /// The member stops in order: its logs have all that it was delivered.
  void stop(const ViewMember& member);
  /// The member's process is no more.
  void gone(const ViewMember& member, bool crashed);
  /// From now on no disk is slow.
  void mend();
  /// When one of the member's logs has more on disk than now.
  [[nodiscard]] std::uint64_t next_ns(const ViewMember& member) const;

  /// The member's log of the group has on disk what comes before that number; or it has none.
  [[nodiscard]] bool has_before(std::size_t group, const ViewMember& member,
                                std::uint64_t seq) const;

  /// V8. At the end, of a member that runs: what is not on its disk that anybody was delivered at
  /// Level::durable, or itself at Level::atomic. Empty if nothing.
  [[nodiscard]] std::string lacks(const ViewMember& member) const;
  /// What was wrong first; empty if nothing.
  [[nodiscard]] const std::string& finding() const { return finding_; }

 private:
  struct Log {
    Log(const DiskOptions& options, const Net& net, std::uint64_t seed)
        : disk(options, net, seed) {}
    LogDisk disk;
    std::size_t compared = 0;         // of its records
    std::uint64_t delivered_end = 0;  // behind the last message that the application was delivered
  };
  // A group, a slot, an incarnation.
  using Key = std::tuple<std::size_t, std::uint32_t, std::uint64_t>;

  [[nodiscard]] static Key key(std::size_t group, const ViewMember& member) {
    return {group, member.slot.value, member.incarnation};
  }
  [[nodiscard]] static bool is_of(const Key& key, const ViewMember& member) {
    return std::get<1>(key) == member.slot.value && std::get<2>(key) == member.incarnation;
  }
  void check_all(std::size_t group, std::uint64_t seq, const View& in, const View& newest,
                 const std::string& who);
  void check_majority(std::size_t group, std::uint64_t seq, const View& in, const View& newest,
                      const std::string& who);
  [[nodiscard]] bool has_majority(std::size_t group, std::uint64_t seq, const View& in,
                                  const View& view) const;
  void compare(const Key& key, Log& log);
  void compare(const Key& key, std::uint64_t seq, const LogRecord& record);
  void find(const Key& key, const std::string& what);

  const DiskOptions disk_;
  const std::uint64_t seed_;
  std::map<Key, Log> logs_;
  std::map<std::size_t, std::map<std::uint64_t, LogRecord>> sequences_;  // by group, by number
  std::map<std::size_t, std::uint64_t> durable_ends_;  // by group: behind the last delivered so
  std::map<std::uint64_t, View> views_;                // by number: that anybody was in
  bool mended_ = false;
  std::string finding_;
};

}  // namespace tutti::sim
