#include "cli/perf/take_part.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/clock.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/perf/member.hpp"
#include "cli/perf/options_json.hpp"
#include "cli/perf/pinning.hpp"
#include "cli/signals.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kReceiveSliceNs = kNsPerSecond / 10;

/// Tells the parent, which prints it.
int give_up(Channel& channel, const Error& error) {
  const Result<void> told =
      channel.send({{"error", error.message}, {"code", static_cast<int>(error.code)}});
  if (!told) return report(error);
  exit_within(kGiveUpSeconds, kExitError);
  return kExitError;
}

/// Serves requests until "stop" is done or something fails.
int serve(Channel& channel, PerfMember& member) {
  while (true) {
    const Result<json> request = channel.receive(now_ns() + kReceiveSliceNs);
    if (!request && request.error().code == ErrorCode::timed_out) {
      if (const std::optional<Error> failure = member.failure()) return give_up(channel, *failure);
      continue;
    }
    if (!request) return kExitError;  // the parent is gone
    const Result<json> reply = member.handle(*request);
    if (!reply) return give_up(channel, reply.error());
    if (!channel.send(*reply)) return kExitError;
    if (request->at("do") == "stop") return kExitOk;
  }
}

}  // namespace

Result<int> take_part(Channel channel, const Hello& hello, std::int64_t deadline_ns) {
  if (const Result<void> said = channel.send(to_json(hello)); !said) {
    return std::unexpected(said.error());
  }
  const Result<json> setup = channel.receive(deadline_ns);
  if (!setup) {
    return fail(setup.error().code,
                "there is no measurement to take part in: " + setup.error().message);
  }
  if (setup->contains("error")) {
    return fail(ErrorCode::mismatch, "the measurement does not want this member: " +
                                         setup->at("error").get<std::string>());
  }
  const auto rank = setup->at("rank").get<std::uint32_t>();
  set_up_log(setup->at("verbose") == true ? Verbosity::verbose : Verbosity::quiet,
             "m" + std::to_string(rank));
  const auto options = setup->at("options").get<PerfOptions>();
  if (const Result<void> placed = stay(options, setup->at("place").get<std::uint32_t>()); !placed) {
    return give_up(channel, placed.error());
  }
  Result<std::unique_ptr<PerfMember>> member = PerfMember::start(*setup);
  if (!member) return give_up(channel, member.error());
  if (!channel.send(json::object())) return kExitError;
  return serve(channel, **member);
}

}  // namespace tutti::cli
