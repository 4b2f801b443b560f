/// \file tcp_socket_test.cpp
#include "node/bootstrap/tcp_socket.hpp"

#include <gmock/gmock.h>

#include <array>
#include <barrier>
#include <thread>

#include "fabric/resolve.hpp"
#include "support/effort.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using asio::ip::tcp;

// Linux refuses both of two that are in listen() at the same moment; without care, some rounds in
// 100,000 end with nobody at the address.
TEST(ListenAt, OfSeveralAtTheSameMomentOneGetsTheAddress) {
  constexpr std::size_t kRounds = 50000;
  asio::io_context context;
  const tcp::endpoint endpoint =
      resolve_now(context, loopback_members(1)[0].address).value().front();
  std::array<Result<UniqueFd>, 2> got{fail(ErrorCode::system, ""), fail(ErrorCode::system, "")};
  std::size_t both = 0;
  std::size_t neither = 0;
  const testing::Effort effort;
  bool spent = false;
  std::barrier together(2);
  const auto take_part = [&](std::size_t self) {
    for (std::size_t round = 0; round < kRounds && !spent; ++round) {
      together.arrive_and_wait();
      got[self] = listen_at(endpoint);
      together.arrive_and_wait();
      if (self == 0 && got[0] && got[1]) ++both;
      if (self == 0 && !got[0] && !got[1]) ++neither;
      if (self == 0) spent = effort.spent();
      together.arrive_and_wait();
      got[self] = fail(ErrorCode::system, "");
    }
  };
  std::thread other(take_part, 1);
  take_part(0);
  other.join();
  EXPECT_EQ(both, 0U);
  EXPECT_EQ(neither, 0U);
}

}  // namespace
}  // namespace tutti
