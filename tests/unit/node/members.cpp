/// \file members.cpp
#include "members.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/assert.hpp"
#include "node/bootstrap/address.hpp"
#include "node/bootstrap/host.hpp"
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

TestMember::TestMember(const std::vector<MemberAddress>& members, std::size_t rank)
    : row(Segment::create(8192).value()),
      doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      result_(fail(ErrorCode::stopped, "not started")) {
  node.name = members[rank].name;
  node.members = members;
  node.start_timeout = std::chrono::seconds(60);  // ends a test that failed half-way
  node.log = [this](LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    log_.emplace_back(level, text);
  };
  groups.resize(1);
  groups[0].name = "log";
  std::memset(row.data(), static_cast<int>('a' + rank), row.size());
}

void TestMember::start() {
  thread_ = std::jthread([this] {
    const BootstrapRequest request{node, groups, row, doorbell.get(), silence_limit};
    result_ = meet(request);
  });
}

Result<Cluster>& TestMember::result() {
  if (thread_.joinable()) thread_.join();
  return result_;
}

std::string TestMember::outcome() { return result() ? "met" : result().error().message; }

std::vector<std::string> TestMember::logged(LogLevel level) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const auto& [at, text] : log_) {
    if (at == level) texts.push_back(text);
  }
  return texts;
}

RawClient::RawClient(const std::string& address) {
  const Address parts = address_from(address).value();
  const sockaddr_in target = ipv4(parts.host, parts.port);
  while (true) {
    socket_ = UniqueFd(tcp_socket());
    const auto* raw = reinterpret_cast<const sockaddr*>(&target);
    if (::connect(socket_.get(), raw, sizeof target) == 0) return;
    std::this_thread::yield();
  }
}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string RawClient::receive(std::size_t count) {
  std::string bytes(count, '\0');
  const ssize_t got = ::recv(socket_.get(), bytes.data(), count, MSG_WAITALL);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

Result<Hello> RawClient::receive_hello() {
  const std::string bytes = receive(12);
  HelloPrefix prefix{};
  std::memcpy(prefix.data(), bytes.data(), bytes.size());
  const Result<std::uint32_t> length = decode_prefix(prefix);
  if (!length) return std::unexpected(length.error());
  return decode_hello(receive(*length));
}

std::string RawClient::receive_verdict() {
  const std::string header = receive(4);
  if (header.size() != 4) return "closed";
  const std::uint32_t length = load_u32(std::as_bytes(std::span(header)).first<4>());
  return length == 0 ? "" : decode_verdict(receive(length)).message;
}

void RawClient::wait_for_close() {
  while (!receive(1).empty()) {
  }
}

Hello hello_of(const TestMember& member, std::uint64_t incarnation) {
  Hello hello;
  hello.library_version = version();
  hello.name = member.node.name;
  hello.to = "a";
  hello.members = member.node.members;
  hello.incarnation = incarnation;
  hello.fabric = member.node.fabric;
  hello.host = this_host();
  hello.row_bytes = member.row.size();
  for (const GroupOptions& group : member.groups) {
    hello.groups.push_back(resolve_group(member.node, group));
  }
  return hello;
}

}  // namespace tutti
