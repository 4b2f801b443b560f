#include "support/member_group.hpp"

#include <utility>

#include "multicast/subgroup.hpp"

namespace tutti::testing {
namespace {

template <class Memory>
class GroupOver final : public MemberGroup {
 public:
  GroupOver(const GroupShape& shape, SubgroupPlace place, DeliveryCallback callback, Memory memory)
      : subgroup_(shape, std::move(place), std::move(callback), memory) {}

  bool step(Effects& effects) override { return subgroup_.step(effects); }
  bool deliver() override { return subgroup_.deliver(); }
  bool deliver_here() override { return subgroup_.deliver_here(); }
  [[nodiscard]] SendRing* ring() override { return subgroup_.ring(); }
  [[nodiscard]] bool complete() const override { return subgroup_.complete(); }
  [[nodiscard]] std::uint64_t own_records_delivered() const override {
    return subgroup_.own_records_delivered();
  }
  [[nodiscard]] std::optional<Violation> violation() const override {
    return subgroup_.violation();
  }
  [[nodiscard]] GroupStatistics statistics() const override { return subgroup_.statistics(); }

 private:
  Subgroup<Memory> subgroup_;
};

}  // namespace

std::unique_ptr<MemberGroup> make_native_group(const GroupShape& shape, SubgroupPlace place,
                                               DeliveryCallback callback) {
  return std::make_unique<GroupOver<NativeMemory>>(shape, std::move(place), std::move(callback),
                                                   NativeMemory{});
}

std::unique_ptr<MemberGroup> make_landing_group(const GroupShape& shape, SubgroupPlace place,
                                                DeliveryCallback callback, LandingMemory memory) {
  return std::make_unique<GroupOver<LandingMemory>>(shape, std::move(place), std::move(callback),
                                                    memory);
}

}  // namespace tutti::testing
