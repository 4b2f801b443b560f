#include "cli/perf/pinning.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "doctor/files.hpp"

namespace tutti::cli {
namespace {

constexpr std::size_t kNodesMax = 1024;  // more than the kernel has

std::unexpected<Error> refused(const std::string& what) {
  return fail(ErrorCode::system, what + ": " + std::strerror(errno));
}

Result<void> stay_on_node(std::uint32_t node) {
  const std::string folder = "/sys/devices/system/node/node" + std::to_string(node);
  const std::vector<unsigned> cores =
      doctor::numbers_of(doctor::text_of(folder + "/cpulist").value_or(""));
  if (cores.empty() || node >= kNodesMax) {
    return fail(ErrorCode::invalid_argument, "--numa-node: this host has no node " +
                                                 std::to_string(node) +
                                                 " with processors; see /sys/devices/system/node");
  }
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const unsigned core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(core, &chosen);
  }
  if (sched_setaffinity(0, sizeof chosen, &chosen) != 0) {
    return refused("--numa-node: this process may not run there");
  }
  constexpr std::size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, kNodesMax / kWordBits> nodes{};
  nodes[node / kWordBits] = 1UL << (node % kWordBits);
  if (::syscall(SYS_set_mempolicy, MPOL_BIND, nodes.data(), kNodesMax) != 0) {
    return refused("--numa-node: this process may not choose its memory");
  }
  return {};
}

Result<void> stay_on_processor(std::uint32_t position) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return refused("--pin: cannot tell which processors there are");
  }
  int skip = static_cast<int>(position) % CPU_COUNT(&allowed);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || skip-- > 0) ++cpu;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(cpu, &chosen);
  if (sched_setaffinity(0, sizeof chosen, &chosen) != 0) return refused("--pin had no effect");
  return {};
}

}  // namespace

Result<void> stay(const PerfOptions& options, std::uint32_t position) {
  if (options.numa_node >= 0) {
    const auto node = static_cast<std::uint32_t>(options.numa_node);
    if (Result<void> ok = stay_on_node(node); !ok) return ok;
  }
  return options.pin ? stay_on_processor(position) : Result<void>{};
}

}  // namespace tutti::cli
