#include "membership/proposal.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "membership/word_list.hpp"

namespace tutti {
namespace {

constexpr std::size_t kHeader = 2;

void put(std::vector<std::uint64_t>& words, const std::vector<ViewMember>& members) {
  words.push_back(members.size());
  for (const ViewMember& member : members) {
    words.push_back(member.slot.value);
    words.push_back(member.incarnation);
  }
}

std::vector<ViewMember> take_members(WordReader& reader) {
  std::vector<ViewMember> out(reader.count(2));
  for (ViewMember& member : out) {
    member.slot.value = static_cast<std::uint32_t>(reader.word());
    member.incarnation = reader.word();
  }
  return out;
}

// What no correct leader writes.
bool contradicts_itself(const Proposal& proposal) {
  const View& next = proposal.next;
  if (next.id == 0 || next.id > ~0ULL - 2 || next.survivors > next.members.size()) return true;
  if (proposal.in_order > proposal.left.size()) return true;
  const auto is_no_member = [&next](Slot slot) { return !next.rank_of(slot); };
  for (const OpenGroup& group : next.groups) {
    if (std::ranges::any_of(group.members, is_no_member)) return true;
  }
  const auto stays = [&next](const ViewMember& member) { return next.contains(member); };
  return std::ranges::any_of(proposal.left, stays);
}

}  // namespace

std::size_t proposal_words(std::size_t nodes, std::span<const std::uint32_t> senders_by_group,
                           std::size_t spaces) {
  std::size_t words = kHeader + 3 + 2 * (1 + 2 * nodes) + 1 + open_groups_words(spaces, nodes);
  for (const std::uint32_t senders : senders_by_group) words += 2 + cut_words_max(senders);
  return words;
}

std::vector<std::uint64_t> encode(const Proposal& proposal) {
  TUTTI_ASSERT(!contradicts_itself(proposal), proposal.next.id, proposal.next.survivors,
               proposal.next.members.size(), proposal.in_order, proposal.left.size());
  std::vector<std::uint64_t> words(kHeader);
  words.push_back(proposal.next.id);
  words.push_back(proposal.next.survivors);
  put(words, proposal.next.members.all());
  words.push_back(proposal.in_order);
  put(words, proposal.left);
  words.push_back(proposal.cuts.size());
  for (const Cut& cut : proposal.cuts) {
    words.push_back(cut.words.size());
    words.insert(words.end(), cut.words.begin(), cut.words.end());
    words.push_back(cut.next_seq);
  }
  put(words, proposal.next.groups);
  words[1] = words.size();
  words[0] = digest_of(std::span(words).subspan(1));
  return words;
}

std::optional<Proposal> decode(std::span<const std::uint64_t> words) {
  if (words.size() < kHeader || words[1] < kHeader || words[1] > words.size()) return {};
  words = words.first(static_cast<std::size_t>(words[1]));
  if (words[0] != digest_of(words.subspan(1))) return {};
  WordReader reader(words.subspan(kHeader));
  Proposal proposal;
  proposal.next.id = reader.word();
  proposal.next.survivors = static_cast<std::uint32_t>(reader.word());
  proposal.next.members = IndexedBy<Rank, ViewMember>(take_members(reader));
  proposal.in_order = static_cast<std::uint32_t>(reader.word());
  proposal.left = take_members(reader);
  proposal.cuts.resize(reader.count(1));
  for (Cut& cut : proposal.cuts) {
    cut.words.resize(reader.count(1));
    for (std::uint64_t& word : cut.words) word = reader.word();
    cut.next_seq = reader.word();
  }
  proposal.next.groups = take_open_groups(reader);
  if (!reader.whole() || contradicts_itself(proposal)) return {};
  return proposal;
}

}  // namespace tutti
