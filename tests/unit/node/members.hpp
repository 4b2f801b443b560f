/// \file members.hpp
/// For the bootstrap tests: members on loopback addresses of this process's own, and hand-driven
/// peers that say whatever a test wants.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "fabric/segment.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/bootstrap/hello.hpp"
#include "support/loopback.hpp"

namespace tutti {

/// What connects with the other, if it is of this kind; else null.
template <class Kind>
[[nodiscard]] const Kind* made_by(const Arrival& arrival) {
  const auto* made = dynamic_cast<const ConnectionOf<Kind>*>(arrival.connection.get());
  return made == nullptr ? nullptr : &made->made;
}

/// One member: its bootstrap, and what stands for its node behind it.
class TestMember {
 public:
  TestMember(const std::vector<MemberAddress>& members, std::size_t slot);
  ~TestMember() { stop(); }

  /// Opens the bootstrap, each time as a new incarnation.
  [[nodiscard]] Result<void> try_start();
  /// The same; an error is a failure of the test.
  void start();
  /// Closes the bootstrap and all connections.
  void stop();

  /// Takes what has come. A second connection for one slot is a failure of the test (HS1).
  void collect();
  /// The connection with that slot, if it has come.
  [[nodiscard]] const Arrival* connection(std::uint32_t slot) const;
  /// Whether its other end is still open.
  [[nodiscard]] bool alive(std::uint32_t slot) const;
  /// Waits for it.
  const Arrival& await(std::uint32_t slot);
  /// Waits until every other is connected, then "met"; or until the start fails, then why.
  std::string outcome();
  /// Waits for the failure.
  Error await_failure();
  /// Closes the connection and lets the next one come.
  void release(std::uint32_t slot);

  /// Waits until awaited() says so.
  void await_trouble(const std::string& part);
  /// Waits until something like it was logged.
  void await_log(LogLevel level, const std::string& part);
  /// All that was logged at a level so far.
  [[nodiscard]] std::vector<std::string> logged(LogLevel level);

  [[nodiscard]] Bootstrap& bootstrap() const { return *bootstrap_; }
  /// Its groups as it joins them.
  [[nodiscard]] std::vector<GroupOptions> resolved() const;
  /// As make_carriers() makes them; none is opened.
  [[nodiscard]] std::vector<std::unique_ptr<Carrier>> carriers() const;
  [[nodiscard]] bool started() const { return bootstrap_ != nullptr; }

  NodeOptions node;
  std::vector<GroupOptions> groups;
  std::chrono::nanoseconds silence_limit = std::chrono::seconds(60);
  std::chrono::nanoseconds farewell = std::chrono::milliseconds(500);
  IndexedBy<Slot, std::size_t> row_bytes{};
  Founding founding = Founding::founds;
  std::function<void(LinkCall)> take_link{};
  Segment row;
  UniqueFd doorbell;
  std::uint64_t incarnation = 0;

 private:
  void wait_until(const std::function<bool()>& done);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<LogLevel, std::string>> log_;
  std::vector<GroupOptions> resolved_;
  std::map<std::uint32_t, Arrival> connections_;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  std::unique_ptr<Bootstrap> bootstrap_;
};

/// Speaks to a member byte by byte, blocking.
class RawPeer {
 public:
  /// Calls; tries until the member listens.
  explicit RawPeer(const std::string& address);
  explicit RawPeer(UniqueFd socket) : socket_(std::move(socket)) {}
  void send(std::string_view bytes);
  /// Exactly that many, fewer only if the connection ends.
  std::string receive(std::size_t count);
  /// The member's hello; an error if it is none.
  Result<Hello> receive_hello();
  Verdict receive_verdict();
  /// Reads until the member closes.
  void wait_for_close();
  void close() { socket_ = UniqueFd(); }
  /// Closes without a farewell, as a machine does that crashed and came back.
  void reset();
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
};

/// Waits at a member's address to be called.
class RawServer {
 public:
  explicit RawServer(const std::string& address);
  [[nodiscard]] RawPeer accept() const;

 private:
  UniqueFd listener_;
};

/// `count` members with one group "log", each changed by `change(member, slot)`, then all started.
template <class Change>
std::vector<std::unique_ptr<TestMember>> start_members(std::size_t count, const Change& change) {
  const std::vector<MemberAddress> addresses = loopback_members(count);
  std::vector<std::unique_ptr<TestMember>> members;
  for (std::size_t slot = 0; slot < count; ++slot) {
    members.push_back(std::make_unique<TestMember>(addresses, slot));
    change(*members.back(), slot);
  }
  for (auto& member : members) member->start();
  return members;
}

/// What `member`, as set up, would say when it calls `to`. For RawPeer.
[[nodiscard]] Hello hello_of(const TestMember& member, std::uint64_t incarnation,
                             const std::string& to = "a");

void await_input(int fd);

}  // namespace tutti
