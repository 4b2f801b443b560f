/// \file row_swap.cpp
/// Two members on one host hand each other their row and doorbell.
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "node/bootstrap/fd_passing.hpp"
#include "node/bootstrap/reception.hpp"

namespace tutti {

asio::awaitable<Result<void>> Reception::open_unix(LinkPtr link, std::string name, bool dialed) {
  if (dialed) {
    Result<UniqueFd> fd = take_descriptors([&] { return connect_abstract(name); });
    if (!fd) co_return std::unexpected(fd.error());
    if (Result<void> user = check_same_user(fd->get()); !user) co_return user;
    link->watch(std::move(*fd));
    co_return Result<void>();
  }
  while (true) {
    const bool ready = co_await link->unix_readable();
    if (link->unix_fd() < 0) co_return link_gone();
    Result<std::optional<UniqueFd>> fd =
        take_descriptors([&] { return accept_same_user(link->unix_fd()); });
    if (!fd) co_return std::unexpected(fd.error());
    if (*fd) {
      link->watch(std::move(**fd));  // closes the listener
      co_return Result<void>();
    }
    if (!ready) co_return link_gone();
  }
}

asio::awaitable<Result<void>> Reception::swap_rows(LinkPtr link, std::uint32_t slot, bool dialed) {
  const std::uint64_t incarnation = peers_[slot].incarnation;
  link->limit_silence(request_.silence_limit);
  Result<void> opened = co_await open_unix(link, peers_[slot].unix_name, dialed);
  if (!opened) co_return opened;
  auto room = take_descriptors([&] { return room_for_offer(link->unix_fd()); });
  if (!room) co_return std::unexpected(room.error());
  Result<void> sent = send_offer(link->unix_fd(), base_.incarnation, incarnation,
                                 request_.own_row.read_only_fd().get(), request_.doorbell_fd);
  if (!sent) co_return sent;
  while (true) {
    // The row is sent before whatever follows on the connection: not ready, it may still be here.
    const bool ready = co_await link->unix_readable();
    if (link->unix_fd() < 0) co_return link_gone();
    room->clear();
    Result<std::optional<RowOffer>> offer = receive_offer(link->unix_fd());
    if (!offer) co_return std::unexpected(offer.error());
    if (!*offer && !ready) co_return link_gone();
    if (!*offer) continue;
    RowOffer& row = **offer;
    if (row.from != incarnation || row.to != base_.incarnation) {
      co_return fail(ErrorCode::mismatch, "the row that came belongs to someone else");
    }
    peers_[slot].row = std::move(row.row);
    peers_[slot].doorbell = std::move(row.doorbell);
    co_return Result<void>();
  }
}

}  // namespace tutti
