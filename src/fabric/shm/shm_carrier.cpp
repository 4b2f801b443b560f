/// \file shm_carrier.cpp
/// Shared memory joins nodes of one host: the two hand each other their rows and doorbells on a
/// unix socket, whose name is in the hello of the node that was called.
#include "fabric/shm/shm_carrier.hpp"

#include <boost/asio/use_awaitable.hpp>

#include "fabric/pairing.hpp"
#include "fabric/shm/fd_passing.hpp"
#include "fabric/shm/shm_fabric.hpp"

namespace tutti {
namespace {

class ShmPairing final : public Pairing {
 public:
  ShmPairing(const CarrierContext& context, PairRequest request)
      : Pairing(std::move(request)), context_(context) {}

  asio::awaitable<Result<std::unique_ptr<Connection>>> connect() override {
    if (request().dialed) {
      if (const Result<void> called = call(); !called) co_return std::unexpected(called.error());
    } else {
      const Result<void> called = co_await be_called();
      if (!called) co_return std::unexpected(called.error());
    }
    auto room =
        take_descriptors(request().make_room, [&] { return room_for_offer(link().watched_fd()); });
    if (!room) co_return std::unexpected(room.error());
    const Result<void> sent =
        send_offer(link().watched_fd(), request().incarnation, request().peer_incarnation,
                   context_.own_row.read_only_fd().get(), context_.doorbell_fd);
    if (!sent) co_return std::unexpected(sent.error());
    while (true) {
      // The peer sends its row before whatever follows on the link: the row may be here although
      // the link was readable first.
      const bool ready = co_await link().watched_or_link_readable();
      if (link().watched_fd() < 0) co_return link_gone();
      room->clear();
      Result<std::optional<RowOffer>> offer = receive_offer(link().watched_fd());
      if (!offer) co_return std::unexpected(offer.error());
      if (!*offer && !ready) co_return link_gone();
      if (*offer) co_return take(std::move(**offer));
    }
  }

 private:
  [[nodiscard]] Result<void> call() {
    Result<UniqueFd> fd = take_descriptors(request().make_room,
                                           [&] { return connect_abstract(request().peer_offer); });
    if (!fd) return std::unexpected(fd.error());
    if (Result<void> user = check_same_user(fd->get()); !user) return user;
    link().watch(std::move(*fd));
    return {};
  }

  asio::awaitable<Result<void>> be_called() {
    while (true) {
      const bool ready = co_await link().watched_or_link_readable();
      if (link().watched_fd() < 0) co_return link_gone();
      Result<std::optional<UniqueFd>> fd = take_descriptors(
          request().make_room, [&] { return accept_same_user(link().watched_fd()); });
      if (!fd) co_return std::unexpected(fd.error());
      if (*fd) {
        link().watch(std::move(**fd));  // closes the listener
        co_return Result<void>();
      }
      if (!ready) co_return link_gone();
    }
  }

  [[nodiscard]] Result<std::unique_ptr<Connection>> take(RowOffer offer) {
    if (offer.from != request().peer_incarnation || offer.to != request().incarnation) {
      return fail(ErrorCode::mismatch, "the row that came belongs to someone else");
    }
    ShmConnection made{request().peer, link().release_watched(), std::move(offer.row),
                       std::move(offer.doorbell), request().peer_row_bytes};
    return std::make_unique<ConnectionOf<ShmConnection>>(std::move(made));
  }

  const CarrierContext& context_;
};

class ShmCarrier final : public CarrierOf<ShmFabric, ShmConnection> {
 public:
  explicit ShmCarrier(const CarrierContext& context) : CarrierOf(kShmCarrier), context_(context) {}

  Result<std::unique_ptr<Fabric>> open(Sleeper& sleeper) override {
    return opened(ShmFabric::create(sleeper, context_.own_row));
  }

  // A name of its own for every link: whoever comes to that socket was told its name by us.
  Result<std::optional<std::string>> offer(Link* called) override {
    if (called == nullptr) return std::string();
    Result<std::string> name = random_socket_name();
    if (!name) return std::unexpected(name.error());
    Result<UniqueFd> listener = listen_abstract(*name);
    if (!listener) return std::unexpected(listener.error());
    called->watch(std::move(*listener));
    return std::move(*name);
  }

  std::unique_ptr<Pairing> pair(PairRequest request) override {
    return std::make_unique<ShmPairing>(context_, std::move(request));
  }

 private:
  const CarrierContext context_;
};

Fit fit_shm(const CarrierEnd& mine, const CarrierEnd& theirs) {
  if (!mine.offer || !theirs.offer) return {};
  const std::string apart = why_apart(mine.host, theirs.host);
  if (apart.empty()) return {.fits = true};
  return {.why_not = both_fabrics(mine, theirs) + ", but shared memory cannot join them: " + apart +
                     "; 'auto' takes TCP between such members"};
}

}  // namespace

const CarrierKind kShmCarrier{
    .name = "shm",
    .label = "shared memory",
    .missing = "its row has not come",
    .cannot = "cannot share memory",
    .fit = fit_shm,
    .make = [](const CarrierContext& context) -> std::unique_ptr<Carrier> {
      return std::make_unique<ShmCarrier>(context);
    }};

}  // namespace tutti
