#include "cli/perf/takers.hpp"

#include <cstddef>

namespace tutti::cli {
namespace {

void take_in_calls(Served of) {
  for (;;) {
    const Result<Batch> batch = of.group.take(kDeliveryBatchMax, std::chrono::seconds(1));
    if (batch) {
      of.receiver->deliver(batch->messages());
    } else if (batch.error().code != ErrorCode::timed_out) {
      return;
    }
  }
}

}  // namespace

bool Served::take() {
  const Result<Batch> batch = group.take();
  if (batch && !batch->empty()) receiver->deliver(batch->messages());
  return batch.has_value();
}

Result<Takers> Takers::start(Taking taking, const std::vector<Group>& groups,
                             std::deque<Receiver>& receivers) {
  std::vector<Served> all;
  if (taking == Taking::none) return Takers({});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    all.push_back({.group = groups[i], .receiver = &receivers[i]});
    if (taking == Taking::in_calls) continue;
    const Result<int> readable = all.back().group.event_fd();
    if (!readable) return std::unexpected(readable.error());
    all.back().readable = *readable;
  }
  std::vector<std::jthread> threads;
  if (taking == Taking::in_calls) {
    for (Served& one : all) threads.emplace_back(take_in_calls, std::move(one));
  } else {
    Result<std::jthread> loop = taking == Taking::with_epoll ? serve_with_epoll(std::move(all))
                                                             : serve_with_asio(std::move(all));
    if (!loop) return std::unexpected(std::move(loop.error()));
    threads.push_back(std::move(*loop));
  }
  return Takers(std::move(threads));
}

}  // namespace tutti::cli
