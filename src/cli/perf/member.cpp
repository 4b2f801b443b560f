#include "cli/perf/member.hpp"

#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "cli/clock.hpp"
#include "cli/histogram_json.hpp"
#include "cli/json_fields.hpp"
#include "cli/log.hpp"
#include "cli/payload.hpp"
#include "cli/perf/options_json.hpp"
#include "tutti/bootstrap.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kDrainTimeout{60};

std::int64_t cpu_ns() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return time.tv_sec * kNsPerSecond + time.tv_usec * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

std::vector<MemberAddress> addresses_of(const json& setup) {
  const auto names = perf_member_names(setup.at("options").at("members").get<std::uint32_t>());
  std::vector<MemberAddress> members;
  members.reserve(names.size());
  for (const std::string& name : names) {
    members.push_back({name, setup.at("addresses").at(members.size()).get<std::string>()});
  }
  return members;
}

}  // namespace

Result<std::unique_ptr<PerfMember>> PerfMember::start(const json& setup) {
  std::unique_ptr<PerfMember> member(new PerfMember());
  member->options_ = setup.at("options").get<PerfOptions>();
  member->self_.value = setup.at("rank").get<std::uint32_t>();
  const json& clocks = setup.at("clocks");
  for (const json& clock : clocks) {
    member->same_clock_.push_back(clock == clocks.at(member->self_.value));
  }
  Result<PerfPlan> plan = plan_for(member->options_);
  if (!plan) return std::unexpected(std::move(plan.error()));
  member->plan_ = std::move(*plan);
  NodeOptions node_options = member->plan_.node;
  node_options.members = addresses_of(setup);
  node_options.name = node_options.members.at(member->self_.value).name;
  node_options.log = library_log();
  if (member->plan_.group.logged) {
    member->log_folder_.emplace(member->options_.log.state_dir, node_options.name);
    node_options.state_dir = member->log_folder_->path();
    if (Result<void> founded = member->found(node_options); !founded) {
      return std::unexpected(std::move(founded.error()));
    }
  }
  if (Result<void> joined = member->join(node_options); !joined) {
    return std::unexpected(std::move(joined.error()));
  }
  member->worker_ = std::make_unique<Worker>(*member->node_, member->senders_, member->plan_,
                                             member->options_.spin);
  return member;
}

// Each measurement has groups of its own, which the first member founds: it goes on with nothing.
Result<void> PerfMember::found(const NodeOptions& node_options) const {
  std::error_code unknown;
  if (std::filesystem::exists(node_options.state_dir + "/views", unknown)) {
    return fail(ErrorCode::invalid_argument,
                "--state-dir: " + node_options.state_dir +
                    " has groups of an earlier run; move it away, or name another folder");
  }
  if (self_.value != 0) return {};
  const std::string prefix = plan_.service ? "tutti.dds." : "";
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < options_.groups; ++i) names.push_back(prefix + perf_group_name(i));
  return bootstrap(node_options, names);
}

Result<void> PerfMember::join(const NodeOptions& node_options) {
  Result<Node> node = Node::create(node_options);
  if (!node) return std::unexpected(std::move(node.error()));
  node_.emplace(std::move(*node));
  for (std::uint32_t i = 0; i < options_.groups; ++i) {
    const bool small = options_.size_bytes < kStampedMinBytes;
    stamps_.push_back(small ? std::make_unique<Stamps>(options_.window_messages) : nullptr);
    receivers_.emplace_back(plan_, options_, self_, stamps_.back().get(), same_clock_);
  }
  if (plan_.service) {
    Result<PerfTopics> topics = PerfTopics::join(*node_, plan_, options_);
    if (!topics) return std::unexpected(std::move(topics.error()));
    topics_.emplace(std::move(*topics));
  } else if (Result<void> joined = join_groups(); !joined) {
    return joined;
  }
  if (Result<void> started = node_->start(); !started) return started;
  if (topics_) {
    if (Result<void> opened = topics_->open(receivers_); !opened) return opened;
    groups_ = topics_->groups();
  }
  if (Result<void> added = add_senders(); !added) return added;
  Result<Takers> takers = Takers::start(plan_.taking, groups_, receivers_);
  if (!takers) return std::unexpected(std::move(takers.error()));
  takers_.emplace(std::move(*takers));
  return {};
}

Result<void> PerfMember::join_groups() {
  for (std::uint32_t i = 0; i < options_.groups; ++i) {
    GroupOptions group_options = plan_.group;
    group_options.name = perf_group_name(i);
    group_options.senders = perf_member_names(plan_.senders);
    if (plan_.taking == Taking::none) {
      group_options.on_delivery = [receiver = &receivers_[i]](std::span<const Message> batch) {
        receiver->deliver(batch);
      };
    }
    Result<Group> group = node_->join(std::move(group_options));
    if (!group) return std::unexpected(std::move(group.error()));
    groups_.push_back(std::move(*group));
  }
  return {};
}

Result<void> PerfMember::add_senders() {
  if (self_.value >= plan_.active) return {};
  for (std::uint32_t i = 0; i < plan_.active_groups; ++i) {
    dds::UntypedWriter* writer = nullptr;
    if (topics_) {
      Result<dds::UntypedWriter*> added = topics_->write(i);
      if (!added) return std::unexpected(std::move(added.error()));
      writer = *added;
    }
    senders_.emplace_back(groups_[i], writer, plan_, options_, self_, stamps_[i].get());
  }
  return {};
}

Result<json> PerfMember::handle(const json& request) {
  const std::string what = request.at("do").get<std::string>();
  if (what == "send") {
    const auto more = request.at("more").get<std::uint64_t>();
    send_ns_ = now_ns();
    allow(more == 0 ? Sender::kNoLimit : more);
    return json::object();
  }
  if (what == "pause") {
    allow(0);
    return json{{"sent", sent_by_group()}};
  }
  if (what == "expect") {
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
      receivers_[i].expect(request.at("totals").at(i).get<std::uint64_t>());
    }
    return json::object();
  }
  if (what == "clock") return json{{"ns", now_ns()}};
  if (what == "count") return json{{"delivered", delivered()}};
  if (what == "begin" || what == "end") {
    (what == "begin" ? begin_ : end_) = mark();
    for (Receiver& receiver : receivers_) receiver.measure(what == "begin");
    return json::object();
  }
  if (what == "stop") return stop();
  return fail(ErrorCode::invalid_argument, "unknown request '" + what + "'");
}

void PerfMember::allow(std::uint64_t more) {
  worker_->call([this, more] {
    for (Sender& sender : senders_) sender.allow(more);
  });
}

PerfMember::Mark PerfMember::mark() const {
  Mark mark;
  mark.ns = now_ns();
  for (const Receiver& receiver : receivers_) {
    mark.delivered += receiver.delivered();
    mark.bytes += receiver.bytes();
  }
  mark.cpu_ns = cpu_ns();
  for (const Sender& sender : senders_) mark.sent += sender.sent();
  for (const Group& group : groups_) add(mark.groups, group.statistics());
  mark.node = node_->statistics();
  return mark;
}

std::uint64_t PerfMember::delivered() const {
  std::uint64_t total = 0;
  for (const Receiver& receiver : receivers_) total += receiver.delivered();
  return total;
}

json PerfMember::sent_by_group() const {
  json sent = json::array();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    sent.push_back(i < senders_.size() ? senders_[i].sent() : 0);
  }
  return sent;
}

Result<json> PerfMember::stop() {
  Result<void> stopped;
  worker_->call([&] {
    for (Sender& sender : senders_) sender.allow(0);
    stopped = node_->stop(kDrainTimeout);
  });
  takers_.reset();
  if (!stopped) return std::unexpected(std::move(stopped.error()));
  log_folder_.reset();  // before the reply, after which the parent may end this process
  return result();
}

json PerfMember::result() const {
  std::int64_t reached_ns = 0;
  for (const Receiver& receiver : receivers_)
    reached_ns = std::max(reached_ns, receiver.reached_ns());
  json result = {
      {"active", !senders_.empty()},
      {"begin_ns", begin_.ns},
      {"end_ns", end_.ns},
      {"first_send_ns", senders_.empty() ? 0 : send_ns_},
      {"reached_ns", reached_ns},
      {"sent_messages", end_.sent - begin_.sent},
      {"delivered_messages", end_.delivered - begin_.delivered},
      {"delivered_bytes", end_.bytes - begin_.bytes},
      {"cpu_seconds", static_cast<double>(end_.cpu_ns - begin_.cpu_ns) / 1e9},
      {"group", to_json(growth(begin_.groups, end_.groups))},
      {"node", to_json(growth(begin_.node, end_.node))},
  };
  add_latencies(result);
  if (options_.verify) add_verification(result);
  return result;
}

void PerfMember::add_latencies(json& result) const {
  Histogram own;
  Histogram others;
  for (const Receiver& receiver : receivers_) {
    own.merge(receiver.own_latency());
    others.merge(receiver.others_latency());
  }
  result["own_latency"] = own.to_json();
  result["others_latency"] = others.to_json();
}

void PerfMember::add_verification(json& result) const {
  json groups = json::array();
  const json sent = sent_by_group();
  for (const Receiver& receiver : receivers_) {
    groups.push_back({{"sent", sent[groups.size()]},
                      {"delivered", receiver.delivered()},
                      {"problem", receiver.problem()},
                      {"order", receiver.order_digest()},
                      {"senders", receiver.sender_digests()}});
  }
  result["verification"] = std::move(groups);
}

}  // namespace tutti::cli
