#include "membership/word_list.hpp"

#include <cstring>

namespace tutti {

std::uint64_t digest_of(std::span<const std::uint64_t> words) {
  std::uint64_t digest = 0x9E3779B97F4A7C15 + words.size();
  for (const std::uint64_t word : words) {
    digest = (digest ^ word) * 0x9FB21C651E98DF25;
    digest ^= digest >> 29;
  }
  return digest | 1;
}

void put_text(std::vector<std::uint64_t>& words, std::string_view text) {
  words.push_back(text.size());
  const std::size_t first = words.size();
  words.resize(first + (text.size() + 7) / 8);
  if (!text.empty()) std::memcpy(words.data() + first, text.data(), text.size());
}

std::uint64_t WordReader::word() {
  if (words_.empty()) {
    good_ = false;
    return 0;
  }
  const std::uint64_t first = words_.front();
  words_ = words_.subspan(1);
  return first;
}

std::size_t WordReader::count(std::size_t words_each) {
  const std::uint64_t many = word();
  if (many > words_.size() / words_each) good_ = false;
  return good_ ? static_cast<std::size_t>(many) : 0;
}

std::string WordReader::text(std::size_t bytes_max) {
  const std::uint64_t bytes = word();
  if (bytes > bytes_max || (bytes + 7) / 8 > words_.size()) good_ = false;
  if (!good_) return {};
  std::string out(reinterpret_cast<const char*>(words_.data()), static_cast<std::size_t>(bytes));
  words_ = words_.subspan(static_cast<std::size_t>((bytes + 7) / 8));
  return out;
}

}  // namespace tutti
