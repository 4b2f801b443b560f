// Which of libfabric's providers are taken, and what is said of the others.
#include "fabric/ofi/provider.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fabric/ofi/endpoint.hpp"
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

TEST(OfiProvider, OrderIsReliedOnWhereItIsPromised) {
  for (const auto& [order, bytes] :
       {std::pair<std::uint64_t, std::size_t>{FI_ORDER_RMA_WAW, SIZE_MAX},
        {FI_ORDER_RMA_WAW, 4096},
        {FI_ORDER_WAW, SIZE_MAX}}) {
    const Info info = described(order, bytes);
    EXPECT_TRUE(promises_order(*info)) << order << " " << bytes;
    EXPECT_EQ(ordering_of(*info), Ordering::writes) << order << " " << bytes;
  }
}

TEST(OfiProvider, OrderThatIsNotPromisedIsNotReliedOn) {
  for (const auto& [order, bytes] :
       {std::pair<std::uint64_t, std::size_t>{FI_ORDER_SAS, SIZE_MAX}, {FI_ORDER_RMA_WAW, 8}}) {
    const Info info = described(order, bytes);
    EXPECT_FALSE(promises_order(*info)) << order << " " << bytes;
    EXPECT_EQ(ordering_of(*info), Ordering::none) << order << " " << bytes;
  }
}

TEST(OfiProvider, OrderAtOneSideOnlyIsNone) {
  const Info info = described(FI_ORDER_RMA_WAW, SIZE_MAX);
  info->rx_attr->msg_order = 0;
  EXPECT_EQ(ordering_of(*info), Ordering::none);
  info->rx_attr->msg_order = FI_ORDER_RMA_WAW;
  info->tx_attr->msg_order = 0;
  EXPECT_EQ(ordering_of(*info), Ordering::none);
}

TEST(OfiProvider, OrderThatEndsWithTheWriterIsNone) {
  const Result<Provider> shm = Provider::open("shm", "127.0.0.1");
  ASSERT_TRUE(shm) << shm.error().message;
  EXPECT_TRUE(shm->keeps_newer_words());
  EXPECT_EQ(shm->ordering(), Ordering::none);
}

TEST(OfiProvider, NoMoreIsReliedOnThanWasAskedFor) {
  const Result<Provider> tcp = Provider::open("tcp", "127.0.0.1");
  ASSERT_TRUE(tcp) << tcp.error().message;
  EXPECT_EQ(tcp->ordering(), Ordering::writes);
  EXPECT_TRUE(tcp->keeps_newer_words());
  const Result<Provider> less = Provider::open("tcp", "127.0.0.1", Ordering::none);
  ASSERT_TRUE(less) << less.error().message;
  EXPECT_EQ(less->ordering(), Ordering::none);
  EXPECT_FALSE(less->keeps_newer_words());
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
      HasSubstr("libfabric's provider 'udp' makes no one-sided writes that land in order or tell "
                "when they have; those that will do"));
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

// What a process with our id has left, or has in another container.
TEST(OfiProvider, SharedMemoryUnderOurProcessIdIsNobodysHindrance) {
  std::vector<std::string> taken;
  for (int endpoint = 0; endpoint < 16; ++endpoint) {
    taken.push_back("/dev/shm/" + std::to_string(::getpid()) + ":" + std::to_string(::getuid()) +
                    ":" + std::to_string(endpoint));
    std::ofstream(taken.back()) << std::string(64 * 1024, '\1');
  }
  const Result<std::unique_ptr<Station>> station = Station::open("shm", "127.0.0.1");
  ASSERT_TRUE(station) << station.error().message;
  for (std::uint64_t attachment = 1; attachment <= 3; ++attachment) {
    const Result<Endpoint> endpoint = Endpoint::datagram(**station, attachment);
    EXPECT_TRUE(endpoint) << endpoint.error().message;
  }
  for (const std::string& name : taken) {
    EXPECT_TRUE(std::filesystem::remove(name)) << name << " was not ours to take away";
  }
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
