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
  explicit TcpCarrier(const CarrierContext& context) : CarrierOf(kTcpCarrier), context_(context) {}

  Result<std::unique_ptr<Fabric>> open(Sleeper& sleeper) override {
    return opened(TcpFabric::create(sleeper, context_.own_row.data(), context_.own_row.size()));
  }
  Result<std::optional<std::string>> offer(Link* /*called*/) override { return std::string(); }
  std::unique_ptr<Pairing> pair(PairRequest request) override {
    return std::make_unique<SocketPairing<TcpConnection>>(std::move(request));
  }

 private:
  const CarrierContext context_;
};

}  // namespace

const CarrierKind kTcpCarrier{
    .name = "tcp",
    .label = "TCP",
    .control_bytes_max = kControlBytesMax,
    .fit = [](const CarrierEnd& mine, const CarrierEnd& theirs) -> Fit {
      return {.fits = mine.offer && theirs.offer};
    },
    .make = [](const CarrierContext& context) -> std::unique_ptr<Carrier> {
      return std::make_unique<TcpCarrier>(context);
    }};

}  // namespace tutti
