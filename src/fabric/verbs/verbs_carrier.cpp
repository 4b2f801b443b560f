/// \file verbs_carrier.cpp
/// RDMA joins nodes that both have a device for it: the node that dialed calls the other by
/// rdma_cm, too, and the two connect their queue pairs.
#include "fabric/verbs/verbs_carrier.hpp"

#include <algorithm>
#include <boost/asio/use_awaitable.hpp>

#include "base/system_error.hpp"
#include "fabric/pairing.hpp"
#include "fabric/resolve.hpp"
#include "fabric/verbs/library.hpp"
#include "fabric/verbs/meeting.hpp"
#include "fabric/verbs/verbs_fabric.hpp"

namespace tutti {
namespace {

constexpr std::size_t kMeetingDescriptors = 2;  // its own, and the one with which we watch it

class VerbsPairing;

class VerbsCarrier final : public CarrierOf<VerbsFabric, VerbsConnection> {
 public:
  explicit VerbsCarrier(const CarrierContext& context)
      : CarrierOf(kVerbsCarrier), context_(context) {}

  Result<std::unique_ptr<Fabric>> open(Sleeper& sleeper) override;
  Result<std::optional<std::string>> offer(Link* /*called*/) override {
    if (device_ == nullptr) return std::nullopt;
    return device_->address();
  }
  std::unique_ptr<Pairing> pair(PairRequest request) override;
  int calls_fd() const override { return device_ == nullptr ? -1 : device_->calls_fd(); }
  std::vector<std::string> take_calls() override;

 private:
  friend class VerbsPairing;

  const CarrierContext context_;
  std::shared_ptr<verbs::Device> device_;
  std::vector<VerbsPairing*> pairings_;  // the newest last
};

class VerbsPairing final : public Pairing {
 public:
  VerbsPairing(VerbsCarrier& carrier, PairRequest request)
      : Pairing(std::move(request)), carrier_(carrier) {
    carrier_.pairings_.push_back(this);
  }
  ~VerbsPairing() override { std::erase(carrier_.pairings_, this); }

  // A peer that calls has our verdict; perhaps we do not have the peer's verdict yet.
  [[nodiscard]] bool expects(const verbs::Greeting& greeting) {
    return link().is_open() && greeting.slot == request().peer.value &&
           greeting.from == request().peer_incarnation && greeting.to == request().incarnation;
  }
  void take(verbs::Call call) {
    call_ = std::move(call);
    if (waits_) link().poke();
  }

  asio::awaitable<Result<std::unique_ptr<Connection>>> connect() override {
    link().close_watched();
    co_await link().flush();
    while (!request().dialed && !call_) {
      // A peer that fails says so on the link, and does not call.
      waits_ = true;
      const bool said = co_await link().readable();
      waits_ = false;
      if (said || !link().is_open()) co_return link_gone();
    }
    Result<std::unique_ptr<verbs::Meeting>> meeting = begin();
    if (!meeting) co_return std::unexpected(meeting.error());
    link().watch(duplicate((*meeting)->fd()));
    if (link().watched_fd() < 0) co_return fail_system("cannot watch the RDMA connection");
    while (true) {
      Result<std::shared_ptr<verbs::Pair>> pair = (*meeting)->step();
      if (!pair) co_return std::unexpected(pair.error());
      if (*pair != nullptr) {
        link().close();
        VerbsConnection made{request().peer, std::move(*pair), request().peer_row_bytes};
        co_return std::make_unique<ConnectionOf<VerbsConnection>>(std::move(made));
      }
      co_await link().watched_readable();
      if (!link().is_open()) co_return link_gone();
    }
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<verbs::Meeting>> begin() {
    const std::shared_ptr<verbs::Device>& device = carrier_.device_;
    auto room = take_descriptors(request().make_room, [&] {
      return reserve_descriptors(kMeetingDescriptors, device->calls_fd(),
                                 "cannot open the RDMA connection");
    });
    if (!room) return std::unexpected(room.error());
    room->clear();
    const verbs::Acquaintance who{.slot = request().self.value,
                                  .incarnation = request().incarnation,
                                  .peer_incarnation = request().peer_incarnation,
                                  .peer_row_bytes = request().peer_row_bytes,
                                  .give_up_after = carrier_.context_.node.suspect_after};
    if (request().dialed) return verbs::Meeting::call(device, who, request().peer_offer);
    return verbs::Meeting::answer(device, who, *std::exchange(call_, std::nullopt));
  }

  VerbsCarrier& carrier_;
  std::optional<verbs::Call> call_{};  // the peer's, not answered yet
  bool waits_ = false;                 // for that call
};

Result<std::unique_ptr<Fabric>> VerbsCarrier::open(Sleeper& sleeper) {
  const NodeOptions& node = context_.node;
  const bool may_do_without = node.fabric == FabricChoice::automatic && node.rdma_device.empty();
  if (may_do_without && !verbs::is_there()) return nullptr;
  if (const Result<void>& there = verbs::library(); may_do_without && !there) {
    if (node.log) {
      node.log(LogLevel::info, "no RDMA to members on other hosts: " + there.error().message);
    }
    return nullptr;
  }
  std::string near;
  if (const auto own = resolve_now(sleeper.context(), node.members[context_.self.value].address)) {
    near = own->front().address().to_string();
  }
  const std::span<const std::byte> row(context_.own_row.data(), context_.own_row.size());
  auto device = verbs::Device::open(node.rdma_device, near, row);
  if (!device && !may_do_without) return std::unexpected(device.error());
  if (!device) {
    if (node.log) {
      node.log(LogLevel::info, "no RDMA to members on other hosts: " + device.error().message);
    }
    return nullptr;
  }
  device_ = std::move(*device);
  return opened(VerbsFabric::create(sleeper, device_));
}

std::unique_ptr<Pairing> VerbsCarrier::pair(PairRequest request) {
  return std::make_unique<VerbsPairing>(*this, std::move(request));
}

// A call that no pairing expects is dropped, which hangs up.
std::vector<std::string> VerbsCarrier::take_calls() {
  std::vector<std::string> refused;
  while (true) {
    Result<std::optional<verbs::Call>> came = device_->next_call();
    if (!came) {
      refused.push_back("refused a call by RDMA: " + came.error().message);
      continue;
    }
    if (!*came) return refused;
    for (VerbsPairing* pairing : pairings_) {
      if (!pairing->expects((*came)->greeting)) continue;
      pairing->take(std::move(**came));
      break;
    }
  }
}

// For people, if one of the two insists on RDMA.
std::string why_without(const CarrierEnd& mine, const CarrierEnd& theirs) {
  if (mine.fabric != kVerbsCarrier.name && theirs.fabric != kVerbsCarrier.name) return {};
  const CarrierEnd& without = mine.offer ? theirs : mine;
  const std::string why = without.fabric == "auto" ? without.name + " has no RDMA device that works"
                                                   : "'verbs' is for all members or for none";
  return both_fabrics(mine, theirs) + ": they have none in common; " + why;
}

Fit fit_verbs(const CarrierEnd& mine, const CarrierEnd& theirs) {
  if (mine.offer && theirs.offer) return {.fits = true};
  return {.why_not = why_without(mine, theirs)};
}

}  // namespace

const CarrierKind kVerbsCarrier{
    .name = "verbs",
    .label = "RDMA",
    .missing = "its RDMA connection is not made",
    .cannot = "cannot be connected by RDMA",
    .falls_back = true,
    .fit = fit_verbs,
    .make = [](const CarrierContext& context) -> std::unique_ptr<Carrier> {
      return std::make_unique<VerbsCarrier>(context);
    }};

}  // namespace tutti
