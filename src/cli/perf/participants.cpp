#include "cli/perf/participants.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "cli/member_list.hpp"
#include "cli/perf/plan.hpp"
#include "cli/tcp.hpp"

namespace tutti::cli {
namespace {

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

template <class Start>
Result<Participant> start_child(std::string name, std::string address, const Start& start) {
  Result<Pipe> requests = make_pipe();
  if (!requests) return std::unexpected(requests.error());
  Result<Pipe> replies = make_pipe();
  if (!replies) return std::unexpected(replies.error());
  Result<Child> child =
      start(ChildStreams{.input = requests->read.get(), .output = replies->write.get()});
  if (!child) return std::unexpected(child.error());
  return Participant{.name = std::move(name),
                     .child = std::move(*child),
                     .channel = Channel(std::move(replies->read), std::move(requests->write)),
                     .address = std::move(address)};
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

Result<Participants> start_here(std::uint32_t count) {
  const Result<std::vector<int>> ports = free_loopback_ports(count);
  if (!ports) return std::unexpected(ports.error());
  Participants all;
  for (const std::string& name : perf_member_names(count)) {
    Result<Participant> one = start_child(
        name, "127.0.0.1:" + std::to_string(ports->at(all.size())),
        [](const ChildStreams& streams) { return Child::start({"perf-member"}, streams); });
    if (!one) return std::unexpected(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

Result<Participants> start_by_ssh(const PerfPlaces& places) {
  const std::vector<std::string> hosts = split_list(places.hosts);
  const auto names = perf_member_names(static_cast<std::uint32_t>(hosts.size()));
  Participants all;
  for (const std::string& host : hosts) {
    std::vector<std::string> words = words_of(places.ssh);
    if (words.empty()) return fail(ErrorCode::invalid_argument, "--ssh: there is no command");
    if (host.empty() || host.starts_with('-')) {
      return fail(ErrorCode::invalid_argument, "--hosts: '" + host + "' is no host");
    }
    words.insert(words.end(), {host, places.program, "perf-member"});
    const std::string where = host.substr(host.find('@') + 1);
    const auto port = static_cast<std::uint16_t>(places.port + all.size());
    Result<Participant> one = start_child(
        names[all.size()] + " on " + host, address_text(where, port),
        [&](const ChildStreams& streams) { return Child::start_other(words, streams); });
    if (!one) return std::unexpected(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace tutti::cli
