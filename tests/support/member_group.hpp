/// \file member_group.hpp
/// One member's part in one group, as a World drives it: the library's Subgroup over either
/// Memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "multicast/subgroup.hpp"
#include "predicates/predicate_loop.hpp"
#include "support/landing_memory.hpp"
#include "tutti/statistics.hpp"

namespace tutti::testing {

class MemberGroup : public Stepped {
 public:
  /// One turn of the group's own delivery thread. True if anything was delivered.
  virtual bool deliver_here() = 0;
  [[nodiscard]] virtual SendRing* ring() = 0;
  [[nodiscard]] virtual bool complete() const = 0;
  [[nodiscard]] virtual std::uint64_t own_records_delivered() const = 0;
  [[nodiscard]] virtual std::optional<Violation> violation() const = 0;
  [[nodiscard]] virtual GroupStatistics statistics() const = 0;
};

/// The library's own.
[[nodiscard]] std::unique_ptr<MemberGroup> make_native_group(const GroupShape& shape,
                                                             SubgroupPlace place,
                                                             DeliveryCallback callback);

/// Reads through `memory`.
[[nodiscard]] std::unique_ptr<MemberGroup> make_landing_group(const GroupShape& shape,
                                                              SubgroupPlace place,
                                                              DeliveryCallback callback,
                                                              LandingMemory memory);

}  // namespace tutti::testing
