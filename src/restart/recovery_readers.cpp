// What other nodes are about to fetch from this one's logs, so that it is not released before. That
// spares them a snapshot; one that is not heard any more is not waited for.
#include <algorithm>
#include <limits>

#include "restart/recovery.hpp"

namespace tutti::restart {
namespace {

// A node that joins is heard about each second.
constexpr std::uint32_t kReaderTicks = 15;

}  // namespace

// It will ask for what comes behind its log, if this node still has that.
void Recovery::note_reader(std::uint32_t slot, const Told& told) {
  for (const LogSummary& one : told.logs) {
    const std::optional<std::size_t> log = logs_.find(one.group);
    if (log && handed_[*log] && one.next >= owner_.log_now(*log).whole_from) {
      note_reader(slot, one.group, one.next);
    }
  }
}

void Recovery::note_reader(std::uint32_t slot, const std::string& group, std::uint64_t seq) {
  const std::optional<std::size_t> log = logs_.find(group);
  if (!log) return;
  Reader& reader = readers_[slot];
  reader.ticks = 0;
  reader.from[*log] = seq;
  tell_readers();
}

void Recovery::forget_reader(std::uint32_t slot) {
  if (readers_.erase(slot) != 0) tell_readers();
}

void Recovery::age_readers() {
  for (auto& [slot, reader] : readers_) ++reader.ticks;
  const std::size_t gone =
      std::erase_if(readers_, [](const auto& one) { return one.second.ticks > kReaderTicks; });
  if (gone != 0) tell_readers();
}

void Recovery::tell_readers() {
  for (std::size_t log = 0; log < logs_.size(); ++log) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [slot, reader] : readers_) {
      const auto from = reader.from.find(log);
      if (from != reader.from.end()) least = std::min(least, from->second);
    }
    owner_.keep_from(log, least);
  }
}

}  // namespace tutti::restart
