/// \file event_file.hpp
/// Appends events to a file that is mapped piece by piece: an appended event is in the file even if
/// the process is killed at the next instruction. Used by Recorder.
/// Invariants: E1 append() stores an event's first word, which holds its kind, last: a reader finds
/// the whole event or none. E2 events lie in the order in which append() took their slots. E3 no
/// event is dropped unless the system refuses space; then lost() and the header say so. Threads:
/// any may call append(), which takes a lock only to map the next piece; one calls the rest.
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

  /// Creates the file, or overwrites the one that exists.
  [[nodiscard]] static Result<std::unique_ptr<EventFile>> create(const std::filesystem::path& path,
                                                                 const Identity& identity);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  ~EventFile() { [[maybe_unused]] const Result<void> closed = close(); }

  void append(const Event& event) noexcept;

  /// Cuts the file to the events written and marks it as closed properly. No append() may run at
  /// that time or follow. The error says why events were lost, if any were. Idempotent.
  Result<void> close();

  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Piece {
    std::atomic<std::uint64_t*> words{nullptr};  // null: not mapped yet
    std::atomic<std::uint64_t> done{0};          // how many of its slots are written
  };

  EventFile(UniqueFd fd, std::filesystem::path path, const FileHeader& header);
  std::uint64_t* words_of(std::uint64_t piece) noexcept;
  std::uint64_t* map(std::uint64_t piece) noexcept;
  void lose(int error_number) noexcept;
  bool write_header() noexcept;

  UniqueFd fd_;
  const std::filesystem::path path_;
  FileHeader header_;
  std::atomic<std::uint64_t> next_{kHeaderSlots};  // slot of the next event
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<int> error_{0};  // errno of the first failure
  std::mutex mapping_;         // one thread maps at a time
  std::unique_ptr<Piece[]> pieces_{new Piece[kPiecesMax]};
};

}  // namespace tutti::history
