/// \file wait_set.hpp
/// Waits for several readers at once.
///
///     tutti::dds::WaitSet either(temperatures, alarms);
///     while (either.wait(1s)) { ... take from both ... }
///
/// Threads: one at a time. A program with an event loop has no need of it: DataReader::event_fd.
#pragma once
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "tutti/dds/reader.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

class TUTTI_API WaitSet {
 public:
  using Timeout = std::chrono::nanoseconds;

  WaitSet() = default;
  template <class... Readers>
    requires(sizeof...(Readers) > 0 && (!std::is_same_v<std::decay_t<Readers>, WaitSet> && ...))
  explicit WaitSet(Readers&... readers) {
    (add(readers), ...);
  }

  /// The reader may be moved, and may be destroyed first: then it is waited for no more.
  template <class T>
  void add(DataReader<T>& reader) {
    add(reader.untyped());
  }
  void add(UntypedReader& reader);

  /// Waits until one of them has something to take, or has ended. ErrorCode::timed_out; refused
  /// inside callbacks of a reader's node.
  [[nodiscard]] Result<void> wait(Timeout timeout);

 private:
  std::vector<std::weak_ptr<ReaderCore>> readers_;
};

}  // namespace tutti::dds
