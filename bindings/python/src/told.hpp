/// \file told.hpp
/// What a node tells while nobody asks: views, and that it has ended. Threads of the library put it
/// here, without the GIL; Python takes it when it likes (PY1).
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "flag.hpp"
#include "tutti/view.hpp"

namespace tutti::python {

/// Views that nobody takes are kept, up to so many; then the oldest go.
inline constexpr std::size_t kViewsMax = 4096;

class Told {
 public:
  [[nodiscard]] Result<void> open() {
    if (Result<void> opened = views_flag_.open(); !opened) return opened;
    return ended_flag_.open();
  }

  void put(const ViewChange& view) {
    const std::lock_guard lock(mutex_);
    views_.push_back(view);
    if (views_.size() > kViewsMax) views_.pop_front();
    views_flag_.raise();
    changed_.notify_all();
  }
  /// The node has failed, or was stopped.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    views_flag_.raise();
    ended_flag_.raise();
    changed_.notify_all();
  }

  /// The next view. Empty: there is none, and none comes any more. Without the GIL.
  [[nodiscard]] Result<std::optional<ViewChange>> next(nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [&] { return !views_.empty() || ended_; })) {
      return fail(ErrorCode::timed_out, "there was no further view before the deadline");
    }
    if (views_.empty()) return std::optional<ViewChange>();
    std::optional<ViewChange> view(std::move(views_.front()));
    views_.pop_front();
    if (views_.empty() && !ended_) views_flag_.lower();
    return view;
  }

  [[nodiscard]] int views_descriptor() const { return views_flag_.descriptor(); }
  [[nodiscard]] int ended_descriptor() const { return ended_flag_.descriptor(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ViewChange> views_;
  bool ended_ = false;
  Flag views_flag_;
  Flag ended_flag_;
};

}  // namespace tutti::python
