#include "tutti/dds/wait_set.hpp"

#include <poll.h>

#include <algorithm>

#include "dds/reader_core.hpp"
#include "dds/waiting.hpp"

namespace tutti::dds {

namespace {

constexpr std::chrono::milliseconds kLookForEnds{100};  // nobody tells that a node has ended

}  // namespace

void WaitSet::add(UntypedReader& reader) { readers_.emplace_back(reader.core_); }

Result<void> WaitSet::wait(Timeout timeout) {
  const auto deadline = deadline_in(timeout);
  while (true) {
    std::vector<std::shared_ptr<ReaderCore>> readers;
    std::vector<pollfd> waits;
    for (const auto& each : readers_) {
      const std::shared_ptr<ReaderCore> reader = each.lock();
      if (reader == nullptr) continue;
      if (Result<void> may = reader->bundle().group().may_wait("WaitSet::wait"); !may) return may;
      const Result<int> descriptor = reader->event_fd();
      if (!descriptor) return std::unexpected(descriptor.error());
      waits.push_back({.fd = *descriptor, .events = POLLIN, .revents = 0});
      readers.push_back(reader);
    }
    if (readers.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "WaitSet::wait: the set has no reader that is still there; add one");
    }
    const auto is_ready = [](const auto& reader) { return reader->is_ready_or_armed(); };
    if (std::ranges::any_of(readers, is_ready)) return {};
    const auto left = time_until(deadline);
    if (left.count() == 0) {
      return fail(ErrorCode::timed_out,
                  "WaitSet::wait: no reader got a sample before the deadline");
    }
    const auto longest = std::min<std::chrono::nanoseconds>(left, kLookForEnds);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    static_cast<void>(::poll(waits.data(), waits.size(), static_cast<int>(ms)));
  }
}

}  // namespace tutti::dds
