// Members that come by themselves, from hosts that somebody else started them on.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/clock.hpp"
#include "cli/log.hpp"
#include "cli/perf/participants.hpp"
#include "cli/perf/plan.hpp"
#include "cli/poll_until.hpp"
#include "cli/signals.hpp"
#include "cli/tcp.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

class Joiners {
 public:
  Joiners(UniqueFd listener, std::uint32_t count) : listener_(std::move(listener)), count_(count) {}

  /// One round: whoever calls, and whatever they say, until that time.
  void step(std::int64_t deadline_ns) {
    std::vector<pollfd> inputs{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const Caller& caller : callers_) {
      inputs.push_back({.fd = caller.channel.input_fd(), .events = POLLIN, .revents = 0});
    }
    poll_until(inputs, deadline_ns);
    for (std::size_t i = callers_.size(); i-- > 0;) {
      if (inputs[i + 1].revents != 0 && !hear(callers_[i])) {
        callers_.erase(callers_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (inputs[0].revents != 0) accept();
  }

  [[nodiscard]] std::uint32_t missing() const {
    return count_ - static_cast<std::uint32_t>(std::ranges::count_if(callers_, said_hello));
  }

  /// By rank. Once none is missing.
  [[nodiscard]] Participants take() {
    std::vector<Caller*> seats(count_);
    for (Caller& caller : callers_) {
      if (said_hello(caller) && caller.hello->rank) seats[*caller.hello->rank] = &caller;
    }
    for (Caller& caller : callers_) {
      if (said_hello(caller) && !caller.hello->rank) *std::ranges::find(seats, nullptr) = &caller;
    }
    const std::vector<std::string> names = perf_member_names(count_);
    Participants all;
    for (Caller* seat : seats) {
      all.push_back({.name = names[all.size()] + " on " + seat->hello->host,
                     .channel = std::move(seat->channel),
                     .address = seat->hello->address,
                     .hello = std::move(seat->hello)});
    }
    return all;
  }

 private:
  struct Caller {
    std::string host;
    Channel channel;
    std::optional<Hello> hello{};
  };
  static bool said_hello(const Caller& caller) { return caller.hello.has_value(); }

  void accept() {
    UniqueFd connection = accept_at(listener_);
    if (!connection) return;  // it hung up again
    UniqueFd output(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 3));
    if (!output) return;
    const std::string host = other_host(connection);
    callers_.push_back({host, Channel(std::move(connection), std::move(output))});
  }

  /// False: it is let go.
  bool hear(Caller& caller) {
    const Result<json> said = caller.channel.receive(now_ns());
    if (!said && said.error().code == ErrorCode::timed_out) return true;  // not a whole line yet
    if (!said) return dismiss(caller, said.error().message);
    if (caller.hello) return dismiss(caller, "it spoke before it was asked");
    Result<Hello> hello = hello_from(*said);
    if (!hello) return dismiss(caller, hello.error().message);
    if (hello->rank && *hello->rank >= count_) {
      return dismiss(caller, "it wants rank " + std::to_string(*hello->rank) + " of " +
                                 std::to_string(count_) + " members, which count from 0");
    }
    const auto has_its_rank = [&](const Caller& other) {
      return other.hello && hello->rank && other.hello->rank == hello->rank;
    };
    if (const auto other = std::ranges::find_if(callers_, has_its_rank); other != callers_.end()) {
      return dismiss(caller,
                     "rank " + std::to_string(*hello->rank) + " is taken by " + other->hello->host);
    }
    if (missing() == 0) return dismiss(caller, "all members are there already");
    caller.hello = std::move(*hello);
    log_info(caller.hello->host + " has come, " + std::to_string(missing()) + " missing");
    return true;
  }

  bool dismiss(Caller& caller, const std::string& why) {
    log_warning("let go of " + (caller.hello ? caller.hello->host : caller.host) + ": " + why);
    static_cast<void>(
        caller.channel.send({{"error", why}, {"code", static_cast<int>(ErrorCode::mismatch)}}));
    return false;
  }

  UniqueFd listener_;
  const std::uint32_t count_;
  std::vector<Caller> callers_;
};

}  // namespace

Result<Participants> await_joiners(const std::string& listen, std::uint32_t count,
                                   std::int64_t deadline_ns) {
  Result<UniqueFd> listener = listen_at(listen);
  if (!listener) return std::unexpected(listener.error());
  log_info("waiting at " + listen + " for " + std::to_string(count) +
           " members: run `tutti perf join HOST:PORT` on each host");
  Joiners joiners(std::move(*listener), count);
  while (joiners.missing() > 0) {
    if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    if (now_ns() >= deadline_ns) {
      return fail(ErrorCode::unreachable,
                  std::to_string(joiners.missing()) + " of " + std::to_string(count) +
                      " members have not come to " + listen +
                      ": start them with `tutti perf join`, or wait longer with --start-timeout");
    }
    joiners.step(deadline_ns);
  }
  return joiners.take();
}

}  // namespace tutti::cli
