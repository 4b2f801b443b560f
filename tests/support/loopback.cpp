#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"

namespace tutti {

std::vector<MemberAddress> loopback_members(std::size_t count) {
  // A loopback host per process, of the number's 22 bits: tests that run beside this one can not
  // take the ports. Below those that the kernel gives to who asks for any, as connections and
  // libfabric do.
  const auto pid = static_cast<unsigned>(::getpid());
  const std::string host = "127." + std::to_string(1 + (pid >> 16U)) + "." +
                           std::to_string((pid >> 8U) & 0xffU) + "." + std::to_string(pid & 0xffU);
  std::vector<MemberAddress> members;
  std::vector<UniqueFd> held;  // until all are known, so that they differ
  for (std::size_t i = 0; i < count; ++i) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, host.c_str(), &address.sin_addr), 1);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    static std::atomic<std::uint16_t> next{20000};
    do {
      address.sin_port = htons(next++);
    } while (::bind(socket.get(), generic, sizeof address) != 0 && errno == EADDRINUSE);
    members.push_back({std::string(1, static_cast<char>('a' + i)),
                       host + ":" + std::to_string(ntohs(address.sin_port))});
    held.push_back(std::move(socket));
  }
  return members;
}

}  // namespace tutti
