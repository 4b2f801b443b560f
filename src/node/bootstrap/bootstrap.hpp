/// \file bootstrap.hpp
/// Connects a node with the other nodes of its cluster, from its start to its end.
///
/// Every node listens on its own address; of each pair the higher slot (index in the member list)
/// calls the lower, again and again until they are connected. Both say hello, compare all that must
/// agree, answer with a verdict, and choose a carrier, which connects the two. Then the connection
/// is handed over, at both ends, as an Arrival. The membership decides who is in
/// which view.
/// Invariants: HS1 a slot has one connection at most: between an arrival and its release every
/// other caller of that slot is told to come later. HS2 two nodes with different options are never
/// connected: whichever of them is not in a group yet ends its start, with the same reason. The
/// one that was called first asks at the caller's address in the member list whether it is really
/// so. HS3 a stranger's connection is closed and does no harm, whatever name it gives.
/// Not authenticated yet: who listens at a member's address can end the start, and who can reach us
/// can take the place of a member that is not there, as long as it behaves like one.
/// Threads: one of its own; the calls below may come from any.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fabric/carrier.hpp"
#include "fabric/slot.hpp"
#include "node/bootstrap/arrivals.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/bootstrap/link_request.hpp"
#include "tutti/error.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"

namespace tutti {

class Handshakes;

struct BootstrapRequest {
  const NodeOptions& node;                  ///< valid; outlives the bootstrap, as all that is here
  const std::vector<GroupOptions>& groups;  ///< checked and resolved, see resolve_group
  /// The ways to reach others, see make_carriers.
  const std::vector<std::unique_ptr<Carrier>>& carriers;
  std::uint64_t own_row_bytes;
  std::uint64_t incarnation;             ///< of this start, see random_u64
  Founding founding = Founding::founds;  ///< of this start
  std::function<void()> wake;  ///< news has come; called on the bootstrap's thread, must not wait
  /// How long a connection may be silent in the middle of the handshake.
  std::chrono::nanoseconds silence_limit = std::chrono::seconds(5);
  /// How long a bootstrap that gives up the start stays to tell why: longer than any pause between
  /// two calls, so that whoever looks for it and differs from it, too, learns it.
  std::chrono::nanoseconds farewell = std::chrono::milliseconds(500);
  /// Names the members that are behind, in the status that a caller of this node is told. The
  /// bootstrap's thread calls it. May be empty.
  std::function<std::vector<SeenLag>()> lags{};
  /// Whether one of those that are connected is in a group; on the bootstrap's thread. Empty: none
  /// is.
  std::function<bool()> sees_group{};
  /// The bytes that a member's row has at least, with our groups. Empty: any will do.
  IndexedBy<Slot, std::size_t> row_bytes{};
  /// A node of a higher slot asks for a restart link; it has been said hello, and waits for the
  /// verdict of whoever takes it. The bootstrap's thread calls it; it must not wait. Empty: who
  /// asks is refused.
  std::function<void(LinkCall call)> take_link{};
};

class Bootstrap {
 public:
  /// Listens and starts to call the others. Blocks only to resolve the node's own host name.
  [[nodiscard]] static Result<std::unique_ptr<Bootstrap>> open(const BootstrapRequest& request);

  /// Closes everything that was not handed over. Resolving a host name cannot be interrupted: only
  /// while that hangs may this take long.
  ~Bootstrap();
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;

  /// Whether something came since the last take_arrivals(): an arrival, or a failure.
  [[nodiscard]] bool has_news() const noexcept { return arrivals_.has_news(); }
  /// The connections that came since the last call.
  [[nodiscard]] std::vector<Arrival> take_arrivals() { return arrivals_.take_arrivals(); }

  /// Once for each arrival that was taken, when its connection is of no more use: the slot's node
  /// may come again, be it the same incarnation or another.
  void release(Slot slot);

  /// That incarnation was removed from the group for good, and is told so if we meet it again.
  void refuse(std::uint64_t incarnation);

  /// We are in a group now: from here on a contradiction ends the other's start only.
  void set_running();

  /// We shall admit nobody any more: whoever comes from here on is not connected, and is told
  /// `why`, which says what to do. Nodes of lower slots wait to be called, so they are called for
  /// that, again and again, also while the last of their name is not released.
  void set_ended(std::string why);

  /// What whoever looks at this node is told from now on, see look_at(). The view stays when it
  /// stops.
  void show(Status status) { arrivals_.show(std::move(status)); }
  /// It has failed, and says so to those that look, and to those that come: see set_ended().
  void show_stopped(std::string why);

  /// There is a failure(), from then on for good.
  [[nodiscard]] bool has_failed() const noexcept { return arrivals_.has_failed(); }
  /// What ended our start; no more comes after it. mismatch: other options than another member;
  /// stopped: the group has removed this incarnation, which may come while we run, too.
  [[nodiscard]] std::optional<Error> failure() const { return arrivals_.failure(); }

  /// Who is not connected, and why: "b (HOST:PORT: why), ... and 9 more"; empty if all are.
  [[nodiscard]] std::string awaited() const { return arrivals_.awaited(); }
  /// The nodes that are connected but found no group, why, and what to do; empty if there is none.
  [[nodiscard]] std::string only_join() const { return arrivals_.only_join(); }
  /// How many callers were refused, and why the last; empty if none was.
  [[nodiscard]] std::string refused() const { return arrivals_.refused(); }

 private:
  explicit Bootstrap(const BootstrapRequest& request);

  Arrivals arrivals_;
  std::unique_ptr<Handshakes> handshakes_;
  std::thread thread_;
};

}  // namespace tutti
