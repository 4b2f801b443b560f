/// \file event_file.hpp
/// Appends events to a file that is mapped piece by piece: what was appended is in the file even if
/// the process is killed at the next instruction. Used by Recorder.
/// Invariants: E1 an event's first word, with its kind, is stored last: an event is there whole or
/// not at all. E2 events lie in the order in which append() took their places. E3 nothing is
/// dropped unless the system refuses space, and then lost() and the header say so. Threads:
/// append() from any, without locks but for mapping the next piece; the rest from one.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/unique_fd.hpp"
#include "history/event.hpp"
#include "history/file_header.hpp"
#include "tutti/error.hpp"

namespace tutti::history {

class EventFile {
 public:
  static constexpr std::uint64_t kPieceSlots = 16384;  ///< 1 MiB
  static constexpr std::uint64_t kPiecesMax = 16384;   ///< 16 GiB in all, 268 million events

  /// Makes the file anew; one that is there is overwritten.
  [[nodiscard]] static Result<std::unique_ptr<EventFile>> create(const std::filesystem::path& path,
                                                                 const Identity& identity);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  ~EventFile() { [[maybe_unused]] const Result<void> closed = close(); }

  void append(const Event& event) noexcept;

  /// No append() runs or follows. Cuts the file to its length and marks it as closed in good order.
  /// An error says why events were lost, if any were. Idempotent.
  Result<void> close();

  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Piece {
    std::atomic<std::uint64_t*> words{nullptr};  // null: not mapped yet
    std::atomic<std::uint64_t> done{0};          // how many of its places are written
  };

  EventFile(UniqueFd fd, std::filesystem::path path, const FileHeader& header);
  std::uint64_t* words_of(std::uint64_t piece) noexcept;
  std::uint64_t* map(std::uint64_t piece) noexcept;
  void lose(int error_number) noexcept;
  bool write_header() noexcept;

  UniqueFd fd_;
  const std::filesystem::path path_;
  FileHeader header_;
  std::atomic<std::uint64_t> next_{kHeaderSlots};  // place of the next event
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<int> error_{0};  // errno of the first failure
  std::mutex mapping_;         // one maps at a time
  std::unique_ptr<Piece[]> pieces_{new Piece[kPiecesMax]};
};

}  // namespace tutti::history
