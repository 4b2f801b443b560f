#include "history/reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/system_error.hpp"
#include "base/unique_fd.hpp"
#include "history/file_header.hpp"

namespace tutti::history {
namespace {

std::unexpected<Error> garbage(const std::filesystem::path& path, std::uint64_t offset,
                               const std::string& what) {
  return fail(ErrorCode::invalid_argument, path.string() + ": at byte " + std::to_string(offset) +
                                               ": " + what +
                                               "; give a file that a member recorded, unchanged");
}

std::uint64_t offset_of(std::uint64_t event) { return (kHeaderSlots + event) * sizeof(Event); }

}  // namespace

Result<HistoryFile> HistoryFile::open(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail_system("cannot read the history " + path.string());
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) {
    return fail_system("cannot read the history " + path.string());
  }
  if (!S_ISREG(status.st_mode)) return garbage(path, 0, "it is not a regular file");
  HistoryFile file;
  file.size_ = static_cast<std::size_t>(status.st_size);
  if (file.size_ < sizeof(FileHeader)) {
    return garbage(
        path, file.size_,
        "the file ends within its header of " + std::to_string(sizeof(FileHeader)) + " bytes");
  }
  void* const data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return fail_system("cannot map the history " + path.string());
  file.data_ = data;
  if (Result<void> read = file.read_header(path); !read) return std::unexpected(read.error());
  if (Result<void> read = file.read_events(path); !read) return std::unexpected(read.error());
  return file;
}

Result<void> HistoryFile::read_header(const std::filesystem::path& path) {
  FileHeader header;
  std::memcpy(&header, data_, sizeof header);
  if (std::memcmp(header.magic, kFileMagic, sizeof kFileMagic) != 0) {
    return garbage(path, 0, "not a history: it does not begin with TUTTIHST");
  }
  if (header.version != kFileVersion) {
    return garbage(path, offsetof(FileHeader, version),
                   "version " + std::to_string(header.version) +
                       " of the format, this program knows " + std::to_string(kFileVersion));
  }
  if (header.header_bytes != sizeof header || header.closed > 1) {
    return garbage(path, offsetof(FileHeader, header_bytes), "the header contradicts itself");
  }
  history_.identity = {.name = std::string(header.name, header.name_bytes),
                       .node = header.node,
                       .incarnation = header.incarnation,
                       .boot_time_ns = header.boot_time_ns};
  history_.source = path.string();
  history_.crashed = header.closed == 0;
  history_.lost = header.lost_events;
  history_.mapped = true;
  closed_events_ = header.closed_events;
  return {};
}

Result<void> HistoryFile::read_events(const std::filesystem::path& path) {
  const auto* const first =
      reinterpret_cast<const Event*>(static_cast<const std::byte*>(data_) + sizeof(FileHeader));
  std::size_t count = (size_ - sizeof(FileHeader)) / sizeof(Event);
  cut_bytes_ = (size_ - sizeof(FileHeader)) % sizeof(Event);
  if (history_.crashed) {  // space that was reserved and not used
    while (count > 0 && first[count - 1] == Event{}) --count;
  } else if (count > closed_events_ || (count == closed_events_ && cut_bytes_ > 0)) {
    return garbage(
        path, offset_of(closed_events_),
        "more than the " + std::to_string(closed_events_) + " events it was closed with");
  } else {
    cut_events_ = closed_events_ - count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Event& event = first[i];
    if (event.kind == EventKind::none) {
      ++unwritten_;
    } else if (static_cast<std::uint8_t>(event.kind) >= kEventKinds) {
      return garbage(path, offset_of(i),
                     "unknown kind of event " + std::to_string(static_cast<unsigned>(event.kind)));
    } else if (event.node != history_.identity.node ||
               event.incarnation != history_.identity.incarnation) {
      return garbage(path, offset_of(i), "an event of another member than the header names");
    }
    constexpr std::size_t kBlock = 1U << 18;  // 16 MiB
    if (i % kBlock == kBlock - 1) release_pages({first + i + 1 - kBlock, kBlock});
  }
  if (!history_.crashed && history_.lost == 0 && unwritten_ > 0) {
    return garbage(path, sizeof(FileHeader),
                   "it was closed but has events that were never written");
  }
  if (cut_bytes_ > 0 || cut_events_ > 0) history_.lost += std::max<std::uint64_t>(1, cut_events_);
  history_.events = {first, count};
  return {};
}

HistoryFile::~HistoryFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void HistoryFile::swap(HistoryFile& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(history_, other.history_);
  std::swap(closed_events_, other.closed_events_);
  std::swap(cut_bytes_, other.cut_bytes_);
  std::swap(cut_events_, other.cut_events_);
  std::swap(unwritten_, other.unwritten_);
}

void release_pages(std::span<const Event> events) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  // madvise takes no const pointer; this advice changes no content.
  auto* const data = reinterpret_cast<std::byte*>(const_cast<Event*>(events.data()));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(data) % page) % page;
  if (events.size_bytes() <= before) return;
  const std::size_t whole = (events.size_bytes() - before) / page * page;
  if (whole > 0) ::madvise(data + before, whole, MADV_DONTNEED);
}

}  // namespace tutti::history
