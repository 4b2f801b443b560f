// Which of libfabric's providers are taken, and what is said of the others.
#include "fabric/ofi/provider.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "fabric/ofi/provider_search.hpp"
#include "fabric/ofi/station.hpp"

namespace tutti::ofi {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// What libfabric would say of a provider with this order.
Info described(std::uint64_t order, std::size_t ordered_bytes) {
  Info info(loaded().dupinfo(nullptr));
  info->fabric_attr->prov_name = ::strdup("made-up");
  info->tx_attr->msg_order = order;
  info->rx_attr->msg_order = order;
  info->ep_attr->max_order_waw_size = ordered_bytes;
  return info;
}

TEST(OfiProvider, OneThatKeepsTheOrderIsTaken) {
  EXPECT_TRUE(check_order(*described(FI_ORDER_RMA_WAW, SIZE_MAX)));
  EXPECT_TRUE(check_order(*described(FI_ORDER_RMA_WAW, 4096)));
  EXPECT_TRUE(check_order(*described(FI_ORDER_WAW, SIZE_MAX)));
}

TEST(OfiProvider, OneWithoutOrderIsRefusedWithTheReason) {
  const Result<void> checked = check_order(*described(FI_ORDER_SAS, SIZE_MAX));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(checked.error().message, HasSubstr("'made-up'"));
  EXPECT_THAT(checked.error().message, HasSubstr("FI_ORDER_RMA_WAW"));
}

TEST(OfiProvider, OrderAtOneSideOnlyIsNone) {
  const Info info = described(FI_ORDER_RMA_WAW, SIZE_MAX);
  info->rx_attr->msg_order = 0;
  EXPECT_FALSE(check_order(*info));
  info->rx_attr->msg_order = FI_ORDER_RMA_WAW;
  info->tx_attr->msg_order = 0;
  EXPECT_FALSE(check_order(*info));
}

TEST(OfiProvider, OrderOfSmallWritesOnlyIsRefused) {
  const Result<void> checked = check_order(*described(FI_ORDER_RMA_WAW, 8));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("up to 8 bytes"));
}

TEST(OfiProvider, OneThatIsNotThereIsRefusedAndTheOthersAreNamed) {
  for (const std::string name : {"no-such-thing", "tcp;no-such-layer"}) {
    const Result<Info> found = find_provider(name, "127.0.0.1");
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(found.error().message, HasSubstr("libfabric has no provider '" + name + "' here"));
    EXPECT_THAT(found.error().message, ContainsRegex("those that will do here: .*tcp"));
  }
}

TEST(OfiProvider, OneThatSendsMessagesOnlyIsRefusedAndTheOthersAreNamed) {
  const Result<Info> found = find_provider("udp", "127.0.0.1");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(
      found.error().message,
      HasSubstr("libfabric's provider 'udp' makes no one-sided writes; those that will do"));
}

TEST(OfiProvider, OneWithNothingToSleepOnIsRefused) {
  const Result<Info> found = find_provider("udp;ofi_rxd", "127.0.0.1");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message,
              HasSubstr("'udp;ofi_rxd' has nothing that members could sleep"));
  EXPECT_THAT(found.error().message, Not(ContainsRegex("will do here: .*udp")));
}

TEST(OfiProvider, AHostThatIsNotOursIsRefused) {
  const Result<std::unique_ptr<Station>> opened = Station::open("tcp", "192.0.2.1");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("192.0.2.1"));
}

TEST(OfiProvider, TcpHasConnectionsAndItsLayerMakesThemAgain) {
  const Result<Provider> tcp = Provider::open("tcp", "127.0.0.1");
  ASSERT_TRUE(tcp) << tcp.error().message;
  EXPECT_TRUE(tcp->has_connections());
  EXPECT_FALSE(tcp->reconnects());
  const Result<Provider> layered = Provider::open("tcp;ofi_rxm", "127.0.0.1");
  ASSERT_TRUE(layered) << layered.error().message;
  EXPECT_FALSE(layered->has_connections());
  EXPECT_TRUE(layered->reconnects());
}

TEST(OfiProvider, KeysAreNeverUsedTwice) {
  Result<Provider> tcp = Provider::open("tcp", "127.0.0.1");
  ASSERT_TRUE(tcp) << tcp.error().message;
  alignas(4096) static std::byte memory[4096];
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    const Result<Owned<fid_mr>> region = tcp->expose(memory, nullptr);
    ASSERT_TRUE(region) << region.error().message;
    EXPECT_NE(fi_mr_key(region->get()), last);
    last = fi_mr_key(region->get());
  }
}

}  // namespace
}  // namespace tutti::ofi
