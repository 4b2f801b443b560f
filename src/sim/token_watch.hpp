/// \file token_watch.hpp
/// The tokens of all rings of a world, as their members' own rows say. Whatever members believe, a
/// view has one token, which only goes forward and keeps the windows (E10).
///
/// A pass may be held up after its token has left: then the next one is seen before it. So tokens
/// are kept by visit, and each is compared with those of the visits next to it.
/// Threads: one. Source: [Accelerated Ring, III].
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "multicast/shape.hpp"
#include "ring/token/token.hpp"

namespace tutti::sim {

class TokenWatch {
 public:
  /// Looks at the token that the member has posted last in its row, in the view of `shape`. What is
  /// wrong with it; empty if nothing.
  [[nodiscard]] std::string see(std::size_t group, const GroupShape& shape);

 private:
  static constexpr std::size_t kKept = 64;  // visits of a view

  struct Posted {
    Rank by{};
    Token token;
    friend bool operator==(const Posted&, const Posted&) = default;
  };
  using Ring = std::map<std::uint64_t, Posted>;  // by visit

  [[nodiscard]] static std::string compare(const Posted& earlier, const Posted& later,
                                           const GroupShape& shape);

  std::map<std::pair<std::size_t, std::uint64_t>, Ring> rings_;  // by group and view
};

}  // namespace tutti::sim
