/// \file members.hpp
/// For the bootstrap tests: members as threads on loopback addresses of this process's own, and a
/// hand-driven client that says whatever a test wants.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "fabric/segment.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/bootstrap/hello.hpp"
#include "support/loopback.hpp"

namespace tutti {

/// One member that can be started in a thread.
class TestMember {
 public:
  TestMember(const std::vector<MemberAddress>& members, std::size_t rank);

  void start();
  /// Waits for the end of meet().
  Result<Cluster>& result();
  /// The error's text, "met" if there was none.
  std::string outcome();
  /// All that was logged at a level so far.
  std::vector<std::string> logged(LogLevel level);

  NodeOptions node;
  std::vector<GroupOptions> groups;
  std::chrono::nanoseconds silence_limit = std::chrono::seconds(60);
  Segment row;
  UniqueFd doorbell;

 private:
  std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> log_;
  Result<Cluster> result_;
  std::jthread thread_;
};

/// Speaks to a member byte by byte, blocking.
class RawClient {
 public:
  /// Tries until the member listens.
  explicit RawClient(const std::string& address);
  void send(std::string_view bytes);
  /// Exactly that many, fewer only if the connection ends.
  std::string receive(std::size_t count);
  /// The member's hello; empty if it is none.
  Result<Hello> receive_hello();
  /// "" for an agreement, else the text.
  std::string receive_verdict();
  /// Reads until the member closes.
  void wait_for_close();
  void close() { socket_ = UniqueFd(); }

 private:
  UniqueFd socket_;
};

/// Starts `count` members with one group "log", each changed by `change(member, rank)` before.
template <class Change>
std::vector<std::unique_ptr<TestMember>> start_members(std::size_t count, const Change& change) {
  const std::vector<MemberAddress> addresses = loopback_members(count);
  std::vector<std::unique_ptr<TestMember>> members;
  for (std::size_t rank = 0; rank < count; ++rank) {
    members.push_back(std::make_unique<TestMember>(addresses, rank));
    change(*members.back(), rank);
  }
  for (auto& member : members) {
    member->start();
    // The first listens before the others come: none can fail and be gone before it is there.
    if (member == members.front() && count > 1) RawClient(member->node.members[0].address).close();
  }
  return members;
}

/// What `member`, as set up, would say. For RawClient.
[[nodiscard]] Hello hello_of(const TestMember& member, std::uint64_t incarnation);

}  // namespace tutti
