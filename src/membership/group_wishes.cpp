#include "membership/group_wishes.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "membership/wish_words.hpp"
#include "sst/memory.hpp"

namespace tutti {
namespace {

// In place of a digest while a list is written; no list was written yet where that is 0.
constexpr std::uint64_t kIsWriting = 1;

}  // namespace

template <class Memory>
GroupWishes<Memory>::GroupWishes(ViewRows<Memory>& rows, const GroupSpaces& spaces,
                                 std::uint32_t nodes)
    : rows_(rows), spaces_(spaces), wishes_(nodes), read_(nodes), incarnation_(nodes) {
  TUTTI_ASSERT(rows.words().wish_bytes() == 8 * wish_words_max(spaces.all.size()),
               rows.words().wish_bytes(), spaces.all.size(), rows.self().slot);
}

template <class Memory>
bool GroupWishes<Memory>::has(std::string_view name) const {
  return std::ranges::find(own(), name, &GroupWish::name) != own().end();
}

template <class Memory>
bool GroupWishes<Memory>::has(const OpenGroup& open) const {
  const auto wish = std::ranges::find(own(), open.name, &GroupWish::name);
  const GroupSpaces::Space* const space = spaces_.find(open.group);
  return wish != own().end() && space != nullptr && wish->kind == space->kind;
}

template <class Memory>
void GroupWishes<Memory>::add(GroupWish wish) {
  TUTTI_ASSERT(!has(wish.name) && !is_full(), own().size(), rows_.self().slot);
  wishes_[rows_.self().slot].push_back(std::move(wish));
  write();
}

template <class Memory>
void GroupWishes<Memory>::remove(std::string_view name) {
  std::erase_if(wishes_[rows_.self().slot],
                [name](const GroupWish& wish) { return wish.name == name; });
  write();
}

// The digest last: who shares the row finds the old list, that it is being written, or the new one.
template <class Memory>
void GroupWishes<Memory>::write() {
  const std::vector<std::uint64_t> words = encode(own());
  std::byte* const at = rows_.own_row() + rows_.words().wishes();
  TUTTI_ASSERT(8 * words.size() <= rows_.words().wish_bytes(), words.size(), rows_.self().slot);
  rows_.store(at, kIsWriting);
  for (std::size_t i = 1; i < words.size(); ++i) rows_.store(at + 8 * i, words[i]);
  rows_.store(at, words[0]);
  changed_ = true;
  ++version_;
  rows_.mark_changed();
}

template <class Memory>
Extent GroupWishes<Memory>::extent() const {
  return {rows_.words().wishes(), static_cast<std::uint32_t>(rows_.words().wish_bytes())};
}

template <class Memory>
bool GroupWishes<Memory>::take_changed() {
  return std::exchange(changed_, false);
}

template <class Memory>
void GroupWishes<Memory>::look() {
  torn_.clear();
  for (const ViewMember& member : rows_.view().members) {
    if (member.slot == rows_.self().slot) continue;
    if (std::exchange(incarnation_[member.slot], member.incarnation) != member.incarnation) {
      wishes_[member.slot].clear();
      ++version_;
      read_[member.slot] = 0;
    }
    if (!read(member.slot)) torn_.push_back(member.slot);
  }
}

template <class Memory>
bool GroupWishes<Memory>::has_read(const std::vector<Slot>& members) const {
  return std::ranges::none_of(
      torn_, [&](Slot slot) { return std::ranges::find(members, slot) != members.end(); });
}

// False if some of its words are there, and others have yet to land.
template <class Memory>
bool GroupWishes<Memory>::read(Slot slot) {
  const std::byte* const from = rows_.row(slot) + rows_.words().wishes();
  const std::uint64_t digest = rows_.load(from);
  if (digest == 0 || digest == read_[slot]) return true;
  const std::size_t most = rows_.words().wish_bytes() / 8;
  std::vector<std::uint64_t> words{digest};
  std::size_t count = kWishHeaderWords;
  for (std::size_t i = 1; i < count; ++i) {
    words.push_back(rows_.load(from + 8 * i));
    if (i == 1) count = std::clamp<std::size_t>(words[1], kWishHeaderWords, most);
  }
  if (!is_whole_list(words)) return false;
  std::optional<std::vector<GroupWish>> found = decode_wishes(spaces_, words);
  if (!found) return true;
  wishes_[slot] = std::move(*found);
  read_[slot] = digest;
  ++version_;
  return true;
}

#ifndef TUTTI_DEFINITIONS_ONLY  // see sst/memory.hpp
template class GroupWishes<NativeMemory>;
#endif

}  // namespace tutti
