/// \file mock_fabric.hpp
/// A fabric that is told what to expect.
#pragma once
#include <gmock/gmock.h>

#include "fabric/fabric.hpp"

namespace tutti {

class MockFabric : public Fabric {
 public:
  MOCK_METHOD(const std::byte*, row, (Slot), (const, override));
  MOCK_METHOD(std::byte*, replica, (Slot), (override));
  MOCK_METHOD(void, write, (Slot, Extent), (override));
  MOCK_METHOD(void, publish, (Slot, std::uint64_t, std::span<const std::byte>), (override));
  MOCK_METHOD(void, flush, (), (override));
  MOCK_METHOD(std::size_t, poll, (), (override));
  MOCK_METHOD(bool, drained, (), (const, override));
  MOCK_METHOD(std::vector<PeerLoss>, take_losses, (), (override));
  MOCK_METHOD(void, fence, (Slot), (override));
  MOCK_METHOD(void, hang_up, (Slot), (override));
  MOCK_METHOD(void, arm, (), (override));
  MOCK_METHOD(void, disarm, (), (override));
  MOCK_METHOD(FabricCounters, counters, (), (const, override));
};

}  // namespace tutti
