/// \file joining.hpp
/// A join of a group while the node runs.
///
/// Node::join withdraws what it has asked the others for at its time-out, so it cannot wait in
/// slices (PY2). It runs on a thread of its own, which outlives the call of Python if a signal ends
/// that.
/// Invariants:
///  JN1  The node outlives such threads: whoever destroys it waits for them (Joins::wait).
///  JN2  A group that nobody was given is left: a signal came before Python had it. Signals come
///       also between two steps of Python, so a Group of Python says itself that it has arrived.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "python.hpp"
#include "tutti/group.hpp"
#include "tutti/node.hpp"

namespace tutti::python {

/// Counts the threads that join groups of one node. Any thread.
class Joins {
 public:
  /// Counts while it exists.
  class One {
   public:
    explicit One(std::shared_ptr<Joins> of) : of_(std::move(of)) { of_->add(1); }
    ~One() { of_->add(-1); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

   private:
    std::shared_ptr<Joins> of_;
  };

  [[nodiscard]] bool any() const {
    const std::lock_guard lock(mutex_);
    return count_ != 0;
  }
  /// Until there are none. Without the GIL.
  void wait() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  void add(int difference) {
    const std::lock_guard lock(mutex_);
    count_ += difference;
    if (count_ == 0) none_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

struct Running;

/// JN2. Destroyed before kept() was called, it leaves the group, on a thread of its own. That holds
/// the node, as calls that wait do.
class Handover {
 public:
  Handover(std::weak_ptr<Running> node, Group group)
      : node_(std::move(node)), group_(std::move(group)) {}
  ~Handover();
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  void kept() { group_.reset(); }

 private:
  std::weak_ptr<Running> node_;
  std::optional<Group> group_;
};

/// Joins the group and waits for that. Raises what Node::join returns, or what a signal's handler
/// raises.
[[nodiscard]] Group join_while_running(const std::shared_ptr<Running>& with, GroupOptions options,
                                       nanoseconds timeout);

/// JN1: stops the node, waits for those threads, and destroys it. In a callback of the node, for
/// which they wait, it does so on a thread of its own. Without the GIL.
void end_after_joins(std::unique_ptr<Node> node, std::shared_ptr<Joins> joins);

}  // namespace tutti::python
