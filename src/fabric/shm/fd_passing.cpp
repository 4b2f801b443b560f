/// \file fd_passing.cpp
#include "fabric/shm/fd_passing.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/system_error.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kOfferMagic = 0x30574f5249545554;  // "TUTIROW0"
constexpr std::size_t kDescriptors = 2;
constexpr std::size_t kDescriptorsMax = 16;  // room to see, and close, more than were asked for

constexpr const char* kReceiving = "cannot receive the row";

struct OfferBytes {
  std::uint64_t magic;
  std::uint64_t from;
  std::uint64_t to;
};

std::unexpected<Error> refused(const std::string& what, int error) {
  if (lacks_descriptors(error)) return fail(kNoDescriptor, what + ": " + kFreeDescriptors);
  // These are the other end's doing: it closed its socket, or was killed.
  const bool gone = error == ECONNRESET || error == ECONNREFUSED || error == EPIPE;
  return fail(gone ? ErrorCode::peer_lost : ErrorCode::system,
              what + ": " + std::system_category().message(error));
}

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<AbstractAddress> abstract_address(const std::string& name) {
  AbstractAddress result;
  if (name.empty() || name.size() + 1 > sizeof result.address.sun_path) {
    return fail(ErrorCode::mismatch, "the name of the unix socket has " +
                                         std::to_string(name.size()) + " bytes; legal: 1 .. 107");
  }
  result.address.sun_family = AF_UNIX;
  std::ranges::copy(name, result.address.sun_path + 1);  // a leading 0 makes it abstract
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

Result<UniqueFd> unix_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return refused("cannot make a unix socket", errno);
  return fd;
}

std::vector<UniqueFd> descriptors_in(msghdr& message) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      taken.emplace_back(fd);
    }
  }
  return taken;
}

}  // namespace

Result<UniqueFd> listen_abstract(const std::string& name) {
  const Result<AbstractAddress> address = abstract_address(name);
  if (!address) return std::unexpected(address.error());
  Result<UniqueFd> fd = unix_socket();
  if (!fd) return fd;
  if (::bind(fd->get(), address->get(), address->size) != 0 || ::listen(fd->get(), 8) != 0) {
    return refused("cannot listen on a unix socket", errno);
  }
  return fd;
}

Result<UniqueFd> connect_abstract(const std::string& name) {
  const Result<AbstractAddress> address = abstract_address(name);
  if (!address) return std::unexpected(address.error());
  Result<UniqueFd> fd = unix_socket();
  if (!fd) return fd;
  if (::connect(fd->get(), address->get(), address->size) != 0) {
    return refused("cannot connect to the unix socket", errno);
  }
  return fd;
}

Result<std::optional<UniqueFd>> accept_same_user(int listener) {
  while (true) {
    UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd && check_same_user(fd.get())) return std::optional(std::move(fd));
    if (fd || errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::nullopt;
    return refused("cannot accept on a unix socket", errno);
  }
}

Result<void> check_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return refused("cannot tell whose unix socket it is", errno);
  }
  if (peer.uid == ::geteuid()) return {};
  return fail(ErrorCode::mismatch, "the unix socket belongs to user " + std::to_string(peer.uid) +
                                       ", this process to user " + std::to_string(::geteuid()));
}

Result<void> send_offer(int socket, std::uint64_t from, std::uint64_t to, int row, int doorbell) {
  OfferBytes bytes{kOfferMagic, from, to};
  iovec part{&bytes, sizeof bytes};
  const std::array<int, kDescriptors> descriptors{row, doorbell};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof descriptors)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return refused("cannot hand over the row", errno);
  return {};
}

Result<std::vector<UniqueFd>> room_for_offer(int any) {
  return reserve_descriptors(kDescriptors, any, kReceiving);
}

Result<std::optional<RowOffer>> receive_offer(int socket) {
  OfferBytes bytes{};
  iovec part{&bytes, sizeof bytes};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kDescriptorsMax * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
  if (size < 0) return refused(kReceiving, errno);
  std::vector<UniqueFd> descriptors = descriptors_in(message);
  if (size == 0) return fail(ErrorCode::peer_lost, "the unix socket was closed");
  const bool is_offer =
      (message.msg_flags & MSG_TRUNC) == 0 && size == sizeof bytes && bytes.magic == kOfferMagic;
  const bool cut = (message.msg_flags & MSG_CTRUNC) != 0;
  if (is_offer && cut && descriptors.size() < kDescriptors) {
    // The kernel could not open them here, for want of descriptors or because it must not.
    if (!duplicate(socket)) return refused(kReceiving, errno);
    return fail(ErrorCode::peer_lost, "the kernel did not hand over all that belongs to the row");
  }
  if (!is_offer || cut || descriptors.size() != kDescriptors) {
    return fail(ErrorCode::mismatch, "what came on the unix socket is not a row");
  }
  return RowOffer{bytes.from, bytes.to, std::move(descriptors[0]), std::move(descriptors[1])};
}

}  // namespace tutti
