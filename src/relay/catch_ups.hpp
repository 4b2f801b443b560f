/// \file catch_ups.hpp
/// Tells a relay when its member has come, in one group, to what any member had delivered when the
/// relay asked: by a record that changes nothing. As Group::barrier, without waiting.
///
/// Invariants:
///  CA1  Who asks is told once a record was delivered here that was sent behind the question: all
///       that any member had delivered by then stands before it.
///  CA2  At most one such record is on its way; all that ask meanwhile share the next one. So 1,000
///       clients that come at once cost the members few records.
/// Threads: any. No call waits.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "relay/backend.hpp"
#include "relay/outbox.hpp"

namespace tutti::relay {

class CatchUps : public std::enable_shared_from_this<CatchUps> {
 public:
  /// `mark`: a record of the group that changes nothing, made when it is sent. `on_told` is called
  /// after each change of what ask() returned.
  CatchUps(std::shared_ptr<Outbox> outbox, std::function<std::vector<std::byte>()> mark,
           std::function<void()> on_told)
      : outbox_(std::move(outbox)), mark_(std::move(mark)), on_told_(std::move(on_told)) {}

  [[nodiscard]] CatchingUp ask();

 private:
  using State = std::shared_ptr<std::atomic<CaughtUp>>;

  void send();
  void sent(std::optional<Ticket> ticket);
  void tell(CaughtUp outcome);

  const std::shared_ptr<Outbox> outbox_;
  const std::function<std::vector<std::byte>()> mark_;
  const std::function<void()> on_told_;
  std::mutex mutex_;
  State now_{};   // by mutex_: a record of it is on its way
  State next_{};  // by mutex_: asked since
};

}  // namespace tutti::relay
