/// \file link_nodes.hpp
/// For the tests of restart links: nodes that have a bootstrap and links, on a thread of their own,
/// and hand-driven callers that ask for a link.
#pragma once
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "members.hpp"
#include "node/bootstrap/link_request.hpp"
#include "node/restart/links.hpp"

namespace tutti {

inline std::vector<std::byte> message_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// One node's links. What happens to a slot is a list of "up", "down", and what came.
class LinkNode : public RestartLinkEvents {
 public:
  LinkNode(const std::vector<MemberAddress>& addresses, std::size_t slot)
      : member(addresses, slot) {
    member.take_link = [this](LinkCall call) { links().take(std::move(call)); };
  }
  ~LinkNode() override { stop(); }

  /// As a new process, with a bootstrap.
  void start() {
    start_links();
    member.start();
  }
  void start_links() {
    process_ = std::make_unique<Process>(member.node, *this);
    process_->thread = std::thread([this] { process_->context.run(); });
    on_thread([this] { process_->links.start(); });
  }

  void stop() {
    member.stop();
    if (process_ == nullptr) return;
    process_->context.stop();
    process_->thread.join();
    process_.reset();
    const std::lock_guard lock(mutex_);
    events_.clear();
  }

  /// Done on the thread of the links when it returns.
  void on_thread(const std::function<void()>& what) {
    std::promise<void> done;
    asio::post(process_->context, [&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }

  void send(std::uint32_t slot, std::string_view text) {
    on_thread([&] { links().send(slot, message_of(text)); });
  }

  void close() {
    on_thread([this] { links().close(); });
  }

  /// The oldest event of that slot that was not asked for yet; waits for it.
  std::string next(std::uint32_t slot) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !events_[slot].empty(); });
    std::string event = std::move(events_[slot].front());
    events_[slot].pop_front();
    return event;
  }

  /// Events that were not asked for.
  std::size_t left(std::uint32_t slot) {
    const std::lock_guard lock(mutex_);
    return events_[slot].size();
  }

  /// Waits until trouble() of that slot says so.
  void await_trouble(std::uint32_t slot, const std::string& part) {
    while (links().trouble(slot).find(part) == std::string::npos) std::this_thread::yield();
  }

  [[nodiscard]] RestartLinks& links() { return process_->links; }

  TestMember member;
  /// Called with each event, on the thread of the links.
  std::function<void(std::uint32_t slot, const std::string& event)> also{};

 private:
  struct Process {
    Process(const NodeOptions& node, RestartLinkEvents& events) : links(context, node, events) {}
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    RestartLinks links;
    std::thread thread{};
  };

  void happened(std::uint32_t slot, std::string event) {
    if (also) also(slot, event);
    const std::lock_guard lock(mutex_);
    events_[slot].push_back(std::move(event));
    changed_.notify_all();
  }
  void up(std::uint32_t slot) override { happened(slot, "up"); }
  void down(std::uint32_t slot) override { happened(slot, "down"); }
  void received(std::uint32_t slot, std::span<const std::byte> bytes) override {
    happened(slot, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, std::deque<std::string>> events_;
  std::unique_ptr<Process> process_;
};

/// A frame as it goes over a link.
inline std::string link_frame(std::string_view text) {
  std::string frame;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    frame.push_back(static_cast<char>((text.size() >> shift) & 0xffU));
  }
  return frame.append(text);
}

/// Calls at that address and asks for a link; the answer is yet to be read.
inline RawPeer ask_for_link(const std::string& address, const LinkRequest& request) {
  RawPeer caller(address);
  EXPECT_TRUE(caller.receive_hello());
  caller.send(encode_link_request(request));
  return caller;
}

}  // namespace tutti
