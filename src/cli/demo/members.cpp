#include "cli/demo/members.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/unique_fd.hpp"
#include "cli/clock.hpp"
#include "cli/demo/arguments.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"
#include "tutti/bootstrap.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLookAtOutputsNs =
    kNsPerSecond / 10;  // outputs are files: their growth wakes nobody
constexpr std::int64_t kDemoStallNs = 60 * kNsPerSecond;
constexpr std::uint64_t kKilledAfter = 5;  // when this part of what can be is printed
constexpr std::size_t kVictim = 1;  // neither the one that leads the change of view, nor the last
constexpr std::int64_t kOthersEndNs = 3 * kNsPerSecond;  // after the first failure

/// How many digits the numbers 0 .. count-1 have together.
std::uint64_t digits_below(std::uint64_t count) {
  std::uint64_t digits = count;
  for (std::uint64_t power = 10; power < count; power *= 10) digits += count - power;
  return digits;
}

/// How long one member's output becomes.
std::uint64_t output_bytes(const Text& text, bool numbered_by_sender) {
  constexpr std::uint64_t kSeparators = 3;  // two spaces and the newline
  std::uint64_t bytes = numbered_by_sender ? 0 : digits_below(text.lines());
  for (const MemberText& part : text.parts) {
    bytes += part.bytes + part.lines * (part.member.size() + kSeparators);
    if (numbered_by_sender) bytes += digits_below(part.lines);
  }
  return bytes;
}

/// Whose last line is held back: of those that are not killed, the one with the most.
std::size_t held_back(const Text& text) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < text.parts.size(); ++i) {
    if (i != kVictim && text.parts[i].lines > text.parts[most].lines) most = i;
  }
  return most;
}

fs::path state_of(const std::string& member, const fs::path& folder) {
  return folder / (member + ".state");
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_in_view(const DemoMembers::Member& member) {
  return contents(member.error).contains("view ");
}

}  // namespace

Result<DemoMembers> DemoMembers::start(const Text& text, const FabricAndLevel& words, bool kill,
                                       const fs::path& folder) {
  const Result<std::vector<int>> ports = free_loopback_ports(text.parts.size());
  if (!ports) return std::unexpected(ports.error());
  std::vector<std::string> names;
  for (const MemberText& part : text.parts) names.push_back(part.member);
  DemoMembers members;
  members.expected_bytes_ = output_bytes(text, words.level == "unordered") * text.parts.size();
  members.expected_lines_ = text.lines();
  members.will_kill_ = kill;
  members.arguments_ = shared_arguments(names, text.longest_line(), words, *ports);
  if (words.level == "durable") {
    const Result<void> founded = bootstrap({.name = names.front(),
                                            .members = loopback_addresses(names, *ports),
                                            .state_dir = state_of(names.front(), folder).string()},
                                           {kDemoGroup});
    if (!founded) return std::unexpected(founded.error());
  }
  const std::size_t held = held_back(text);
  for (const MemberText& part : text.parts) {
    Member member{.name = part.member,
                  .input = part.file,
                  .output = folder / (part.member + ".out"),
                  .error = folder / (part.member + ".err"),
                  .report = folder / (part.member + ".json"),
                  .state = words.level == "durable" ? state_of(part.member, folder) : "",
                  .child = {},
                  .killed = false};
    HeldInput* input = nullptr;
    if (kill && members.members_.size() == held) {
      Result<std::unique_ptr<HeldInput>> opened = HeldInput::open(member.input);
      if (!opened) return std::unexpected(std::move(opened.error()));
      members.held_ = std::move(*opened);
      input = members.held_.get();
    }
    if (Result<void> started = members.start_one(member, members.arguments_, input); !started) {
      return std::unexpected(std::move(started.error()));
    }
    members.members_.push_back(std::move(member));
  }
  if (kill) {
    // An upper bound of what the line that is held back becomes in all outputs.
    const std::uint64_t held_bytes = 2 * members.held_->held_bytes() * text.parts.size();
    members.killed_at_bytes_ =
        (members.expected_bytes_ - std::min(members.expected_bytes_, held_bytes)) / kKilledAfter;
  }
  return members;
}

Result<void> DemoMembers::start_one(Member& member,
                                    const std::vector<std::string>& shared_arguments,
                                    HeldInput* held) {
  const auto open = [](const fs::path& path, int flags) {
    return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  };
  const UniqueFd input = open(member.input, O_RDONLY);
  const UniqueFd output = open(member.output, O_WRONLY | O_CREAT | O_EXCL);
  const UniqueFd error = open(member.error, O_WRONLY | O_CREAT | O_EXCL);
  if (!input || !output || !error) {
    return fail(ErrorCode::system, "cannot open the files of member " + member.name + " in " +
                                       member.output.parent_path().string() + ": " +
                                       std::strerror(errno));
  }
  std::vector<std::string> arguments = shared_arguments;
  arguments.insert(arguments.end(), {"--name", member.name, "--report", member.report.string()});
  if (!member.state.empty()) {
    arguments.insert(arguments.end(), {"--state-dir", member.state.string()});
  }
  const int reads = held == nullptr ? input.get() : held->reading_end().get();
  Result<Child> child =
      Child::start(arguments, {.input = reads, .output = output.get(), .error = error.get()});
  if (held != nullptr) held->close_reading_end();
  if (!child) return std::unexpected(std::move(child.error()));
  member.child = std::move(*child);
  return {};
}

Result<void> DemoMembers::wait() {
  Progress progress;
  std::uint64_t printed = 0;
  std::int64_t deadline_ns = now_ns() + kDemoStallNs;
  while (true) {
    bool running = false;
    bool failed = false;
    for (Member& member : members_) {
      const bool runs = member.child->running();
      running |= runs;
      failed |= !runs && !member.killed && !member.child->succeeded();
    }
    if (failed) return std::unexpected(failures());
    if (!running) return {};
    if (interrupted() != 0) return fail(ErrorCode::stopped, "interrupted");
    if (const std::uint64_t now = printed_bytes(); now != printed) {
      printed = now;
      deadline_ns = now_ns() + kDemoStallNs;
    }
    if (will_kill_ && is_time_to_kill(printed)) {
      will_kill_ = false;
      if (Result<void> again = kill_and_start_again(); !again) return again;
    }
    if (held_ != nullptr && killed_has_joined()) held_->let_go();
    if (now_ns() > deadline_ns) {
      return fail(ErrorCode::timed_out, "the members have printed nothing for a minute");
    }
    const double done = static_cast<double>(printed) /
                        static_cast<double>(std::max<std::uint64_t>(1, expected_bytes_));
    progress.show(done, short_number(done * static_cast<double>(expected_lines_)) + " of " +
                            short_number(static_cast<double>(expected_lines_)) +
                            " lines delivered by each member");
    wait_for_an_end(now_ns() + kLookAtOutputsNs);
  }
}

Result<void> DemoMembers::kill_and_start_again() {
  Member& victim = members_[kVictim];
  victim.killed = true;
  victim.child->kill();
  Member again = {.name = victim.name,
                  .input = "/dev/null",
                  .output = victim.output.string() + ".again",
                  .error = victim.error.string() + ".again",
                  .report = victim.report.string() + ".again",
                  .state = victim.state.empty() ? "" : victim.state.string() + ".again",
                  .child = {},
                  .killed = false};
  std::vector<std::string> arguments = arguments_;
  arguments.emplace_back("--join");
  if (Result<void> started = start_one(again, arguments); !started) return started;
  members_.push_back(std::move(again));
  return {};
}

bool DemoMembers::is_time_to_kill(std::uint64_t printed) const {
  return printed >= killed_at_bytes_ && std::ranges::all_of(members_, is_in_view);
}

bool DemoMembers::killed_has_joined() const {
  return members_[kVictim].killed && is_in_view(members_.back());
}

void DemoMembers::wait_for_an_end(std::int64_t deadline_ns) const {
  std::vector<const Child*> children;
  children.reserve(members_.size());
  for (const Member& member : members_) children.push_back(&*member.child);
  Child::wait_for_an_end(children, deadline_ns);
}

std::uint64_t DemoMembers::printed_bytes() const {
  std::uint64_t bytes = 0;
  for (const Member& member : members_) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(member.output, error);
    if (!error) bytes += size;
  }
  return bytes;
}

Error DemoMembers::failures() {
  const std::int64_t deadline_ns = now_ns() + kOthersEndNs;
  const auto any_runs = [this] {
    return std::ranges::any_of(members_, [](Member& m) { return m.child->running(); });
  };
  while (any_runs() && now_ns() < deadline_ns) wait_for_an_end(deadline_ns);
  std::string text;
  for (Member& member : members_) {
    Child& child = *member.child;
    if (member.killed || (!child.running() && child.succeeded())) continue;
    const bool hung = child.running();
    child.kill();
    text += (text.empty() ? "member " : "\nmember ") + member.name + " " +
            (hung ? "did not end and was stopped" : child.ending());
    if (const std::string said = contents(member.error); !said.empty()) {
      text += ", saying:\n" + said;
      if (text.back() == '\n') text.pop_back();
    }
  }
  return {ErrorCode::peer_lost, text};
}

}  // namespace tutti::cli
