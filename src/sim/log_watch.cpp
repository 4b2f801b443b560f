#include "sim/log_watch.hpp"

#include <algorithm>

#include "multicast/multicast.hpp"
#include "sim/plan.hpp"

namespace tutti::sim {

LogSink* LogWatch::open(std::size_t group, const ViewMember& member, const Net& net) {
  const std::uint64_t seed = seed_ ^ (member.incarnation * 0x9FB21C651E98DF25 + group);
  const auto [log, fresh] = logs_.try_emplace(key(group, member), disk_, net, seed);
  if (mended_) log->second.disk.mend();
  return &log->second.disk;
}

void LogWatch::find(const Key& key, const std::string& what) {
  if (!finding_.empty()) return;
  finding_ = what + ", in the log of " + name_of(std::get<1>(key)) + " of group " +
             std::to_string(std::get<0>(key));
}

// D18.
void LogWatch::compare(const Key& key, std::uint64_t seq, const LogRecord& record) {
  const auto [known, fresh] = sequences_[std::get<0>(key)].try_emplace(seq, record);
  if (!fresh && known->second != record) {
    find(key, "D18: number " + std::to_string(seq) + " is not what others have there");
  }
}

void LogWatch::compare(const Key& key, Log& log) {
  if (const auto seq = log.disk.misplaced()) {
    find(key, "D18: number " + std::to_string(*seq) + " does not go on from the one before");
  }
  for (; log.compared < log.disk.records().size(); ++log.compared) {
    compare(key, log.disk.first() + log.compared, log.disk.records()[log.compared]);
  }
}

void LogWatch::deliver(std::size_t group, const ViewMember& member, const GroupOptions& options,
                       const Message& message, const View& in, const View& newest) {
  const auto own = logs_.find(key(group, member));
  if (own == logs_.end()) return;
  const std::uint64_t seq = message.seq.value;
  compare(own->first, seq, record_of(message));
  own->second.delivered_end = seq + 1;
  if (options.level != Level::durable) return;
  std::uint64_t& durable_end = durable_ends_[group];
  durable_end = std::max(durable_end, seq + 1);
  const std::string who = "number " + std::to_string(seq) + ", which " +
                          name_of(member.slot.value) + " is delivered in view " +
                          std::to_string(newest.id);
  options.durable_quorum ? check_majority(group, seq, in, newest, who)
                         : check_all(group, seq, in, newest, who);
}

// D20.
void LogWatch::check_all(std::size_t group, std::uint64_t seq, const View& in, const View& newest,
                         const std::string& who) {
  for (const ViewMember& other : newest.members) {
    const auto log = logs_.find(key(group, other));
    if (log == logs_.end() || !in.contains(other) || log->second.disk.has_synced(seq)) continue;
    find(log->first, "D20: " + who + ", is not on disk");
  }
}

// A log of a member that joined later begins later, and says so once it has what comes before.
bool LogWatch::has_majority(std::size_t group, std::uint64_t seq, const View& in,
                            const View& view) const {
  std::size_t logs = 0;
  std::size_t have = 0;
  for (const ViewMember& other : view.members) {
    const auto log = logs_.find(key(group, other));
    if (log == logs_.end()) continue;
    ++logs;
    const LogDisk& disk = log->second.disk;
    have += (in.contains(other) ? disk.has_synced(seq) : disk.persisted() > seq) ? 1 : 0;
  }
  return 2 * have > logs;
}

// D24. What was durable in an earlier view stays so, and disks keep what they have (FO2).
void LogWatch::check_majority(std::size_t group, std::uint64_t seq, const View& in,
                              const View& newest, const std::string& who) {
  if (has_majority(group, seq, in, newest)) return;
  for (const auto& [id, view] : views_) {
    if (in.id <= id && id < newest.id && has_majority(group, seq, in, view)) return;
  }
  for (const ViewMember& other : newest.members) {
    const auto log = logs_.find(key(group, other));
    if (log == logs_.end() || log->second.disk.has_synced(seq)) continue;
    find(log->first, "D24: " + who + ", is not on the disks of a majority, for one");
  }
}

// D19.
void LogWatch::look(std::size_t group, const ViewMember& member, std::uint64_t said) {
  const auto own = logs_.find(key(group, member));
  if (own == logs_.end()) return;
  compare(own->first, own->second);
  const std::uint64_t synced = own->second.disk.persisted();
  if (said <= synced) return;
  find(own->first, "D19: everything before number " + std::to_string(said) +
                       " is said to be on disk, where there is what comes before " +
                       std::to_string(synced));
}

void LogWatch::stop(const ViewMember& member) {
  for (auto& [key, log] : logs_) {
    if (!is_of(key, member)) continue;
    compare(key, log);
    if (log.delivered_end == 0 || log.disk.end() >= log.delivered_end) continue;
    find(key, "D18: the member stops in order, and number " + std::to_string(log.disk.end()) +
                  ", which it was delivered, is not there");
  }
}

void LogWatch::gone(const ViewMember& member, bool crashed) {
  for (auto& [key, log] : logs_) {
    if (!is_of(key, member)) continue;
    compare(key, log);
    if (crashed) {
      log.disk.crash();
    } else {
      log.disk.close();
    }
  }
}

void LogWatch::mend() {
  for (auto& [key, log] : logs_) log.disk.mend();
  mended_ = true;
}

std::uint64_t LogWatch::next_ns(const ViewMember& member) const {
  std::uint64_t next_ns = ~0ULL;
  for (const auto& [key, log] : logs_) {
    if (is_of(key, member)) next_ns = std::min(next_ns, log.disk.next_ns());
  }
  return next_ns;
}

bool LogWatch::has_before(std::size_t group, const ViewMember& member, std::uint64_t seq) const {
  const auto log = logs_.find(key(group, member));
  if (log == logs_.end()) return true;
  return log->second.disk.persisted() >= seq;
}

std::string LogWatch::lacks(const ViewMember& member) const {
  for (const auto& [key, log] : logs_) {
    if (!is_of(key, member)) continue;
    const auto durable = durable_ends_.find(std::get<0>(key));
    const std::uint64_t all = durable == durable_ends_.end() ? 0 : durable->second;
    const std::uint64_t end = std::max(all, log.delivered_end);
    if (end == 0 || (log.disk.has_begun() && log.disk.persisted() >= end)) continue;
    return "V8: the log of " + name_of(member.slot.value) + " of group " +
           std::to_string(std::get<0>(key)) + " does not get to number " + std::to_string(end - 1) +
           ", which was delivered";
  }
  return {};
}

}  // namespace tutti::sim
