#include "doctor/rdma.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "forged_system.hpp"
#include "matchers.hpp"

namespace tutti::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kNoGid = "0000:0000:0000:0000:0000:0000:0000:0000";

// One RoCE adapter with one port that works.
class RoceHost : public ::testing::Test {
 protected:
  RoceHost() {
    port("state", "4: ACTIVE");
    port("link_layer", "Ethernet");
    port("rate", "100 Gb/sec (4X EDR)");
    gid(0, "fe80:0000:0000:0000:0211:22ff:fe33:4455", "IB/RoCE v1");
    gid(1, "fe80:0000:0000:0000:0211:22ff:fe33:4455", "RoCE v2");
    gid(2, "0000:0000:0000:0000:0000:ffff:0a09:0001", "IB/RoCE v1");
    gid(3, "0000:0000:0000:0000:0000:ffff:0a09:0001", "RoCE v2");
    port("gids/4", kNoGid);
    system_.put("sys/class/net/eth1/mtu", "9000");
    system_.put("dev/infiniband/uverbs0", "");
    system_.put("dev/infiniband/rdma_cm", "");
    system_.put("proc/self/status", "CapEff:\t0000000000000000");
    system_.put("proc/self/limits", "Max locked memory         unlimited    unlimited   bytes");
  }

  void port(const std::string& file, std::string_view text) const {
    system_.put("sys/class/infiniband/mlx5_0/ports/1/" + file, text);
  }
  void gid(int index, std::string_view address, std::string_view type) const {
    port("gids/" + std::to_string(index), address);
    port("gid_attrs/types/" + std::to_string(index), type);
    port("gid_attrs/ndevs/" + std::to_string(index), "eth1");
  }

  [[nodiscard]] Finding about(std::string_view subject) const {
    const Findings all = findings_of(read_rdma(system_.root()));
    const auto found = std::ranges::find(all, subject, &Finding::subject);
    EXPECT_NE(found, all.end()) << subject;
    return found == all.end() ? Finding{} : *found;
  }

  ForgedSystem system_;
};

TEST_F(RoceHost, IsRead) {
  const Rdma rdma = read_rdma(system_.root());
  ASSERT_THAT(rdma.devices, SizeIs(1));
  EXPECT_EQ(rdma.devices[0].name, "mlx5_0");
  ASSERT_THAT(rdma.devices[0].ports, SizeIs(1));
  const RdmaPort& port = rdma.devices[0].ports[0];
  EXPECT_EQ(port.number, 1);
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.net_mtu, 9000);
  ASSERT_THAT(port.gids, SizeIs(4)) << "the empty one is left out";
  EXPECT_EQ(port.gids[1].address, "fe80::211:22ff:fe33:4455");
  EXPECT_EQ(port.gids[3].address, "10.9.0.1");
  EXPECT_EQ(port.gids[3].net_device, "eth1");
  EXPECT_TRUE(rdma.verbs_nodes_usable);
  EXPECT_TRUE(rdma.connection_manager);
  EXPECT_EQ(rdma.lock_limit_bytes, std::nullopt);
  EXPECT_FALSE(rdma.may_lock_all);
}

TEST_F(RoceHost, IsGood) {
  for (const Finding& finding : findings_of(read_rdma(system_.root()))) {
    EXPECT_EQ(finding.grade, Grade::good) << finding.subject << ": " << finding.what;
    EXPECT_THAT(finding.how, IsEmpty()) << finding.subject;
  }
  EXPECT_THAT(about("mlx5_0 port 1"),
              is(Grade::good, "uses GID 3 10.9.0.1 (RoCE v2, eth1), packets of 4096 bytes", ""));
}

TEST_F(RoceHost, TakesRoutableIpv6IfThereIsNoIpv4) {
  port("gids/3", kNoGid);
  gid(7, "2001:0db8:0000:0000:0000:0000:0000:0001", "RoCE v2");
  EXPECT_THAT(about("mlx5_0 port 1"), is(Grade::good, "uses GID 7 2001:db8::1", ""));
}

TEST_F(RoceHost, IsTriedAtItsIpv4AddressOrOnLoopback) {
  EXPECT_EQ(host_to_try(read_rdma(system_.root())), "10.9.0.1");
  port("gids/3", kNoGid);
  EXPECT_EQ(host_to_try(read_rdma(system_.root())), "127.0.0.1");
  port("state", "1: DOWN");
  EXPECT_EQ(host_to_try(read_rdma(system_.root())), "");
}

TEST_F(RoceHost, WithLinkLocalAddressesOnlyIsBroken) {
  port("gids/3", kNoGid);
  EXPECT_THAT(about("mlx5_0 port 1"), is(Grade::broken, "uses GID 1 fe80:", "an IP address"));
}

TEST_F(RoceHost, WithRoceV1OnlyCouldBeBetter) {
  port("gids/1", kNoGid);
  port("gids/3", kNoGid);
  EXPECT_THAT(about("mlx5_0 port 1"), is(Grade::could_be_better, "IB/RoCE v1", "cma_roce_mode"));
}

TEST_F(RoceHost, WithoutAnyGidIsBroken) {
  for (int i = 0; i < 4; ++i) port("gids/" + std::to_string(i), kNoGid);
  EXPECT_THAT(about("mlx5_0 port 1"), is(Grade::broken, "without a GID", "an IP address"));
}

TEST_F(RoceHost, WithSmallFramesCouldBeBetter) {
  system_.put("sys/class/net/eth1/mtu", "1500");
  EXPECT_THAT(about("mlx5_0 port 1"),
              is(Grade::could_be_better, "packets of 1024 bytes", "ip link set eth1 mtu 4200"));
}

TEST_F(RoceHost, WhosePortIsDownIsBroken) {
  port("state", "1: DOWN");
  EXPECT_THAT(about("mlx5_0 port 1"), is(Grade::broken, "Ethernet, DOWN", "ip link set"));
  port("link_layer", "InfiniBand");
  port("state", "2: INIT");
  EXPECT_THAT(about("mlx5_0 port 1"), is(Grade::broken, "InfiniBand, INIT", "opensm"));
}

TEST_F(RoceHost, WithoutDeviceFilesIsBroken) {
  system_.remove("dev/infiniband/rdma_cm");
  EXPECT_THAT(about("RDMA access"), is(Grade::broken, "rdma_cm does not exist", "rdma_ucm"));
  system_.remove("dev/infiniband");
  EXPECT_THAT(about("RDMA access"),
              is(Grade::broken, "uverbs* does not exist", "--device /dev/infiniband"));
}

TEST_F(RoceHost, ThatMayNotLockMemoryIsBroken) {
  system_.put("proc/self/limits", "Max locked memory         8388608    8388608   bytes");
  EXPECT_THAT(about("locked memory"), is(Grade::broken, "at most 8192 KiB", "ulimit -l unlimited"));
  system_.put("proc/self/limits", "Max locked memory         900000000    900000000   bytes");
  EXPECT_THAT(about("locked memory"), is(Grade::good, "at most 878906 KiB", ""));
  system_.put("proc/self/limits", "Max locked memory         65536    65536   bytes");
  system_.put("proc/self/status", "CapEff:\t0000000000004000");
  EXPECT_THAT(about("locked memory"), is(Grade::good, "CAP_IPC_LOCK", ""));
}

TEST(Rdma, ThatIsNotThereCouldBeBetter) {
  const ForgedSystem system;
  EXPECT_THAT(findings_of(read_rdma(system.root())),
              ElementsAre(is(Grade::could_be_better, "none", "rdma_rxe")));
}

TEST(Rdma, PacketsFitTheFrames) {
  EXPECT_EQ(path_mtu(9000), 4096);
  EXPECT_EQ(path_mtu(4180), 4096);
  EXPECT_EQ(path_mtu(4179), 2048);
  EXPECT_EQ(path_mtu(1500), 1024);
  EXPECT_EQ(path_mtu(340), 256);
  EXPECT_EQ(path_mtu(339), 0);
  EXPECT_EQ(path_mtu(0), 0);
}

}  // namespace
}  // namespace tutti::doctor
