/// \file reader.hpp
/// Reads a history file. A file is input: the reader checks everything in it.
/// Invariants: HR1 a file of any content is read, or refused with a message that names the file and
/// the offset. HR2 a file that was cut short, as by a crash, is no error: the events that remain
/// are read, and what is missing is reported.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

#include "history/event.hpp"
#include "history/history.hpp"
#include "tutti/error.hpp"

namespace tutti::history {

/// A mapped history file. Nobody may shorten the file while it is mapped.
class HistoryFile {
 public:
  /// Reads the header and checks kind, node and incarnation of every event.
  [[nodiscard]] static Result<HistoryFile> open(const std::filesystem::path& path);

  HistoryFile(HistoryFile&& other) noexcept { swap(other); }
  HistoryFile& operator=(HistoryFile&& other) noexcept {
    swap(other);
    return *this;
  }
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;
  ~HistoryFile();

  /// Valid while this object exists; its events also after a move, while the new object exists.
  [[nodiscard]] const History& history() const { return history_; }
  /// Bytes of an incomplete event at the end (HR2).
  [[nodiscard]] std::uint64_t cut_bytes() const { return cut_bytes_; }
  /// Events that are missing at the end of a file that was closed properly (HR2).
  [[nodiscard]] std::uint64_t cut_events() const { return cut_events_; }
  /// Slots before the end that an append() had taken, but not filled, when the process was killed.
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

/// Releases the memory of `events`, a part of a mapped history; the next access reads the file
/// again.
void release_pages(std::span<const Event> events);

}  // namespace tutti::history
