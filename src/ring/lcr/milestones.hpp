/// \file milestones.hpp
/// What a sender's word was when so many granules of its ring had come: kept until as many are
/// handed on. If there are too many of them, the newest stands for those before it that it covers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sst/sent_word.hpp"

namespace tutti {

class Milestones {
 public:
  static constexpr std::size_t kMax = 8;

  void add(std::uint64_t granules, const SentState& sent) {
    const bool replaces = count_ != 0 && (count_ == kMax || back().granules == granules);
    if (!replaces) ++count_;
    back() = {.granules = granules, .sent = sent};
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// The newest word that so many granules cover.
  [[nodiscard]] std::optional<SentState> covered_by(std::uint64_t granules) const {
    std::optional<SentState> out;
    for (std::size_t i = 0; i < count_ && at(i).granules <= granules; ++i) out = at(i).sent;
    return out;
  }
  void drop(std::uint64_t granules) {
    while (count_ != 0 && at(0).granules <= granules) {
      first_ = (first_ + 1) % kMax;
      --count_;
    }
  }

 private:
  struct Milestone {
    std::uint64_t granules = 0;
    SentState sent;
  };
  [[nodiscard]] const Milestone& at(std::size_t index) const {
    return milestones_[(first_ + index) % kMax];
  }
  [[nodiscard]] Milestone& back() { return milestones_[(first_ + count_ - 1) % kMax]; }

  std::array<Milestone, kMax> milestones_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tutti
