#include "cli/perf/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

namespace tutti::cli {
namespace {

std::unexpected<Error> refuse(const std::string& message) {
  return fail(ErrorCode::invalid_argument, message);
}

Result<std::uint32_t> count_from(const std::string& word, std::uint32_t of,
                                 const std::string& option) {
  if (word == "all") return of;
  if (word == "half") return (of + 1) / 2;
  if (word == "one") return 1;
  std::uint32_t count = 0;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, count);
  if (parsed.ec != std::errc() || parsed.ptr != end || count > of) {
    return refuse(option + ": '" + word + "' is not all, half, one or a number up to " +
                  std::to_string(of));
  }
  return count;
}

Result<bool> is_first(const std::string& word, const std::string& first, const std::string& second,
                      const std::string& option) {
  if (word == first) return true;
  if (word == second) return false;
  return refuse(option + ": '" + word + "' is not " + first + " or " + second);
}

struct Delivery {
  std::string_view word;
  DeliveryThread thread;
  Taking taking;
};
constexpr std::array kDeliveries{
    Delivery{"predicate", DeliveryThread::predicate, Taking::none},
    Delivery{"own", DeliveryThread::own, Taking::none},
    Delivery{"application", DeliveryThread::application, Taking::in_calls},
    Delivery{"epoll", DeliveryThread::application, Taking::with_epoll},
    Delivery{"asio", DeliveryThread::application, Taking::with_asio},
};

Result<void> choose_delivery(const PerfOptions& options, PerfPlan& plan) {
  const auto found = std::ranges::find(kDeliveries, options.delivery, &Delivery::word);
  if (found == kDeliveries.end()) {
    return refuse("--delivery: '" + options.delivery +
                  "' is not predicate, own, application, epoll or asio");
  }
  if (found->taking != Taking::none && plan.drive == Drive::caller) {
    return refuse("--delivery: " + options.delivery +
                  " takes messages on a thread of its own, which --drive caller does not allow");
  }
  plan.delivery = found->thread;
  plan.taking = found->taking;
  return {};
}

/// Reading the clock costs as much as sending a small message, so only slow loads time each one.
std::uint64_t sample_every(const PerfOptions& options) {
  if (options.sample_every > 0) return options.sample_every;
  constexpr double kSlow = 50'000;
  if (options.in_flight == 1 || (options.rate > 0 && options.rate <= kSlow)) return 1;
  if (options.size_bytes <= 256) return 512;
  return options.size_bytes <= 4096 ? 128 : 64;
}

Result<void> check_ranges(const PerfOptions& options) {
  if (options.active_groups > options.groups) {
    return refuse("--active-groups: at most the number of --groups");
  }
  if (options.size_bytes > std::numeric_limits<std::uint32_t>::max()) {
    return refuse("--size: at most 16M");
  }
  if (options.messages == 0 && !(options.seconds > 0 && options.seconds <= 86'400)) {
    return refuse("--seconds: more than 0 and at most 86400");
  }
  if (!(options.warmup_s >= 0 && options.warmup_s <= 3600)) return refuse("--warmup: 0 to 3600");
  if (!(options.rate >= 0 && options.rate <= 1e9)) return refuse("--rate: 0 to 1000000000");
  if (!(options.pause_us >= 0 && options.pause_us <= 1e6))
    return refuse("--pause-us: 0 to 1000000");
  return {};
}

Result<Idle> idle_of(const PerfOptions& options) {
  Result<Idle> idle = idle_from(options.idle);
  if (!idle) return idle;
  const auto microseconds = [](double count) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(count, 1e7) * 1000));
  };
  if (options.idle_spin_us >= 0) idle->spin = microseconds(options.idle_spin_us);
  if (options.idle_yield_us >= 0) idle->yield = microseconds(options.idle_yield_us);
  return idle;
}

Result<void> choose_senders(const PerfOptions& options, PerfPlan& plan) {
  const Result<std::uint32_t> senders = count_from(options.senders, options.members, "--senders");
  if (!senders) return std::unexpected(senders.error());
  if (*senders == 0) return refuse("--senders: at least one");
  const Result<std::uint32_t> active = count_from(options.active, *senders, "--active");
  if (!active) return std::unexpected(active.error());
  if (options.pausing > *active) return refuse("--pausing: at most the number of active senders");
  plan.senders = *senders;
  plan.active = *active;
  plan.first_pausing = *active - options.pausing;
  return {};
}

Result<void> choose_words(const PerfOptions& options, PerfPlan& plan) {
  const Result<bool> own_thread = is_first(options.drive, "own", "caller", "--drive");
  if (!own_thread) return std::unexpected(own_thread.error());
  const Result<bool> all = is_first(options.touch, "all", "header", "--touch");
  if (!all) return std::unexpected(all.error());
  const Result<Idle> idle = idle_of(options);
  if (!idle) return std::unexpected(idle.error());
  plan.drive = *own_thread ? Drive::own_thread : Drive::caller;
  plan.touch_all = *all;
  plan.idle = *idle;
  return choose_delivery(options, plan);
}

/// A topic has the level of its service.
Result<std::string> choose_service(const PerfOptions& options, PerfPlan& plan) {
  if (options.service.empty()) return options.level;
  const Result<dds::Service> service = dds::service_from(options.service);
  if (!service) return refuse("--service: " + service.error().message);
  if (plan.taking != Taking::none) {
    return refuse("--delivery: " + options.delivery +
                  " takes messages of a group; samples are delivered by predicate or own");
  }
  plan.service = *service;
  if (*service == dds::Service::unordered) return "unordered";
  return *service == dds::Service::logged ? "durable" : "atomic";
}

/// The library judges the rest, with names and addresses that are surely right.
Result<void> check_with_library(const PerfPlan& plan) {
  NodeOptions node = plan.node;
  node.members.resize(1);
  node.members.front() = {"m0", "127.0.0.1:1"};
  node.name = "m0";
  if (Result<void> valid = node.validate(); !valid) return valid;
  GroupOptions group = plan.group;
  group.name = "g0";
  return group.validate();
}

}  // namespace

Result<PerfPlan> plan_for(const PerfOptions& options) {
  PerfPlan plan;
  if (const Result<void> ok = check_ranges(options); !ok) return std::unexpected(ok.error());
  if (const Result<void> ok = choose_senders(options, plan); !ok)
    return std::unexpected(ok.error());
  if (const Result<void> ok = choose_words(options, plan); !ok) return std::unexpected(ok.error());
  const Result<std::string> level = choose_service(options, plan);
  if (!level) return std::unexpected(level.error());
  const FabricAndLevel words{.fabric = options.fabric,
                             .level = *level,
                             .order = options.order,
                             .windows = options.windows,
                             .rdma_device = options.rdma_device};
  if (const Result<void> ok = apply(words, plan.node, plan.group); !ok) {
    return std::unexpected(ok.error());
  }
  plan.group.logged |= options.log.logged;
  plan.group.durable_quorum = options.log.durable_quorum;
  if (!plan.group.logged && !options.log.state_dir.empty()) {
    return refuse("--state-dir: nothing is logged there without --logged or --level durable");
  }
  const auto timeout = duration_from(options.start_timeout_s, "--start-timeout");
  if (!timeout) return std::unexpected(timeout.error());
  const auto suspect_after = duration_from(options.suspect_after_s, "--suspect-after");
  if (!suspect_after) return std::unexpected(suspect_after.error());
  plan.active_groups = options.active_groups > 0 ? options.active_groups : options.groups;
  plan.sample_every = sample_every(options);
  plan.node.drive = plan.drive;
  plan.node.idle = plan.idle;
  plan.node.start_timeout = *timeout;
  plan.node.suspect_after = *suspect_after;
  plan.group.delivery = plan.delivery;
  plan.group.window_bytes = options.window_bytes;
  plan.group.window_messages = options.window_messages;
  constexpr std::uint64_t kSampleHeaderMax = 64;
  constexpr std::uint64_t kBundleMessageMin = 1024;
  const std::uint64_t most =
      plan.service ? std::max(options.size_bytes + kSampleHeaderMax, kBundleMessageMin)
                   : std::max<std::uint64_t>(options.size_bytes, 1);
  plan.group.message_max_bytes = static_cast<std::uint32_t>(most);
  if (const Result<void> ok = check_with_library(plan); !ok) return std::unexpected(ok.error());
  return plan;
}

std::string perf_group_name(std::uint32_t number) { return "g" + std::to_string(number); }

std::vector<std::string> perf_member_names(std::uint32_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) names.push_back("m" + std::to_string(i));
  return names;
}

}  // namespace tutti::cli
