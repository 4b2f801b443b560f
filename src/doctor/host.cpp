#include "doctor/host.hpp"

#include <algorithm>
#include <string_view>

#include "doctor/files.hpp"

namespace tutti::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kRowsBytes = 256'000'000;  // of a few members with windows of some MB each

// Of control groups, version 2: the tightest of those that this process is in.
std::optional<std::uint64_t> group_limit(const fs::path& root) {
  const auto groups = text_of(root / "proc/self/cgroup");
  const auto own = field_of(groups.value_or(""), "0::/");
  if (!own) return {};
  std::optional<std::uint64_t> least;
  for (fs::path name = *own;; name = name.parent_path()) {
    const fs::path group = root / "sys/fs/cgroup" / name;
    const auto most = number_of(text_of(group / "memory.max").value_or(""));  // or "max"
    const auto used = number_of(text_of(group / "memory.current").value_or(""));
    if (most && used) {
      const std::uint64_t left = *most - std::min(*most, *used);
      least = std::min(least.value_or(left), left);
    }
    if (name.empty()) return least;
  }
}

// The word in brackets of "always within_size [advise] never".
std::string chosen_of(std::string_view words) {
  const std::size_t open = words.find('[');
  const std::size_t close = words.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(words.substr(open + 1, close - open - 1));
}

Finding cores_finding(const Host& host) {
  const std::string what = std::to_string(host.cores.size()) +
                           (host.cores.size() == 1 ? " core" : " cores") + " for this process";
  if (host.cores.size() > 1) return {.subject = "cores", .what = what};
  return {
      .subject = "cores",
      .grade = Grade::could_be_better,
      .what = what,
      .how =
          "members on this host share it, and one that spins delays the others: leave Idle as it "
          "is, or give the process more cores (taskset, cpuset)"};
}

Finding isolated_finding(const Host& host) {
  if (!host.isolated.empty()) {
    return {.subject = "isolated cores", .what = std::to_string(host.isolated.size())};
  }
  return {.subject = "isolated cores",
          .grade = Grade::could_be_better,
          .what = "none: the scheduler may take a member's core away for milliseconds",
          .how =
              "for a steady latency reserve a core for each member's predicate thread (kernel "
              "options isolcpus= and nohz_full=) and pin the thread to it"};
}

Finding governor_finding(const Host& host) {
  std::string names;
  for (const std::string& name : host.governors) names += (names.empty() ? "" : ", ") + name;
  if (names.empty()) {
    return {.subject = "clock rate", .what = "not set by this system (a virtual machine)"};
  }
  if (names == "performance") return {.subject = "clock rate", .what = "governor performance"};
  return {.subject = "clock rate",
          .grade = Grade::could_be_better,
          .what = "governor " + names + ": a core is slow for a time after it slept",
          .how = "cpupower frequency-set -g performance"};
}

Finding memory_finding(const Host& host) {
  if (!host.available_bytes) return {.subject = "memory", .what = "the system does not say"};
  const std::uint64_t left =
      std::min(*host.available_bytes, host.limit_bytes.value_or(*host.available_bytes));
  const std::string what = std::to_string(left / kMegabyte) + " MB available" +
                           (left < *host.available_bytes ? " in this control group" : "") +
                           "; rows are memory files, /dev/shm is not used";
  if (left >= kRowsBytes) return {.subject = "memory", .what = what};
  return {.subject = "memory",
          .grade = Grade::could_be_better,
          .what = what,
          .how =
              "a row holds a window for each group that its member sends in "
              "(GroupOptions::window_bytes): raise the limit, or choose smaller windows"};
}

Finding huge_pages_finding(const Host& host) {
  const std::string& when = host.huge_pages;
  if (when == "always" || when == "within_size" || when == "force") {
    return {.subject = "huge pages", .what = "for memory files: " + when};
  }
  return {.subject = "huge pages",
          .grade = Grade::could_be_better,
          .what = when.empty() ? "none in this kernel" : "for memory files: " + when,
          .how = when.empty()
                     ? "a kernel with CONFIG_TRANSPARENT_HUGEPAGE has fewer TLB misses in large "
                       "windows"
                     : "to reduce TLB misses in large windows: echo within_size > "
                       "/sys/kernel/mm/transparent_hugepage/shmem_enabled"};
}

}  // namespace

Host read_host(const fs::path& root) {
  Host host;
  const std::string status = text_of(root / "proc/self/status").value_or("");
  const fs::path cpus = root / "sys/devices/system/cpu";
  host.cores = numbers_of(field_of(status, "Cpus_allowed_list:").value_or(""));
  host.isolated = numbers_of(text_of(cpus / "isolated").value_or(""));
  for (const unsigned core : host.cores) {
    const auto governor =
        text_of(cpus / ("cpu" + std::to_string(core)) / "cpufreq" / "scaling_governor");
    if (governor && std::ranges::find(host.governors, *governor) == host.governors.end()) {
      host.governors.push_back(*governor);
    }
  }
  const std::string memory = text_of(root / "proc/meminfo").value_or("");
  if (const auto kib = number_of(field_of(memory, "MemAvailable:").value_or(""))) {
    host.available_bytes = *kib * kKiB;
  }
  host.limit_bytes = group_limit(root);
  host.huge_pages =
      chosen_of(text_of(root / "sys/kernel/mm/transparent_hugepage/shmem_enabled").value_or(""));
  return host;
}

Findings findings_of(const Host& host) {
  return {cores_finding(host), isolated_finding(host), governor_finding(host), memory_finding(host),
          huge_pages_finding(host)};
}

}  // namespace tutti::doctor
