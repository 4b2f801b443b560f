#include "sim/token_watch.hpp"

#include <iterator>

#include "sst/control_words.hpp"
#include "sst/memory.hpp"
#include "sst/token_words.hpp"

namespace tutti::sim {
namespace {

Token token_in(const std::byte* block, const TokenWords& words) {
  Token token;
  token.visit = NativeMemory::load(block + words.visit());
  token.seq = NativeMemory::load(block + words.seq());
  token.aru = NativeMemory::load(block + words.aru());
  unpack_turn(NativeMemory::load(block + words.turn()), token);
  return token;
}

std::string text_of(Rank by, const Token& token) {
  return "rank " + std::to_string(by.value) + " posts visit " + std::to_string(token.visit) +
         " with seq " + std::to_string(token.seq) + ", aru " + std::to_string(token.aru) +
         ", fcc " + std::to_string(token.fcc);
}

}  // namespace

std::string TokenWatch::see(std::size_t group, const GroupShape& shape) {
  const TokenWords words(shape.senders());
  const std::byte* block = shape.own_control;
  const Token token = token_in(block, words);
  if (token.visit == 0 ||
      NativeMemory::load(block + words.check()) != check_of(token, shape.view)) {
    return {};  // none yet
  }
  Ring& ring = rings_[{group, shape.view}];
  const Posted posted{shape.self, token};
  const auto [at, is_new] = ring.emplace(token.visit, posted);
  if (!is_new) {
    if (at->second == posted) return {};
    return text_of(shape.self, token) + " and " + text_of(at->second.by, at->second.token);
  }
  const TokenWindows& windows = shape.windows;
  if (token.aru > token.seq || token.seq > token.aru + windows.gap || token.fcc > windows.global) {
    return text_of(shape.self, token) + ", beyond its windows";
  }
  std::string wrong;
  if (at != ring.begin()) wrong = compare(std::prev(at)->second, posted, shape);
  if (std::next(at) != ring.end()) wrong += compare(posted, std::next(at)->second, shape);
  if (ring.size() > kKept) ring.erase(ring.begin());
  return wrong;
}

// Visits between two that were posted ended with a rest, or were passed over by a hand-over.
std::string TokenWatch::compare(const Posted& earlier, const Posted& later,
                                const GroupShape& shape) {
  const bool adjoin = later.token.visit == earlier.token.visit + 1;
  const bool taken_by_another = adjoin && later.by.value != earlier.token.visit % shape.members();
  const bool back = later.token.seq < earlier.token.seq;
  const bool too_many = adjoin && later.token.seq - earlier.token.seq > shape.windows.personal;
  if (!taken_by_another && !back && !too_many) return {};
  return text_of(later.by, later.token) + " after " + text_of(earlier.by, earlier.token);
}

}  // namespace tutti::sim
