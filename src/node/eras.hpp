/// \file eras.hpp
/// In which views a member's own records of a group were delivered.
///
/// Invariant: what is kept is bounded: a view in which none was delivered takes no place, and of
/// the others the newest kViewsRemembered are kept.
/// Threads: one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "tutti/group.hpp"

namespace tutti {

class Eras {
 public:
  /// A view begins; so many own records were delivered in earlier ones.
  void entered(std::uint64_t view, std::uint64_t records_before) {
    TUTTI_ASSERT(eras_.empty() ||
                     (view > eras_.back().view && records_before >= eras_.back().records_before),
                 view, records_before, eras_.back().view, eras_.back().records_before);
    if (!eras_.empty() && eras_.back().records_before == records_before) eras_.pop_back();
    if (eras_.size() == kViewsRemembered) eras_.erase(eras_.begin());
    eras_.push_back({view, records_before});
    TUTTI_ASSERT(eras_.size() <= kViewsRemembered, eras_.size(), view);
  }

  /// Of the `record`-th own one, from 1, which is delivered. Nothing if that view is forgotten.
  [[nodiscard]] std::optional<std::uint64_t> view_of(std::uint64_t record) const {
    for (auto era = eras_.rbegin(); era != eras_.rend(); ++era) {
      if (record > era->records_before) return era->view;
    }
    return {};
  }

  [[nodiscard]] std::size_t size() const { return eras_.size(); }

 private:
  struct Era {
    std::uint64_t view = 0;
    std::uint64_t records_before = 0;
  };
  std::vector<Era> eras_;  // the newest last
};

}  // namespace tutti
