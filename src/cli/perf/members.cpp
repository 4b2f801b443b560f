#include "cli/perf/members.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "cli/clock.hpp"
#include "cli/perf/plan.hpp"
#include "cli/poll_until.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kLookNs = kNsPerSecond / 5;
// Once one has failed, the others say so, or end, as soon as they notice; who does not is well.
constexpr std::int64_t kOthersSpeakNs = kNsPerSecond;

std::int64_t ns_from(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::system, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

pollfd input_of(const Channel& channel) {
  return {.fd = channel.input_fd(), .events = POLLIN, .revents = 0};
}

}  // namespace

Result<PerfMembers> PerfMembers::start(const PerfOptions& options, bool verbose) {
  const Result<std::vector<int>> ports = free_loopback_ports(options.members);
  if (!ports) return std::unexpected(ports.error());
  json addresses = json::array();
  for (const int port : *ports) addresses.push_back("127.0.0.1:" + std::to_string(port));

  PerfMembers members;
  for (const std::string& name : perf_member_names(options.members)) {
    if (Result<void> ok = members.start_one(name); !ok) return std::unexpected(ok.error());
  }
  for (std::size_t rank = 0; rank < members.members_.size(); ++rank) {
    Member& member = members.members_[rank];
    const Result<void> told = members.tell(
        member,
        {{"options", options}, {"rank", rank}, {"addresses", addresses}, {"verbose", verbose}});
    if (!told) return std::unexpected(told.error());
  }
  const std::int64_t deadline_ns = now_ns() + ns_from(options.start_timeout_s + 30);
  const Result<std::vector<json>> ready = members.replies(deadline_ns);
  if (!ready) return std::unexpected(ready.error());
  return members;
}

Result<void> PerfMembers::start_one(const std::string& name) {
  Result<Pipe> requests = make_pipe();
  if (!requests) return std::unexpected(requests.error());
  Result<Pipe> replies = make_pipe();
  if (!replies) return std::unexpected(replies.error());
  Result<Child> child = Child::start(
      {"perf-member"}, {.input = requests->read.get(), .output = replies->write.get()});
  if (!child) return std::unexpected(child.error());
  members_.push_back(
      {name, std::move(*child), Channel(std::move(replies->read), std::move(requests->write))});
  return {};
}

Result<void> PerfMembers::tell(Member& member, const json& request) {
  const Result<void> sent = member.channel.send(request);
  if (sent) return sent;
  const Result<json> last_words = reply_of(member, now_ns() + kOthersSpeakNs);
  if (!last_words) return std::unexpected(last_words.error());
  return std::unexpected(explain(member, {sent.error().code, ": " + sent.error().message}));
}

Result<std::vector<json>> PerfMembers::ask(const json& request, double timeout_s) {
  const std::int64_t deadline_ns = now_ns() + ns_from(timeout_s);
  for (Member& member : members_) {
    if (const Result<void> told = tell(member, request); !told) {
      return std::unexpected(told.error());
    }
  }
  return replies(deadline_ns);
}

Result<std::vector<json>> PerfMembers::replies(std::int64_t deadline_ns) {
  std::vector<json> replies(members_.size());
  std::vector<pollfd> inputs = all_inputs();
  for (std::size_t missing = members_.size(); missing > 0;) {
    poll_until(inputs, deadline_ns);
    const bool late = now_ns() >= deadline_ns;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (inputs[i].fd < 0 || (inputs[i].revents == 0 && !late)) continue;
      Result<json> reply = reply_of(members_[i], deadline_ns);
      if (!reply) return std::unexpected(std::move(reply.error()));
      replies[i] = std::move(*reply);
      inputs[i].fd = -1;  // it has replied: poll leaves it out
      --missing;
    }
  }
  return replies;
}

Result<void> PerfMembers::watch(double seconds, const std::function<void(double)>& look) {
  const std::int64_t begin_ns = now_ns();
  const std::int64_t length_ns = ns_from(seconds);
  std::vector<pollfd> inputs = all_inputs();
  for (std::int64_t passed = 0; passed < length_ns; passed = now_ns() - begin_ns) {
    look(static_cast<double>(passed) / static_cast<double>(length_ns));
    if (poll_until(inputs, now_ns() + std::min(kLookNs, length_ns - passed)) == 0) continue;
    for (std::size_t i = 0; i < members_.size(); ++i) {  // nobody was asked: it can only be bad
      if (inputs[i].revents == 0) continue;
      const Result<json> news = reply_of(members_[i], now_ns() + kNsPerSecond);
      if (!news) return std::unexpected(news.error());
    }
  }
  return {};
}

std::vector<pollfd> PerfMembers::all_inputs() const {
  std::vector<pollfd> inputs;
  inputs.reserve(members_.size());
  for (const Member& member : members_) inputs.push_back(input_of(member.channel));
  return inputs;
}

Result<json> PerfMembers::reply_of(Member& member, std::int64_t deadline_ns) {
  Result<json> reply = member.channel.receive(deadline_ns);
  if (!reply) {
    if (reply.error().code == ErrorCode::stopped) wait_for_end(member, now_ns() + kOthersSpeakNs);
    const bool ended = !member.child.running();
    return std::unexpected(explain(
        member,
        {reply.error().code, ended ? " " + member.child.ending() : ": " + reply.error().message}));
  }
  if (!reply->contains("error")) return reply;
  const auto code = static_cast<ErrorCode>(reply->at("code").get<int>());
  return std::unexpected(explain(member, {code, ": " + reply->at("error").get<std::string>()}));
}

/// Members that were killed are the cause of what the others say, so they are named first.
Error PerfMembers::explain(const Member& member, const Error& error) {
  hear_the_others(member);
  std::string text;
  for (const Member& other : members_) {
    if (&other != &member && other.child.killed_by_signal()) {
      text += "member " + other.name + " " + other.child.ending() + "\n";
    }
  }
  return {error.code, text + "member " + member.name + error.message};
}

/// Until one that was killed is known, or all others have said what failed, or have ended.
void PerfMembers::hear_the_others(const Member& first) {
  const std::int64_t deadline_ns = now_ns() + kOthersSpeakNs;
  const auto killed = [](const Member& member) { return member.child.killed_by_signal(); };
  std::vector<Member*> silent;
  for (Member& member : members_) {
    if (&member != &first) silent.push_back(&member);
  }
  while (true) {
    std::erase_if(silent, [&](Member* member) { return has_spoken(*member, deadline_ns); });
    if (silent.empty() || std::ranges::any_of(members_, killed)) return;
    if (now_ns() >= deadline_ns) return;
    std::vector<pollfd> inputs;
    inputs.reserve(silent.size());
    for (const Member* member : silent) inputs.push_back(input_of(member->channel));
    poll_until(inputs, deadline_ns);
  }
}

/// Whether it has reported a failure or has ended; replies to earlier requests are dropped.
bool PerfMembers::has_spoken(Member& member, std::int64_t deadline_ns) {
  Result<json> reply = member.channel.receive(now_ns());
  while (reply && !reply->contains("error")) reply = member.channel.receive(now_ns());
  if (reply) return true;
  if (reply.error().code == ErrorCode::stopped) wait_for_end(member, deadline_ns);
  return reply.error().code != ErrorCode::timed_out;
}

/// For a member that has closed its pipe, as it does at its very end.
void PerfMembers::wait_for_end(Member& member, std::int64_t deadline_ns) {
  const Child* const child = &member.child;
  while (member.child.running() && now_ns() < deadline_ns) {
    Child::wait_for_an_end({&child, 1}, deadline_ns);
  }
}

}  // namespace tutti::cli
