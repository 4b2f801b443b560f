/// \file tcp_carrier.cpp
/// TCP joins any two nodes: the pair goes on with the link's socket.
#include "fabric/tcp/tcp_carrier.hpp"

#include "fabric/control_record.hpp"
#include "fabric/pairing.hpp"
#include "fabric/tcp/tcp_fabric.hpp"

namespace tutti {
namespace {

class TcpCarrier final : public CarrierOf<TcpFabric, TcpConnection> {
 public:
  explicit TcpCarrier(const CarrierPlace& place) : CarrierOf(kTcpCarrier), place_(place) {}

  Result<std::unique_ptr<Fabric>> open(Sleeper& sleeper) override {
    return opened(TcpFabric::create(sleeper, place_.own_row.data(), place_.own_row.size()));
  }
  Result<std::optional<std::string>> offer(Link* /*called*/) override { return std::string(); }
  std::unique_ptr<Pairing> pair(PairRequest request) override {
    return std::make_unique<SocketPairing<TcpConnection>>(std::move(request));
  }

 private:
  const CarrierPlace place_;
};

}  // namespace

const CarrierKind kTcpCarrier{.name = "tcp",
                              .label = "TCP",
                              .control_bytes_max = kControlBytesMax,
                              .fit = [](const CarrierEnd& mine, const CarrierEnd& theirs) -> Fit {
                                return {.fits = mine.offer && theirs.offer};
                              },
                              .make = [](const CarrierPlace& place) -> std::unique_ptr<Carrier> {
                                return std::make_unique<TcpCarrier>(place);
                              }};

}  // namespace tutti
