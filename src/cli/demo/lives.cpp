#include "cli/demo/lives.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "base/unique_fd.hpp"
#include "cli/clock.hpp"
#include "cli/demo/arguments.hpp"
#include "cli/exit_code.hpp"
#include "cli/signals.hpp"
#include "tutti/bootstrap.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLookNs = kNsPerSecond / 200;
constexpr std::int64_t kStallNs = 60 * kNsPerSecond;

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

std::string text_in(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<Lives> Lives::found(const std::vector<std::string>& names, const FabricAndLevel& words,
                           const fs::path& folder) {
  const Result<std::vector<int>> ports = free_loopback_ports(names.size());
  if (!ports) return std::unexpected(ports.error());
  Lives lives;
  lives.folder_ = folder;
  lives.arguments_ = shared_arguments(names, 0, words, *ports);
  for (const std::string& name : names) {
    Member member;
    member.name = name;
    member.state = folder / (name + ".state");
    lives.members_.push_back(std::move(member));
  }
  NodeOptions first;
  first.name = names.front();
  first.members = loopback_addresses(names, *ports);
  first.state_dir = lives.members_.front().state.string();
  if (Result<void> founded = bootstrap(first, {kDemoGroup}); !founded) {
    return std::unexpected(std::move(founded.error()));
  }
  return lives;
}

Result<void> Lives::start(std::uint64_t burst, std::uint64_t count) {
  ++number_;
  last_ = count > 0;
  for (Member& member : members_) {
    if (Result<void> started = start_one(member, burst, count); !started) return started;
  }
  return {};
}

Result<void> Lives::start_one(Member& member, std::uint64_t burst, std::uint64_t count) {
  const std::string life = member.name + "." + std::to_string(number_);
  member.killed = false;
  member.output = folder_ / (life + ".out");
  member.error = folder_ / (life + ".err");
  Result<std::unique_ptr<NumberedInput>> input =
      NumberedInput::start({.prefix = life, .burst = burst, .count = count});
  if (!input) return std::unexpected(std::move(input.error()));
  member.input = std::move(*input);
  const auto open = [](const fs::path& path) {
    return UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  };
  const UniqueFd output = open(member.output);
  const UniqueFd error = open(member.error);
  if (!output || !error) {
    return fail(ErrorCode::system, "cannot open the files of member " + member.name + " in " +
                                       folder_.string() + ": " + std::strerror(errno));
  }
  std::vector<std::string> arguments = arguments_;
  arguments.insert(arguments.end(), {"--name", member.name, "--state-dir", member.state.string()});
  Result<Child> child = Child::start(
      arguments,
      {.input = member.input->reading_end().get(), .output = output.get(), .error = error.get()});
  member.input->close_reading_end();
  if (!child) return std::unexpected(std::move(child.error()));
  member.child = std::move(*child);
  return {};
}

// Once some are killed, the others may find out that they are no majority, and end.
Result<void> Lives::check_running() {
  if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
  const bool any_killed = std::ranges::any_of(members_, &Member::killed);
  for (Member& member : members_) {
    if (member.killed || member.child->running()) continue;
    const std::optional<int> status = member.child->exit_status();
    if (status == (any_killed ? kExitMemberLost : last_ ? kExitOk : -1)) continue;
    return fail(ErrorCode::peer_lost, "in life " + std::to_string(number_) + " member " +
                                          member.name + " " + member.child->ending() + said());
  }
  return {};
}

Result<void> Lives::wait_until(const std::function<bool()>& holds) {
  std::uint64_t before = 0;
  std::int64_t deadline_ns = now_ns() + kStallNs;
  while (!holds()) {
    if (Result<void> good = check_running(); !good) return good;
    if (const std::uint64_t now = printed(); now != before) {
      before = now;
      deadline_ns = now_ns() + kStallNs;
    }
    if (now_ns() > deadline_ns) {
      return fail(ErrorCode::timed_out, "in life " + std::to_string(number_) +
                                            " the members have printed nothing for a minute" +
                                            said());
    }
    wait_for_an_end(now_ns() + kLookNs);
  }
  return {};
}

Result<void> Lives::let_run(std::int64_t deadline_ns) {
  const auto runs = [](Member& member) { return member.child->running(); };
  while (now_ns() < deadline_ns && std::ranges::any_of(members_, runs)) {
    if (Result<void> good = check_running(); !good) return good;
    wait_for_an_end(std::min(deadline_ns, now_ns() + kLookNs));
  }
  return {};
}

void Lives::let_end() {
  for (Member& member : members_) member.input->let_end();
}

void Lives::kill(std::size_t member) {
  members_[member].killed = true;
  members_[member].child->kill();
  members_[member].input.reset();
}

Result<void> Lives::wait_for_the_end() {
  Result<void> ended = wait_until([this] {
    return std::ranges::none_of(members_, [](Member& m) { return m.child->running(); });
  });
  return ended ? check_running() : ended;
}

void Lives::forget() const {
  for (const Member& member : members_) {
    std::error_code ignored;  // the folder goes at the end anyway
    fs::remove(member.output, ignored);
    fs::remove(member.error, ignored);
  }
}

std::uint64_t Lives::least_printed() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const Member& member : members_) least = std::min(least, size_of(member.output));
  return least;
}

void Lives::wait_for_an_end(std::int64_t deadline_ns) const {
  std::vector<const Child*> children;
  children.reserve(members_.size());
  for (const Member& member : members_) children.push_back(&*member.child);
  Child::wait_for_an_end(children, deadline_ns);
}

std::uint64_t Lives::printed() const {
  std::uint64_t bytes = 0;
  for (const Member& member : members_) bytes += size_of(member.output);
  return bytes;
}

std::string Lives::said() const {
  std::string text;
  for (const Member& member : members_) {
    std::string words = text_in(member.error);
    while (words.ends_with('\n')) words.pop_back();
    text += "\nmember " + member.name + " said:\n" + words;
  }
  return text;
}

}  // namespace tutti::cli
