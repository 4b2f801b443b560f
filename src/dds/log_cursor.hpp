/// \file log_cursor.hpp
/// Reads the samples of one topic from the log of its bundle, beside the thread that writes it.
///
/// Threads: one at a time. next() blocks for as long as the disk does.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dds/definition.hpp"
#include "log/disk.hpp"
#include "log/stream.hpp"
#include "tutti/dds/sample.hpp"
#include "tutti/error.hpp"

namespace tutti::dds {

class LogCursor {
 public:
  /// From that position on. A position before the first one that the log has is moved to that one.
  /// `is_refused` says which clients' samples were not delivered (Bundle::is_refused).
  [[nodiscard]] static Result<LogCursor> open(const std::string& directory, std::uint32_t topic,
                                              const Definition& definition, std::uint64_t from,
                                              std::function<bool(std::uint64_t)> is_refused);

  /// Adds the next samples before the position `until`, at most `max`; none if there is none, or if
  /// the next `pieces` of the log (256 KiB each) have none: then position() is before `until`.
  [[nodiscard]] Result<void> next(std::size_t max, std::uint64_t until, LoanedBytes& into,
                                  std::size_t pieces);
  /// What comes before it was added, or is not of the topic.
  [[nodiscard]] std::uint64_t position() const;

 private:
  struct State;
  explicit LogCursor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tutti::dds
