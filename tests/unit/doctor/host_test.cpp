#include "doctor/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "forged_system.hpp"
#include "matchers.hpp"

namespace tutti::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A server that was made ready.
Host ready() {
  return {.cores = {0, 1, 2, 3},
          .isolated = {2, 3},
          .governors = {"performance"},
          .available_bytes = 8'000'000'000,
          .limit_bytes = {},
          .huge_pages = "within_size"};
}

Finding about(const Host& host, std::string_view subject) {
  const Findings all = findings_of(host);
  const auto found = std::ranges::find(all, subject, &Finding::subject);
  EXPECT_NE(found, all.end()) << subject;
  return found == all.end() ? Finding{} : *found;
}

TEST(Host, IsReadFromTheKernelsFiles) {
  const ForgedSystem system;
  system.put("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0,2-3");
  system.put("proc/self/cgroup", "0::/user/tutti");
  system.put("proc/meminfo", "MemTotal: 99 kB\nMemAvailable:   1000 kB");
  system.put("sys/fs/cgroup/user/memory.max", "500000");
  system.put("sys/fs/cgroup/user/memory.current", "100000");
  system.put("sys/fs/cgroup/user/tutti/memory.max", "max");
  system.put("sys/fs/cgroup/user/tutti/memory.current", "100000");
  system.put("sys/devices/system/cpu/isolated", "3");
  system.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
  system.put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "ondemand");
  system.put("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave");
  system.put("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance");
  system.put("sys/kernel/mm/transparent_hugepage/shmem_enabled",
             "always within_size [advise] never deny force");
  const Host host = read_host(system.root());
  EXPECT_THAT(host.cores, ElementsAre(0, 2, 3));
  EXPECT_THAT(host.isolated, ElementsAre(3));
  EXPECT_THAT(host.governors, ElementsAre("powersave", "performance"));
  EXPECT_EQ(host.available_bytes, 1'024'000);
  EXPECT_EQ(host.limit_bytes, 400'000);
  EXPECT_EQ(host.huge_pages, "advise");
}

TEST(Host, WithoutSuchFilesIsLeftEmpty) {
  const ForgedSystem system;
  const Host host = read_host(system.root());
  EXPECT_THAT(host.cores, IsEmpty());
  EXPECT_THAT(host.governors, IsEmpty());
  EXPECT_EQ(host.available_bytes, std::nullopt);
  EXPECT_EQ(host.limit_bytes, std::nullopt);
  EXPECT_EQ(host.huge_pages, "");
}

TEST(Host, ThatUsesMoreThanItsLimitHasNothingLeft) {
  const ForgedSystem system;
  system.put("proc/self/cgroup", "0::/");
  system.put("sys/fs/cgroup/memory.max", "5");
  system.put("sys/fs/cgroup/memory.current", "9");
  EXPECT_EQ(read_host(system.root()).limit_bytes, 0);
}

TEST(Host, ThatWasMadeReadyIsGood) {
  for (const Finding& finding : findings_of(ready())) {
    EXPECT_EQ(finding.grade, Grade::good) << finding.subject;
    EXPECT_THAT(finding.what, Not(IsEmpty())) << finding.subject;
    EXPECT_THAT(finding.how, IsEmpty()) << finding.subject;
  }
}

TEST(Host, WithOneCoreCouldBeBetter) {
  Host host = ready();
  host.cores = {0};
  EXPECT_THAT(about(host, "cores"), is(Grade::could_be_better, "1 core for", "share it"));
}

TEST(Host, WithoutIsolatedCoresCouldBeBetter) {
  Host host = ready();
  host.isolated.clear();
  EXPECT_THAT(about(host, "isolated cores"), is(Grade::could_be_better, "none", "isolcpus="));
}

TEST(Host, WhoseClocksRestCouldBeBetter) {
  Host host = ready();
  host.governors = {"performance", "powersave"};
  EXPECT_THAT(about(host, "clock rate"), is(Grade::could_be_better, "performance, powersave",
                                            "cpupower frequency-set -g performance"));
  host.governors.clear();
  EXPECT_THAT(about(host, "clock rate"), is(Grade::good, "not set by this system", ""));
}

TEST(Host, WithLittleMemoryLeftCouldBeBetter) {
  Host host = ready();
  host.limit_bytes = 100'000'000;
  EXPECT_THAT(about(host, "memory"),
              is(Grade::could_be_better, "100 MB available in this control group", "window_bytes"));
  host.limit_bytes = {};
  host.available_bytes = {};
  EXPECT_THAT(about(host, "memory"), is(Grade::good, "does not say", ""));
}

TEST(Host, WithoutHugePagesCouldBeBetter) {
  Host host = ready();
  host.huge_pages = "never";
  EXPECT_THAT(about(host, "huge pages"), is(Grade::could_be_better, "never", "shmem_enabled"));
  host.huge_pages.clear();
  EXPECT_THAT(about(host, "huge pages"),
              is(Grade::could_be_better, "none in this kernel", "CONFIG_TRANSPARENT_HUGEPAGE"));
}

}  // namespace
}  // namespace tutti::doctor
