/// \file recorder.hpp
/// Where a member writes its history: to a file, or to memory (simulator, tests).
///
/// A member without a recorder records nothing; an event then costs one test of a pointer:
/// `if (recorder != nullptr) recorder->append(make_deliver(...));`
/// Invariants: of two events of one thread, and of two events that a commit or a doorbell orders,
/// the earlier one stands first. The recorder drops no event while there is space (EventFile).
/// Threads: any number may call append() at once; one calls the rest, while none appends.
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
  /// Creates or overwrites the file. An appended event is in it even if the process is killed.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> to_file(const std::filesystem::path& path,
                                                                 Identity identity);
  [[nodiscard]] static std::unique_ptr<Recorder> in_memory(Identity identity);

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Sets the event's node and incarnation and appends it. Blocks only while the system provides
  /// more space.
  void append(Event event) noexcept;

  /// Closes the file properly; the error says what was lost. A file that was not closed, as after a
  /// crash, can be read as well. In memory it does nothing.
  Result<void> close();

  [[nodiscard]] const Identity& identity() const { return identity_; }
  /// The events in memory; empty if they go to a file. Valid until the next append.
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  /// How many events were dropped because the system refused space.
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
