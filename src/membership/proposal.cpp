#include "membership/proposal.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti {
namespace {

constexpr std::size_t kHeader = 2;

std::uint64_t digest_of(std::span<const std::uint64_t> words) {
  std::uint64_t digest = 0x9E3779B97F4A7C15 + words.size();
  for (const std::uint64_t word : words) {
    digest = (digest ^ word) * 0x9FB21C651E98DF25;
    digest ^= digest >> 29;
  }
  return digest | 1;  // zeroed memory is no proposal
}

void put(std::vector<std::uint64_t>& words, const std::vector<ViewMember>& members) {
  words.push_back(members.size());
  for (const ViewMember& member : members) {
    words.push_back(member.slot.value);
    words.push_back(member.incarnation);
  }
}

// Takes words from the front; once there are too few, all that follows is refused.
class Reader {
 public:
  explicit Reader(std::span<const std::uint64_t> words) : words_(words) {}

  std::uint64_t word() {
    if (words_.empty()) {
      good_ = false;
      return 0;
    }
    const std::uint64_t first = words_.front();
    words_ = words_.subspan(1);
    return first;
  }
  // How many things of so many words each follow.
  std::size_t count(std::size_t words_each) {
    const std::uint64_t many = word();
    if (many > words_.size() / words_each) good_ = false;
    return good_ ? static_cast<std::size_t>(many) : 0;
  }
  std::vector<ViewMember> members() {
    std::vector<ViewMember> out(count(2));
    for (ViewMember& member : out) {
      member.slot.value = static_cast<std::uint32_t>(word());
      member.incarnation = word();
    }
    return out;
  }
  [[nodiscard]] bool whole() const { return good_ && words_.empty(); }

 private:
  std::span<const std::uint64_t> words_;
  bool good_ = true;
};

// What no correct leader writes.
bool contradicts_itself(const Proposal& proposal) {
  const View& next = proposal.next;
  if (next.id == 0 || next.id > ~0ULL - 2 || next.survivors > next.members.size()) return true;
  if (proposal.in_order > proposal.left.size()) return true;
  const auto stays = [&next](const ViewMember& member) { return next.contains(member); };
  return std::ranges::any_of(proposal.left, stays);
}

}  // namespace

std::size_t proposal_words(std::size_t nodes, std::span<const std::uint32_t> senders_by_group) {
  std::size_t words = kHeader + 3 + 2 * (1 + 2 * nodes) + 1;
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
  words[1] = words.size();
  words[0] = digest_of(std::span(words).subspan(1));
  return words;
}

std::optional<Proposal> decode(std::span<const std::uint64_t> words) {
  if (words.size() < kHeader || words[1] < kHeader || words[1] > words.size()) return {};
  words = words.first(static_cast<std::size_t>(words[1]));
  if (words[0] != digest_of(words.subspan(1))) return {};
  Reader reader(words.subspan(kHeader));
  Proposal proposal;
  proposal.next.id = reader.word();
  proposal.next.survivors = static_cast<std::uint32_t>(reader.word());
  proposal.next.members = IndexedBy<Rank, ViewMember>(reader.members());
  proposal.in_order = static_cast<std::uint32_t>(reader.word());
  proposal.left = reader.members();
  proposal.cuts.resize(reader.count(1));
  for (Cut& cut : proposal.cuts) {
    cut.words.resize(reader.count(1));
    for (std::uint64_t& word : cut.words) word = reader.word();
    cut.next_seq = reader.word();
  }
  if (!reader.whole() || contradicts_itself(proposal)) return {};
  return proposal;
}

}  // namespace tutti
