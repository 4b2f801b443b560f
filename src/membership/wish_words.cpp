#include "membership/wish_words.hpp"

#include <algorithm>

#include "membership/word_list.hpp"

namespace tutti {

std::vector<std::uint64_t> encode(const std::vector<GroupWish>& wishes) {
  std::vector<std::uint64_t> words(kWishHeaderWords);
  words.push_back(wishes.size());
  for (const GroupWish& wish : wishes) {
    words.push_back(wish.kind);
    put_text(words, wish.name);
  }
  words[1] = words.size();
  words[0] = digest_of(std::span(words).subspan(1));
  return words;
}

bool is_whole_list(std::span<const std::uint64_t> words) {
  if (words.size() < kWishHeaderWords || words[1] < kWishHeaderWords || words[1] > words.size())
    return false;
  words = words.first(static_cast<std::size_t>(words[1]));
  return words[0] == digest_of(words.subspan(1));
}

std::optional<std::vector<GroupWish>> decode_wishes(const GroupSpaces& spaces,
                                                    std::span<const std::uint64_t> words) {
  if (!is_whole_list(words)) return {};
  WordReader reader(words.first(static_cast<std::size_t>(words[1])).subspan(kWishHeaderWords));
  std::vector<GroupWish> out(reader.count(2));
  for (auto wish = out.begin(); wish != out.end(); ++wish) {
    wish->kind = static_cast<std::uint32_t>(reader.word());
    wish->name = reader.text(kOpenNameMax);
    const GroupSpaces::Space* const space = spaces.find(wish->kind);
    if (space == nullptr || space->kind != wish->kind || wish->name.empty()) return {};
    if (std::ranges::find(out.begin(), wish, wish->name, &GroupWish::name) != wish) return {};
  }
  if (!reader.whole() || out.size() > spaces.all.size()) return {};
  return out;
}

std::size_t wish_words_max(std::size_t spaces) {
  return spaces == 0 ? 0 : kWishHeaderWords + 1 + spaces * (1 + text_words_max(kOpenNameMax));
}

}  // namespace tutti
