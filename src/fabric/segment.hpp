/// \file segment.hpp
/// The memory of one's own row: written here, mapped read-only by members on this host, read from
/// by the fabrics that copy.
///
/// An anonymous sealed memory file: its size cannot change (no SIGBUS at a reader), nobody else
/// can map it writable, and it leaves nothing behind in any file system when the process dies.
#pragma once
#include <cstddef>
#include <span>

#include "base/unique_fd.hpp"
#include "tutti/error.hpp"

namespace tutti {

class Segment {
 public:
  /// Zeroed memory of `bytes` (rounded up to pages), for writing by this process.
  [[nodiscard]] static Result<Segment> create(std::size_t bytes);

  /// Maps a peer's segment read-only from a descriptor it sent. Refuses one that is not sealed
  /// against shrinking or is smaller than `bytes`.
  [[nodiscard]] static Result<Segment> map_peer(UniqueFd fd, std::size_t bytes);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  /// Not to be written for a peer's segment: the mapping is read-only.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// A read-only descriptor to hand to a peer; empty for a peer's segment.
  [[nodiscard]] const UniqueFd& read_only_fd() const { return fd_; }

  /// Replaces the memory by a private copy of what it shows now, at the same address (F-fence).
  [[nodiscard]] Result<void> freeze();

 private:
  Segment(std::byte* data, std::size_t size, UniqueFd fd)
      : data_(data), size_(size), fd_(std::move(fd)) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  UniqueFd fd_;
};

}  // namespace tutti
