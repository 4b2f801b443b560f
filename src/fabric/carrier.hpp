/// \file carrier.hpp
/// A carrier is one way to reach peers: what a node says of it in its hello, which pairs of nodes
/// can use it, how such a pair is connected, and the fabric that then carries the pair's posts.
///
/// Each carrier has a folder here, which defines its CarrierKind; src/node/carriers.cpp lists all
/// kinds. A node makes a Carrier of each kind that its fabric option allows. In the order in which
/// a Carrier is called, and by which thread:
///   open             the node's       once, before the node meets anybody
///   offer            the handshake's  for each hello
///   pair, and        the handshake's  once both nodes agreed and chose this carrier (CarrierKind::
///     take_calls                      fit, the same answer at both ends); see pairing.hpp
///   attach, detach   the node's       once the two are connected; when they part
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/connection.hpp"
#include "fabric/fabric.hpp"
#include "fabric/host.hpp"
#include "fabric/segment.hpp"
#include "fabric/sleeper.hpp"
#include "fabric/slot.hpp"
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

class Carrier;
class Link;
class Pairing;
struct PairRequest;

/// One of the two nodes of a pair, as its hello describes it. All texts are printable.
struct CarrierEnd {
  std::string name{};
  std::string address{};  ///< as its member list says; empty if it does not
  std::string fabric{};   ///< the option, as users write it
  HostIdentity host{};
  std::optional<std::string> offer{};  ///< what the carrier says there; empty: it is not used there
};

/// Whether a pair can use a carrier.
struct Fit {
  bool fits = false;
  /// For people, should the pair find no carrier at all. Empty: it is only not used at both ends.
  std::string why_not{};
};

/// What a node's carriers work with; all of it outlives them.
struct CarrierContext {
  const NodeOptions& node;
  Slot self{};
  const Segment& own_row;
  int doorbell_fd = -1;  ///< see Sleeper
};

struct CarrierKind {
  std::string_view name;   ///< as users write it, and as hellos name it
  std::string_view label;  ///< for people
  bool automatic = true;   ///< fabric 'auto' may use it
  /// How many bytes of control words may wait for one peer.
  std::size_t control_bytes_max = std::numeric_limits<std::size_t>::max();
  /// For people, if connecting takes more than the link: "it ..." while that is not done, and
  /// "a and b ..." if it fails.
  std::string_view missing{};
  std::string_view cannot{};
  /// A pair that cannot be connected takes the next carrier that fits. Otherwise that is an error.
  bool falls_back = false;

  /// Gives the same answer at both ends. For all pairs, also where only one end uses the carrier.
  Fit (*fit)(const CarrierEnd& mine, const CarrierEnd& theirs) = nullptr;
  std::unique_ptr<Carrier> (*make)(const CarrierContext& context) = nullptr;
};

class Carrier {
 public:
  explicit Carrier(const CarrierKind& kind) : kind_(kind) {}
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  [[nodiscard]] const CarrierKind& kind() const { return kind_; }

  /// Makes the fabric, which is given away and outlives all that is attached. Null: this host does
  /// not have what the carrier needs, and the node may do without it.
  [[nodiscard]] virtual Result<std::unique_ptr<Fabric>> open(Sleeper& sleeper) = 0;

  /// What our hello says to the peer, at most kOfferMax bytes; empty: the carrier is not used here.
  /// `called` is the link on which the peer called, null where we call: the carrier may watch a
  /// descriptor beside it. kNoDescriptor: none is free for that.
  [[nodiscard]] virtual Result<std::optional<std::string>> offer(Link* called) = 0;
  static constexpr std::size_t kOfferMax = 255;

  /// Connects us with a peer once both have agreed. The Pairing must not outlive the carrier.
  [[nodiscard]] virtual std::unique_ptr<Pairing> pair(PairRequest request) = 0;

  /// Readable when peers call by this carrier's own means; -1: they never do.
  [[nodiscard]] virtual int calls_fd() const { return -1; }
  /// Takes these calls and gives them to the pairings that wait for them. Returns why some were
  /// refused.
  [[nodiscard]] virtual std::vector<std::string> take_calls() { return {}; }

  /// The fabric takes over what a Pairing of this carrier has connected. `row_bytes` of the peer's
  /// row are used. Returns the fabric, for RoutedFabric::route().
  [[nodiscard]] virtual Result<Fabric*> attach(Connection& connection, std::size_t row_bytes) = 0;
  /// See the fabrics. Nothing happens if the peer is not attached here.
  virtual void detach(Slot peer) = 0;

 private:
  const CarrierKind& kind_;
};

/// What all carriers do alike with their fabrics.
template <class FabricKind, class ConnectionKind>
class CarrierOf : public Carrier {
 public:
  using Carrier::Carrier;

  [[nodiscard]] Result<Fabric*> attach(Connection& connection, std::size_t row_bytes) final {
    ConnectionKind& made = static_cast<ConnectionOf<ConnectionKind>&>(connection).made;
    made.row_bytes = row_bytes;
    Result<void> attached = fabric_->attach(std::move(made));
    if (!attached) return std::unexpected(attached.error());
    return fabric_;
  }
  void detach(Slot peer) final { fabric_->detach(peer); }

 protected:
  /// Remembers the fabric that open() returns.
  [[nodiscard]] Result<std::unique_ptr<Fabric>> opened(Result<std::unique_ptr<FabricKind>> fabric) {
    if (!fabric) return std::unexpected(fabric.error());
    fabric_ = fabric->get();
    return std::move(*fabric);
  }

 private:
  FabricKind* fabric_ = nullptr;
};

/// "fabric is 'shm' at a and 'tcp' at b"
[[nodiscard]] std::string both_fabrics(const CarrierEnd& mine, const CarrierEnd& theirs);

/// Why the two cannot share memory; empty if they can.
[[nodiscard]] std::string why_apart(const HostIdentity& here, const HostIdentity& there);

}  // namespace tutti
