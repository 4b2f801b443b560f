/// \file members.cpp
#include "members.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "fabric/address.hpp"
#include "fabric/host.hpp"
#include "node/carriers.hpp"
#include "node/group_rules.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

sockaddr_in ipv4(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  TUTTI_ASSERT(::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1);
  return address;
}

UniqueFd tcp_socket() { return UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

TestMember::TestMember(const std::vector<MemberAddress>& members, std::size_t slot)
    : row(Segment::create(8192).value()), doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  node.name = members[slot].name;
  node.members = members;
  node.log = [this](LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    log_.emplace_back(level, text);
    changed_.notify_all();
  };
  groups.resize(1);
  groups[0].name = "log";
  std::memset(row.data(), static_cast<int>('a' + slot), row.size());
}

Result<void> TestMember::try_start() {
  incarnation = random_u64().value();
  resolved_ = resolved();
  bootstrap_.reset();
  carriers_ = carriers();
  const auto wake = [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  };
  auto bootstrap = Bootstrap::open({.node = node,
                                    .groups = resolved_,
                                    .carriers = carriers_,
                                    .own_row_bytes = row.size(),
                                    .incarnation = incarnation,
                                    .founding = founding,
                                    .wake = wake,
                                    .silence_limit = silence_limit,
                                    .farewell = farewell,
                                    .row_bytes = row_bytes,
                                    .take_link = take_link});
  if (!bootstrap) return std::unexpected(bootstrap.error());
  bootstrap_ = std::move(*bootstrap);
  return {};
}

std::vector<GroupOptions> TestMember::resolved() const {
  std::vector<GroupOptions> out;
  for (const GroupOptions& group : groups) out.push_back(resolve_group(node, group));
  return out;
}

std::vector<std::unique_ptr<Carrier>> TestMember::carriers() const {
  const auto self = std::ranges::find(node.members, node.name, &MemberAddress::name);
  return make_carriers({.node = node,
                        .self = {static_cast<std::uint32_t>(self - node.members.begin())},
                        .own_row = row,
                        .doorbell_fd = doorbell.get()});
}

void TestMember::start() {
  const Result<void> started = try_start();
  ASSERT_TRUE(started) << node.name << ": " << started.error().message;
}

void TestMember::stop() {
  bootstrap_.reset();
  connections_.clear();
}

void TestMember::collect() {
  for (Arrival& arrival : bootstrap_->take_arrivals()) {
    const std::uint32_t slot = arrival.slot.value;
    EXPECT_TRUE(connections_.emplace(slot, std::move(arrival)).second) << "slot " << slot;
  }
}

const Arrival* TestMember::connection(std::uint32_t slot) const {
  const auto found = connections_.find(slot);
  return found == connections_.end() ? nullptr : &found->second;
}

bool TestMember::alive(std::uint32_t slot) const {
  const Arrival& here = *connection(slot);
  int fd = -1;
  if (const auto* shm = made_by<ShmConnection>(here)) fd = shm->socket.get();
  if (const auto* tcp = made_by<TcpConnection>(here)) fd = tcp->socket.get();
  if (const auto* ofi = made_by<OfiConnection>(here)) fd = ofi->socket.get();
  pollfd entry{.fd = fd, .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&entry, 1, 0) == 0;
}

void TestMember::wait_until(const std::function<bool()>& done) {
  std::unique_lock lock(mutex_);
  // Whoever waits in vain is ended by the watchdog of the tests.
  changed_.wait(lock, done);
}

const Arrival& TestMember::await(std::uint32_t slot) {
  collect();
  while (connection(slot) == nullptr) {
    wait_until([this] { return bootstrap_->has_news(); });
    collect();
  }
  return *connection(slot);
}

std::string TestMember::outcome() {
  while (true) {
    collect();
    if (connections_.size() + 1 == node.members.size()) return "met";
    if (const std::optional<Error> failure = bootstrap_->failure()) return failure->message;
    wait_until([this] { return bootstrap_->has_news(); });
  }
}

Error TestMember::await_failure() {
  wait_until([this] { return bootstrap_->failure().has_value(); });
  return *bootstrap_->failure();
}

void TestMember::release(std::uint32_t slot) {
  connections_.erase(slot);
  bootstrap_->release(Slot{slot});
}

void TestMember::await_trouble(const std::string& part) {
  while (bootstrap_->awaited().find(part) == std::string::npos) std::this_thread::yield();
}

void TestMember::await_log(LogLevel level, const std::string& part) {
  wait_until([&] {
    return std::ranges::any_of(log_, [&](const auto& entry) {
      return entry.first == level && entry.second.find(part) != std::string::npos;
    });
  });
}

std::vector<std::string> TestMember::logged(LogLevel level) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const auto& [at, text] : log_) {
    if (at == level) texts.push_back(text);
  }
  return texts;
}

RawPeer::RawPeer(const std::string& address) {
  const Address parts = address_from(address).value();
  const sockaddr_in target = ipv4(parts.host, parts.port);
  while (true) {
    socket_ = tcp_socket();
    const auto* raw = reinterpret_cast<const sockaddr*>(&target);
    if (::connect(socket_.get(), raw, sizeof target) == 0) return;
    std::this_thread::yield();
  }
}

void RawPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string RawPeer::receive(std::size_t count) {
  std::string bytes(count, '\0');
  const ssize_t got = ::recv(socket_.get(), bytes.data(), count, MSG_WAITALL);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

Result<Hello> RawPeer::receive_hello() {
  const std::string bytes = receive(12);
  HelloPrefix prefix{};
  std::memcpy(prefix.data(), bytes.data(), bytes.size());
  const Result<std::uint32_t> length = decode_prefix(prefix);
  if (!length) return std::unexpected(length.error());
  return decode_hello(receive(*length));
}

Verdict RawPeer::receive_verdict() {
  const std::string header = receive(4);
  if (header.size() != 4) return {Verdict::Kind::broken, {ErrorCode::peer_lost, "closed"}};
  const std::uint32_t length = load_u32(std::as_bytes(std::span(header)).first<4>());
  return length == 0 ? Verdict{} : decode_verdict(receive(length));
}

void RawPeer::wait_for_close() {
  while (!receive(1).empty()) {
  }
}

void RawPeer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

RawServer::RawServer(const std::string& address) : listener_(tcp_socket()) {
  const Address parts = address_from(address).value();
  const sockaddr_in here = ipv4(parts.host, parts.port);
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
  EXPECT_EQ(::listen(listener_.get(), 64), 0);
}

RawPeer RawServer::accept() const {
  return RawPeer(UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
}

Hello hello_of(const TestMember& member, std::uint64_t incarnation, const std::string& to) {
  Hello hello;
  hello.library_version = version();
  hello.name = member.node.name;
  hello.to = to;
  hello.members = member.node.members;
  hello.incarnation = incarnation;
  hello.fabric = fabric_text(member.node);
  for (const auto& carrier : member.carriers()) {
    const auto offer = carrier->offer(nullptr).value();
    if (offer) hello.carriers.emplace(carrier->kind().name, *offer);
  }
  hello.host = this_host();
  hello.row_bytes = member.row.size();
  hello.groups = member.resolved();
  return hello;
}

void await_input(int fd) {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&entry, 1, -1), 1);
}

}  // namespace tutti
