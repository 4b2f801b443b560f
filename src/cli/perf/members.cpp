#include "cli/perf/members.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/clock.hpp"
#include "cli/perf/options_json.hpp"
#include "cli/poll_until.hpp"
#include "cli/signals.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kLookAtMembersNs = kNsPerSecond / 5;
// Once one has failed, the others say so, or end, as soon as they notice; who does not is well.
constexpr std::int64_t kOthersSpeakNs = kNsPerSecond;
constexpr int kClockRounds = 10;

std::int64_t ns_from(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

pollfd input_of(const Channel& channel) {
  return {.fd = channel.input_fd(), .events = POLLIN, .revents = 0};
}

bool killed(const Participant& member) { return member.child && member.child->killed_by_signal(); }

}  // namespace

Result<PerfMembers> PerfMembers::start(const PerfOptions& options, const PerfPlaces& places,
                                       bool verbose) {
  const std::int64_t deadline_ns = now_ns() + ns_from(options.start_timeout_s);
  Result<Participants> all = !places.listen.empty()
                                 ? await_joiners(places.listen, options.members, deadline_ns)
                             : !places.hosts.empty() ? start_by_ssh(places)
                                                     : start_here(options.members);
  if (!all) return std::unexpected(all.error());
  PerfMembers members;
  members.members_ = std::move(*all);
  if (Result<void> ok = members.hear_hellos(now_ns() + ns_from(options.start_timeout_s)); !ok) {
    return std::unexpected(ok.error());
  }
  for (std::size_t rank = 0; rank < members.members_.size(); ++rank) {
    const Result<void> told =
        members.tell(members.members_[rank], members.setup_for(rank, options, verbose));
    if (!told) return std::unexpected(told.error());
  }
  const Result<std::vector<json>> ready =
      members.replies(now_ns() + ns_from(options.start_timeout_s + 30));
  if (!ready) return std::unexpected(ready.error());
  if (Result<void> ok = members.compare_clocks(); !ok) return std::unexpected(ok.error());
  return members;
}

Result<void> PerfMembers::hear_hellos(std::int64_t deadline_ns) {
  if (members_.front().hello) return {};  // those that joined have said it already
  const Result<std::vector<json>> said = replies(deadline_ns);
  if (!said) return std::unexpected(said.error());
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    Result<Hello> hello = hello_from(said->at(rank));
    if (!hello) {
      return std::unexpected(
          explain(members_[rank], {hello.error().code, ": " + hello.error().message}));
    }
    members_[rank].hello = std::move(*hello);
  }
  return {};
}

json PerfMembers::setup_for(std::size_t rank, const PerfOptions& options, bool verbose) const {
  json addresses = json::array();
  json clocks = json::array();
  for (const Member& member : members_) {
    addresses.push_back(member.address);
    clocks.push_back(member.hello->clock);
  }
  const auto before = std::ranges::count(
      members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(rank),
      members_[rank].hello->clock, [](const Member& member) { return member.hello->clock; });
  return {{"options", options}, {"rank", rank},    {"addresses", addresses},
          {"clocks", clocks},   {"place", before}, {"verbose", verbose}};
}

Result<void> PerfMembers::compare_clocks() {
  const std::string own_clock = hello_here().clock;
  for (Member& member : members_) {
    std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t ahead_ns = 0;
    for (int i = 0; i < kClockRounds && member.hello->clock != own_clock; ++i) {
      const std::int64_t begin_ns = now_ns();
      if (const Result<void> told = tell(member, {{"do", "clock"}}); !told) return told;
      const Result<json> reply = reply_of(member, begin_ns + 30 * kNsPerSecond);
      if (!reply) return std::unexpected(reply.error());
      const std::int64_t took_ns = now_ns() - begin_ns;
      if (took_ns >= shortest_ns) continue;
      shortest_ns = took_ns;
      ahead_ns = reply->at("ns").get<std::int64_t>() - (begin_ns + took_ns / 2);
    }
    clocks_ahead_ns_.push_back(ahead_ns);
  }
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
    if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
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
    if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    if (poll_until(inputs, now_ns() + std::min(kLookAtMembersNs, length_ns - passed)) == 0)
      continue;
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
    const bool ended = member.child && !member.child->running();
    return std::unexpected(explain(
        member,
        {reply.error().code, ended ? " " + member.child->ending() : ": " + reply.error().message}));
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
    if (&other != &member && killed(other)) {
      text += "member " + other.name + " " + other.child->ending() + "\n";
    }
  }
  return {error.code, text + "member " + member.name + error.message};
}

/// Until one that was killed is known, or all others have said what failed, or have ended.
void PerfMembers::hear_the_others(const Member& first) {
  const std::int64_t deadline_ns = now_ns() + kOthersSpeakNs;
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
  if (!member.child) return;
  const Child* const child = &*member.child;
  while (member.child->running() && now_ns() < deadline_ns) {
    Child::wait_for_an_end({&child, 1}, deadline_ns);
  }
}

}  // namespace tutti::cli
