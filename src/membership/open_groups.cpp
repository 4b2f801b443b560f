#include "membership/open_groups.hpp"

#include <algorithm>

#include "membership/word_list.hpp"

namespace tutti {
namespace {

bool wishes_for(const std::vector<GroupWish>& wishes, const std::string& name, std::uint32_t kind) {
  return std::ranges::find(wishes, GroupWish{name, kind}) != wishes.end();
}

std::vector<Slot> who_wishes(const std::vector<Slot>& stay,
                             const IndexedBy<Slot, std::vector<GroupWish>>& wishes,
                             const std::string& name, std::uint32_t kind) {
  std::vector<Slot> out;
  for (const Slot slot : stay) {
    if (wishes_for(wishes[slot], name, kind)) out.push_back(slot);
  }
  std::ranges::sort(out, {}, &Slot::value);
  return out;
}

}  // namespace

const GroupSpaces::Space* GroupSpaces::find(std::uint32_t group) const {
  const auto found = std::ranges::find(all, group, &Space::group);
  return found == all.end() ? nullptr : &*found;
}

bool OpenGroup::has(Slot slot) const { return std::ranges::find(members, slot) != members.end(); }

const OpenGroup* find_space(const OpenGroups& open, std::uint32_t group) {
  const auto found = std::ranges::find(open, group, &OpenGroup::group);
  return found == open.end() ? nullptr : &*found;
}

const OpenGroup* find_name(const OpenGroups& open, std::string_view name) {
  const auto found = std::ranges::find(open, name, &OpenGroup::name);
  return found == open.end() ? nullptr : &*found;
}

OpenGroups next_groups(const GroupSpaces& spaces, const OpenGroups& now, std::uint64_t next,
                       const std::vector<Slot>& stay,
                       const IndexedBy<Slot, std::vector<GroupWish>>& wishes) {
  OpenGroups out;
  for (const OpenGroup& group : now) {
    const GroupSpaces::Space* const space = spaces.find(group.group);
    if (space == nullptr) continue;
    OpenGroup goes_on = group;
    goes_on.members = who_wishes(stay, wishes, group.name, space->kind);
    if (!goes_on.members.empty()) out.push_back(std::move(goes_on));
  }
  for (const Slot slot : stay) {
    for (const auto& [name, kind] : wishes[slot]) {
      if (find_name(now, name) != nullptr || find_name(out, name) != nullptr) continue;
      const auto is_free = [&](const GroupSpaces::Space& space) {
        return space.kind == kind && find_space(now, space.group) == nullptr &&
               find_space(out, space.group) == nullptr;
      };
      const auto space = std::ranges::find_if(spaces.all, is_free);
      if (space == spaces.all.end()) continue;
      out.push_back({name, space->group, next, who_wishes(stay, wishes, name, kind)});
    }
  }
  std::ranges::sort(out, {}, &OpenGroup::group);
  return out;
}

bool is_sensible(const GroupSpaces& spaces, const OpenGroups& open, std::uint32_t nodes) {
  for (auto group = open.begin(); group != open.end(); ++group) {
    if (spaces.find(group->group) == nullptr || group->members.empty()) return false;
    if (group->name.empty() || group->name.size() > kOpenNameMax) return false;
    if (group != open.begin() && std::prev(group)->group >= group->group) return false;
    if (find_name(open, group->name) != &*group) return false;
    for (auto member = group->members.begin(); member != group->members.end(); ++member) {
      if (member->value >= nodes) return false;
      if (member != group->members.begin() && std::prev(member)->value >= member->value)
        return false;
    }
  }
  return true;
}

void put(std::vector<std::uint64_t>& words, const OpenGroups& open) {
  if (open.empty()) return;
  words.push_back(open.size());
  for (const OpenGroup& group : open) {
    words.push_back(group.group);
    words.push_back(group.since);
    put_text(words, group.name);
    words.push_back(group.members.size());
    for (const Slot member : group.members) words.push_back(member.value);
  }
}

OpenGroups take_open_groups(WordReader& reader) {
  if (!reader.any()) return {};
  OpenGroups out(reader.count(4));
  for (OpenGroup& group : out) {
    group.group = static_cast<std::uint32_t>(reader.word());
    group.since = reader.word();
    group.name = reader.text(kOpenNameMax);
    group.members.resize(reader.count(1));
    for (Slot& member : group.members) member.value = static_cast<std::uint32_t>(reader.word());
  }
  return out;
}

std::size_t open_groups_words(std::size_t spaces, std::size_t nodes) {
  return spaces == 0 ? 0 : 1 + spaces * (3 + text_words_max(kOpenNameMax) + nodes);
}

}  // namespace tutti
