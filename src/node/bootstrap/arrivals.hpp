/// \file arrivals.hpp
/// What the bootstrap's thread and the node's other threads share: which nodes are connected, which
/// are missing and why, what ended the start, and the node's status.
///
/// Threads: any. A mutex guards all but has_news() and has_failed().
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fabric/carrier.hpp"
#include "fabric/slot.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/bootstrap/status.hpp"
#include "tutti/error.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/options.hpp"

namespace tutti {

/// A node that is connected with us, and we with it.
struct Arrival {
  Slot slot{};
  std::uint64_t incarnation = 0;
  std::uint64_t row_bytes = 0;  ///< of its row, as it says
  Carrier* carrier = nullptr;   ///< that takes over the connection, see Carrier::attach
  std::unique_ptr<Connection> connection{};
};

class Arrivals {
 public:
  Arrivals(const NodeOptions& node, std::function<void()> wake);

  // The node's side.
  [[nodiscard]] bool has_news() const noexcept {
    return news_.load(std::memory_order_acquire);  // pairs with the release in tell()
  }
  [[nodiscard]] std::vector<Arrival> take_arrivals();
  /// There is a failure(), from then on for good.
  [[nodiscard]] bool has_failed() const noexcept {
    return failed_.load(std::memory_order_acquire);  // pairs with the releases in fail()
  }
  /// False if there is nothing to release: its last arrival was released, or not yet taken.
  [[nodiscard]] bool depart(Slot slot);
  void set_running();
  void set_ended(std::string why);
  void show(Status status);
  void show_stopped(std::string why);
  [[nodiscard]] std::optional<Error> failure() const;
  /// Names, addresses and troubles of those that are not connected; empty if all are.
  [[nodiscard]] std::string awaited() const;
  [[nodiscard]] std::string refused() const;
  /// The nodes that are connected but found no group, why, and what to do; empty if there is none.
  [[nodiscard]] std::string only_join() const;

  // The bootstrap's side.
  void arrive(Arrival arrival);
  /// Why the slot's node is not there yet.
  void note(Slot slot, std::string trouble);
  /// What the slot's node, which arrives, says of that.
  void note(Slot slot, Founding founding);
  /// A caller was refused that can be no member, or is not the one it says.
  void note_refused(std::string why);
  [[nodiscard]] bool running() const;
  /// Why nobody is to be connected any more.
  [[nodiscard]] std::optional<std::string> ended() const;
  /// The first failure counts. False if this is none: we are in a group already.
  [[nodiscard]] bool fail_start(const Error& error);
  /// The same whether we are in a group or not.
  void fail(const Error& error);
  /// What whoever looks at us is told.
  [[nodiscard]] Status status() const;

 private:
  struct Seat {
    bool there = false;  // between arrival and release
    std::string trouble;
    Founding founding = Founding::founds;
  };

  void tell();

  const NodeOptions& node_;
  const std::function<void()> wake_;
  std::atomic<bool> news_{false};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  IndexedBy<Slot, Seat> seats_;  // our own included
  std::vector<Arrival> arrivals_;
  std::optional<Error> failure_;
  std::uint64_t refused_ = 0;
  std::string last_refused_;  // why
  bool running_ = false;
  std::optional<std::string> ended_;
  Status status_;
};

}  // namespace tutti
