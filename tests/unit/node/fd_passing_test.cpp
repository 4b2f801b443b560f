/// \file fd_passing_test.cpp
/// Rows change hands on unix sockets, and nothing else does.
#include "fabric/shm/fd_passing.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/random.hpp"
#include "descriptors.hpp"
#include "fabric/host.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

struct Ends {
  UniqueFd here;
  UniqueFd there;
};

Ends unix_pair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

TEST(FdPassing, ARowAndADoorbellArriveCloseOnExec) {
  const std::string name = random_socket_name().value();
  const UniqueFd listener = listen_abstract(name).value();
  EXPECT_FALSE(accept_same_user(listener.get()).value());
  const UniqueFd here = connect_abstract(name).value();
  EXPECT_TRUE(check_same_user(here.get()));
  const UniqueFd there = std::move(*accept_same_user(listener.get()).value());
  EXPECT_FALSE(receive_offer(there.get()).value());

  const UniqueFd row(::eventfd(11, EFD_CLOEXEC));
  const UniqueFd doorbell(::eventfd(22, EFD_CLOEXEC));
  ASSERT_TRUE(send_offer(here.get(), 1, 2, row.get(), doorbell.get()));
  const RowOffer offer = std::move(*receive_offer(there.get()).value());
  EXPECT_EQ(offer.from, 1U);
  EXPECT_EQ(offer.to, 2U);
  EXPECT_NE(::fcntl(offer.row.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(offer.doorbell.get(), F_GETFD) & FD_CLOEXEC, 0);
  std::uint64_t value = 0;
  EXPECT_EQ(::read(offer.doorbell.get(), &value, sizeof value), 8);
  EXPECT_EQ(value, 22U);
}

TEST(FdPassing, OtherMessagesAreRefused) {
  for (const std::size_t size : {1U, 8U, 24U, 200U}) {
    const Ends ends = unix_pair();
    const std::string bytes(size, 'x');
    ASSERT_EQ(::send(ends.here.get(), bytes.data(), size, 0), static_cast<ssize_t>(size));
    const auto offer = receive_offer(ends.there.get());
    ASSERT_FALSE(offer);
    EXPECT_THAT(offer.error().message, HasSubstr("not a row"));
  }
}

TEST(FdPassing, SurplusDescriptorsAreClosed) {
  const Ends ends = unix_pair();
  std::uint64_t body = 0;
  iovec part{&body, sizeof body};
  std::array<int, 5> surplus{};
  surplus.fill(ends.here.get());
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof surplus)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof surplus);
  std::memcpy(CMSG_DATA(header), surplus.data(), sizeof surplus);
  ASSERT_EQ(::sendmsg(ends.here.get(), &message, 0), 8);
  const int next = ::dup(0);  // the lowest free number, before and after
  ::close(next);
  EXPECT_FALSE(receive_offer(ends.there.get()));
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, next);
}

TEST(FdPassing, WhatLacksDescriptorsMaySucceedLater) {
  const Ends ends = unix_pair();
  const std::string name = random_socket_name().value();
  const UniqueFd listener = listen_abstract(name).value();
  const UniqueFd caller = connect_abstract(name).value();
  const UniqueFd row(::eventfd(11, EFD_CLOEXEC));
  NoDescriptors none;
  const auto expect_later = [](const auto& refused) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, kNoDescriptor);
    EXPECT_THAT(refused.error().message, HasSubstr("raise the limit (ulimit -n)"));
  };
  expect_later(connect_abstract(name));
  expect_later(accept_same_user(listener.get()));
  for (const std::size_t enough : {0U, 1U}) {
    none.spare(enough);
    ASSERT_TRUE(send_offer(ends.here.get(), 1, 2, row.get(), row.get()));
    expect_later(receive_offer(ends.there.get()));
    EXPECT_EQ(NoDescriptors::free(), enough);
  }
}

TEST(FdPassing, AClosedSocketIsSaidToBe) {
  Ends ends = unix_pair();
  ends.here = UniqueFd();
  EXPECT_EQ(receive_offer(ends.there.get()).error().code, ErrorCode::peer_lost);
  EXPECT_FALSE(connect_abstract(random_socket_name().value()));
  EXPECT_FALSE(connect_abstract(""));
  EXPECT_FALSE(connect_abstract(std::string(108, 'x')));
}

TEST(Host, IsKnownAndRandomNumbersDiffer) {
  EXPECT_FALSE(this_host().boot_id.empty());
  EXPECT_NE(random_u64().value(), random_u64().value());
  EXPECT_EQ(random_socket_name().value().size(), 38U);
}

}  // namespace
}  // namespace tutti
