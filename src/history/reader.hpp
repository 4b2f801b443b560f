/// \file reader.hpp
/// Reads a history file. What comes from a file is input: everything in it is checked.
/// Invariants: HR1 a file of any content is read or refused with a message that names the file and
/// the offset. HR2 an end that was cut off, as by a crash, is not an error: the events before it
/// are read and the cut is reported.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "history/event.hpp"
#include "history/history.hpp"
#include "tutti/error.hpp"

namespace tutti::history {

/// A file that is mapped. Not for files that someone makes shorter meanwhile.
class HistoryFile {
 public:
  /// Reads the header and looks at the head of every event: kind, node, incarnation.
  [[nodiscard]] static Result<HistoryFile> open(const std::filesystem::path& path);

  HistoryFile(HistoryFile&& other) noexcept { swap(other); }
  HistoryFile& operator=(HistoryFile&& other) noexcept {
    swap(other);
    return *this;
  }
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;
  ~HistoryFile();

  /// Valid while this object lives, wherever it is moved.
  [[nodiscard]] const History& history() const { return history_; }
  /// Bytes at the end that are no whole event (HR2).
  [[nodiscard]] std::uint64_t cut_bytes() const { return cut_bytes_; }
  /// Events that a file ended in good order has lost at its end since (HR2).
  [[nodiscard]] std::uint64_t cut_events() const { return cut_events_; }
  /// Events before the end that were begun when the process was killed, and never written.
  [[nodiscard]] std::uint64_t unwritten() const { return unwritten_; }

 private:
  HistoryFile() = default;
  void swap(HistoryFile& other) noexcept;
  Result<void> read_header(const std::filesystem::path& path);
  Result<void> read_events(const std::filesystem::path& path);

  void* data_ = nullptr;
  std::size_t size_ = 0;
  History history_;
  std::uint64_t closed_events_ = 0;
  std::uint64_t cut_bytes_ = 0;
  std::uint64_t cut_events_ = 0;
  std::uint64_t unwritten_ = 0;
};

/// Lets the pages of `events`, a part of a mapped history, go from memory; they come back when
/// read.
void release_pages(std::span<const Event> events);

}  // namespace tutti::history
