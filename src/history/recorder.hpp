/// \file recorder.hpp
/// What a member writes its history to: a file, or memory (simulator, tests).
///
/// Nothing is recorded unless a recorder is there, so that without one an event costs a test of a
/// pointer: `if (recorder != nullptr) recorder->append(make_deliver(...));`
/// Invariants: that of one thread's events, and of events ordered by other means (a commit, a
/// doorbell), the earlier stands first. Events are never dropped while there is space (EventFile).
/// Threads: append() from any number at once; the rest from one, while none appends.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "history/event.hpp"
#include "history/event_file.hpp"
#include "history/file_header.hpp"
#include "tutti/error.hpp"

namespace tutti::history {

class Recorder {
 public:
  /// Makes the file anew. What was appended is in it even if the process is killed.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> to_file(const std::filesystem::path& path,
                                                                 Identity identity);
  [[nodiscard]] static std::unique_ptr<Recorder> in_memory(Identity identity);

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Adds an event of this recorder's node and incarnation, which it puts in. Never blocks, but for
  /// the system's time to give more space.
  void append(Event event) noexcept;

  /// Ends the file in good order; the error says what was lost. Without it, as after a crash, the
  /// file can be read all the same. In memory: nothing.
  Result<void> close();

  [[nodiscard]] const Identity& identity() const { return identity_; }
  /// Those in memory, empty for a file. Valid until the next append.
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  /// How many were dropped because the system refused space.
  [[nodiscard]] std::uint64_t lost() const { return file_ != nullptr ? file_->lost() : 0; }

 private:
  Recorder(Identity identity, std::unique_ptr<EventFile> file)
      : identity_(std::move(identity)), file_(std::move(file)) {}

  const Identity identity_;
  const std::unique_ptr<EventFile> file_;  // null: in memory
  std::atomic_flag busy_;                  // held while events_ changes
  std::vector<Event> events_;
};

}  // namespace tutti::history
