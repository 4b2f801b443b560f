/// \file line_splitter.hpp
/// Cuts a stream of blocks into lines, without copying those that lie within one block.
/// Invariants: LS1 the lines, joined by newlines, are the stream. LS2 memory stays bounded: of a
/// line over the limit only the length is kept. LS3 a last line without newline counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::cli {

struct Line {
  std::string_view text;  ///< valid until the next space(); empty if too_long
  std::uint64_t number;   ///< from 1
  std::uint64_t size;     ///< in bytes, without the newline
  bool too_long;
};

class LineSplitter {
 public:
  LineSplitter(std::size_t line_max_bytes, std::size_t block_bytes)
      : line_max_(line_max_bytes), buffer_(line_max_bytes + block_bytes) {}

  /// Where the next block goes; at least a block is free. Call when next() has no more.
  [[nodiscard]] std::span<char> space() {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      searched_ -= begin_;
      begin_ = 0;
    }
    return {buffer_.data() + end_, buffer_.size() - end_};
  }

  /// That many bytes were put at the front of space().
  void added(std::size_t bytes) { end_ += bytes; }

  /// The next line that has its newline.
  [[nodiscard]] std::optional<Line> next() {
    const char* const data = buffer_.data();
    const void* newline = std::memchr(data + searched_, '\n', end_ - searched_);
    if (newline == nullptr) {
      searched_ = end_;
      forget_too_long();
      return std::nullopt;
    }
    const std::size_t at = static_cast<std::size_t>(static_cast<const char*>(newline) - data);
    const Line line = cut(at);
    begin_ = searched_ = at + 1;
    return line;
  }

  /// After the end of the stream and the last next(): what came after the last newline (L3).
  [[nodiscard]] std::optional<Line> rest() {
    if (begin_ == end_ && dropped_ == 0) return std::nullopt;
    const Line line = cut(end_);
    begin_ = searched_ = end_;
    return line;
  }

  /// Bytes of an unfinished line that is over the limit already, else 0.
  [[nodiscard]] std::uint64_t too_long_so_far() const { return dropped_; }
  /// The number of the line that next() is looking for.
  [[nodiscard]] std::uint64_t line_number() const { return lines_ + 1; }

 private:
  Line cut(std::size_t end) {
    const std::uint64_t size = dropped_ + (end - begin_);
    const bool too_long = size > line_max_;
    dropped_ = 0;
    const std::string_view text{buffer_.data() + begin_, too_long ? 0 : end - begin_};
    return {text, ++lines_, size, too_long};
  }

  void forget_too_long() {  // LS2
    if (dropped_ == 0 && end_ - begin_ <= line_max_) return;
    dropped_ += end_ - begin_;
    begin_ = end_ = searched_ = 0;
  }

  const std::size_t line_max_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;      // of the line being looked for
  std::size_t searched_ = 0;   // no newline between begin_ and here
  std::size_t end_ = 0;        // of what was read
  std::uint64_t dropped_ = 0;  // bytes of this line that were not kept
  std::uint64_t lines_ = 0;
};

}  // namespace tutti::cli
