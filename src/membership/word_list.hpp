/// \file word_list.hpp
/// Lists of words in a row that are longer than what lands whole: how they are written, checked and
/// read. A list begins with a digest of all that follows, so it needs no guard: a reader that finds
/// another digest has found words of two times, or none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Never 0: zeroed memory is no list.
[[nodiscard]] std::uint64_t digest_of(std::span<const std::uint64_t> words);

/// Words that a text of at most so many bytes takes.
[[nodiscard]] constexpr std::size_t text_words_max(std::size_t bytes) {
  return 1 + (bytes + 7) / 8;
}

void put_text(std::vector<std::uint64_t>& words, std::string_view text);

/// Takes words from the front; once there are too few, all that follows is refused.
class WordReader {
 public:
  explicit WordReader(std::span<const std::uint64_t> words) : words_(words) {}

  std::uint64_t word();
  /// How many things of at least so many words each follow; 0 if there is no space for so many.
  std::size_t count(std::size_t words_each);
  /// As put_text() wrote it, of at most so many bytes.
  std::string text(std::size_t bytes_max);
  [[nodiscard]] bool any() const { return !words_.empty(); }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool whole() const { return good_ && words_.empty(); }

 private:
  std::span<const std::uint64_t> words_;
  bool good_ = true;
};

}  // namespace tutti
