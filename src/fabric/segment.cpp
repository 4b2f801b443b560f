#include "fabric/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/memory_advice.hpp"
#include "base/system_error.hpp"
#include "fabric/freeze.hpp"

namespace tutti {
namespace {

constexpr std::size_t kSegmentBytesMax = std::size_t{1} << 46;  // keeps the rounding exact
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t rounded_to_pages(std::size_t bytes) {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

/// Populated at once: the first messages must not pay for page faults.
std::byte* map_shared(int fd, std::size_t bytes, int protection) {
  void* data = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

/// The system's refusal, and what to do where a limit is its reason.
std::unexpected<Error> fail_at_limit(const std::string& what) {
  const int reason = errno;
  std::unexpected<Error> error = fail_system(what, reason);
  if (reason == ENOMEM) {
    error.error().message += "; " + memory_advice();
  }
  if (reason == EFBIG) {
    error.error().message += "; raise the limit on file sizes (ulimit -f)";
  }
  return error;
}

}  // namespace

Result<Segment> Segment::create(std::size_t bytes) {
  if (bytes == 0 || bytes > kSegmentBytesMax) {
    return fail(ErrorCode::invalid_argument,
                "a segment of " + std::to_string(bytes) + " bytes is not possible");
  }
  const std::size_t size = rounded_to_pages(bytes);
  const UniqueFd writable(::memfd_create("tutti-row", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!writable) return fail_system("cannot create a memory file for the row");
  if (::ftruncate(writable.get(), static_cast<off_t>(size)) != 0) {
    return fail_at_limit("cannot make the row " + std::to_string(size) + " bytes large");
  }
  // Mapped before it is sealed: F_SEAL_FUTURE_WRITE spares this mapping and refuses all later ones.
  std::byte* data = map_shared(writable.get(), size, PROT_READ | PROT_WRITE);
  if (data == nullptr) {
    return fail_at_limit("cannot map a row of " + std::to_string(size) + " bytes");
  }
  Segment segment(data, size, UniqueFd());
  if (::fcntl(writable.get(), F_ADD_SEALS, kSeals) != 0) {
    return fail_system("cannot seal the row's memory file (Linux 5.1 or later is needed)");
  }
  const std::string path = "/proc/self/fd/" + std::to_string(writable.get());
  segment.fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!segment.fd_) return fail_system("cannot open " + path + " read-only (is /proc mounted?)");
  return segment;
}

Result<Segment> Segment::map_peer(UniqueFd fd, std::size_t bytes) {
  if (bytes == 0 || bytes > kSegmentBytesMax) {
    return fail(ErrorCode::invalid_argument,
                "a peer's segment of " + std::to_string(bytes) + " bytes is not possible");
  }
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0) return fail_system("the descriptor a peer sent is no memory file");
  if ((seals & F_SEAL_SHRINK) == 0) {
    return fail(ErrorCode::mismatch,
                "a peer's segment is not sealed against shrinking: reading it would not be safe");
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_system("cannot examine a peer's segment");
  if (status.st_size < 0 || static_cast<std::size_t>(status.st_size) < bytes) {
    return fail(ErrorCode::mismatch, "a peer's segment has " + std::to_string(status.st_size) +
                                         " bytes where " + std::to_string(bytes) +
                                         " are expected: its options differ from ours");
  }
  const std::size_t size = rounded_to_pages(bytes);
  std::byte* data = map_shared(fd.get(), size, PROT_READ);
  if (data == nullptr) {
    return fail_at_limit("cannot map a peer's segment of " + std::to_string(size) + " bytes");
  }
  return Segment(data, size, UniqueFd());
}

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      fd_(std::move(other.fd_)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  return *this;
}

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<void> Segment::freeze() {
  TUTTI_ASSERT(data_ != nullptr && !fd_);  // one's own segment is never frozen
  return freeze_mapping({data_, size_});
}

}  // namespace tutti
