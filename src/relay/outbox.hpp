/// \file outbox.hpp
/// What a relay sends into one group. What finds no space waits here for its turn.
///
/// Invariants:
///  OX1  Records go out in the order of the calls: none overtakes one that waits.
///  OX2  Space that was claimed is used. A claim that is given up takes its space in the ring and a
///       message of the window all the same, until all members have passed it: in a full group as
///       often as there is space.
///  OX3  What waits is bounded by its owners: the outbox forgets a record whose owner went, but for
///       the one for which it has asked for space.
/// Threads: any. No call waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "relay/posting.hpp"
#include "tutti/group.hpp"

namespace tutti::relay {

class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  using Write = std::function<void(std::span<std::byte>)>;
  /// Gets the record's ticket once it is committed, or none if it never will be; on any thread,
  /// maybe within post(). Not called if post() says that the group has stopped.
  using Sent = std::function<void(std::optional<Ticket>)>;

  /// `on_posted` is called when records that waited were posted, or will never be.
  Outbox(const Group& group, std::function<void()> on_posted)
      : group_(group), on_posted_(std::move(on_posted)) {}

  /// `write` is called within, with `size` bytes. With `sent` the record needs no owner.
  [[nodiscard]] Posting post(std::uint32_t size, const Write& write, Sent sent = {});
  [[nodiscard]] Group& group() { return group_; }

 private:
  struct Waiting {
    std::weak_ptr<Queued> record{};  // OX3
    std::shared_ptr<Queued> own{};   // of one with `sent`
    Sent sent{};
  };

  struct Told {
    Sent sent{};
    std::optional<Ticket> ticket{};
  };

  void given(const std::shared_ptr<Queued>& first, Result<Claim> space);
  void send_waiting(std::vector<Told>& told);
  Told commit_first(const std::shared_ptr<Queued>& record, Claim space);
  [[nodiscard]] bool ask();
  void stop(std::vector<Told>& told);
  void forget_ownerless();

  Group group_;
  const std::function<void()> on_posted_;
  std::mutex mutex_;
  std::deque<Waiting> waiting_;  // by mutex_, as all below
  std::size_t look_at_ = 0;      // so many waiting: forget_ownerless()
  bool asked_ = false;           // given() follows
};

}  // namespace tutti::relay
