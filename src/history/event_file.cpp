#include "history/event_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string>
#include <utility>

#include "base/system_error.hpp"

namespace tutti::history {
namespace {

constexpr std::size_t kWords = sizeof(Event) / sizeof(std::uint64_t);
constexpr std::size_t kPieceBytes = EventFile::kPieceSlots * sizeof(Event);

using Words = std::array<std::uint64_t, kWords>;

}  // namespace

EventFile::EventFile(UniqueFd fd, std::filesystem::path path, const FileHeader& header)
    : fd_(std::move(fd)), path_(std::move(path)), header_(header) {
  pieces_[0].done.store(kHeaderSlots, std::memory_order_relaxed);
}

Result<std::unique_ptr<EventFile>> EventFile::create(const std::filesystem::path& path,
                                                     const Identity& identity) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) return fail_system("cannot write the history " + path.string());
  std::unique_ptr<EventFile> file(new EventFile(std::move(fd), path, make_header(identity)));
  if (file->words_of(0) == nullptr || !file->write_header()) {
    return fail_system("cannot write the history " + path.string(),
                       file->error_.load(std::memory_order_relaxed));
  }
  return file;
}

void EventFile::append(const Event& event) noexcept {
  const std::uint64_t slot = next_.fetch_add(1, std::memory_order_relaxed);  // E2
  Piece* const piece = slot / kPieceSlots < kPiecesMax ? &pieces_[slot / kPieceSlots] : nullptr;
  std::uint64_t* const words = piece != nullptr ? words_of(slot / kPieceSlots) : nullptr;
  if (words == nullptr) return lose(piece == nullptr ? EFBIG : ENOSPC);
  const Words from = std::bit_cast<Words>(event);
  std::uint64_t* const target = words + slot % kPieceSlots * kWords;
  for (std::size_t i = 1; i < kWords; ++i) {
    std::atomic_ref(target[i]).store(from[i], std::memory_order_relaxed);
  }
  // E1: pairs with a reader of the file, which may read it after this process was killed.
  std::atomic_ref(target[0]).store(from[0], std::memory_order_release);
  // The thread that fills a piece unmaps it; acq_rel orders the other threads' stores before that.
  if (piece->done.fetch_add(1, std::memory_order_acq_rel) + 1 == kPieceSlots) {
    ::munmap(words, kPieceBytes);
  }
}

std::uint64_t* EventFile::words_of(std::uint64_t piece) noexcept {
  // Pairs with the release in map().
  std::uint64_t* const words = pieces_[piece].words.load(std::memory_order_acquire);
  return words != nullptr ? words : map(piece);
}

std::uint64_t* EventFile::map(std::uint64_t piece) noexcept {
  const std::lock_guard lock(mapping_);
  std::uint64_t* words = pieces_[piece].words.load(std::memory_order_relaxed);
  if (words != nullptr || error_.load(std::memory_order_relaxed) != 0) return words;
  const auto offset = static_cast<off_t>(piece * kPieceBytes);
  // Reserve the space now: a write to a page that the disk has no room for would end the process.
  int error_number = 0;
  do {
    error_number = ::posix_fallocate(fd_.get(), offset, kPieceBytes);
  } while (error_number == EINTR);
  void* at = MAP_FAILED;
  if (error_number == 0) {
    at = ::mmap(nullptr, kPieceBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), offset);
    if (at == MAP_FAILED) error_number = errno;
  }
  if (error_number != 0) {
    error_.store(error_number, std::memory_order_relaxed);
    return nullptr;
  }
  words = static_cast<std::uint64_t*>(at);
  pieces_[piece].words.store(words, std::memory_order_release);  // pairs with words_of
  return words;
}

void EventFile::lose(int error_number) noexcept {
  int none = 0;
  error_.compare_exchange_strong(none, error_number, std::memory_order_relaxed);
  if (lost_.fetch_add(1, std::memory_order_relaxed) == 0) {
    const std::lock_guard lock(mapping_);
    write_header();  // at once: this process may never close the file
  }
}

bool EventFile::write_header() noexcept {
  header_.lost_events = lost();
  const ssize_t written = ::pwrite(fd_.get(), &header_, sizeof header_, 0);
  if (written == static_cast<ssize_t>(sizeof header_)) return true;
  int none = 0;
  error_.compare_exchange_strong(none, written < 0 ? errno : ENOSPC, std::memory_order_relaxed);
  return false;
}

Result<void> EventFile::close() {
  if (!fd_) return {};
  std::uint64_t end = next_.load(std::memory_order_relaxed);
  for (std::uint64_t piece = 0; piece < kPiecesMax; ++piece) {
    std::uint64_t* const words = pieces_[piece].words.load(std::memory_order_acquire);
    if (words == nullptr) {  // never mapped: neither this piece nor a later one has events
      end = std::min(end, piece * kPieceSlots);
      break;
    }
    if (pieces_[piece].done.load(std::memory_order_acquire) < kPieceSlots) {
      ::munmap(words, kPieceBytes);
    }
  }
  header_.closed = 1;
  header_.closed_events = end - kHeaderSlots;
  const bool cut = ::ftruncate(fd_.get(), static_cast<off_t>(end * sizeof(Event))) == 0;
  const int cut_error = errno;
  const bool marked = write_header();
  fd_ = UniqueFd();
  const int error_number = error_.load(std::memory_order_relaxed);
  if (cut && marked && error_number == 0) return {};
  return fail_system("the history " + path_.string() + " is incomplete: " + std::to_string(lost()) +
                         " events were lost; free some space and run again",
                     error_number != 0 ? error_number : cut_error);
}

}  // namespace tutti::history
