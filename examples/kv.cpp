// A replicated key-value store: every member has all of it, any member changes it.
//
//   kv NAME a=127.0.0.1:7001,b=127.0.0.1:7002,c=127.0.0.1:7003 [OPTION...]
//
// then, line by line: set KEY VALUE | get KEY | del KEY | list | members | quit. Kill a member, and
// the others go on; start it again with --join, and it has what they have.
//
// With --state-dir FOLDER, one for each member, what was set is on the disks of all members before
// it is acknowledged. Say once, at one member, that the store is new, by --bootstrap; from then on
// the command line of a member never changes, also if all of them are killed at once. A member
// writes a snapshot of the store each 16 MiB of its log, or as --snapshot-every says in MiB, so
// that the log stays short. As a service, with --listen, it answers these lines at a port instead
// (deploy/README.md).
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "tutti/bootstrap.hpp"
#include "tutti/replicated.hpp"

namespace {

using namespace std::chrono_literals;

constexpr int kClientsMax = 1000;  // each has a thread and a descriptor

struct Store {
  struct Command {
    std::string key;
    std::optional<std::string> value;  // nothing: delete the key

    void encode(std::vector<std::byte>& out) const {
      const std::string text = (value ? "+" : "-") + key + '\0' + value.value_or("");
      const auto bytes = std::as_bytes(std::span(text));
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    static std::optional<Command> decode(std::span<const std::byte> in) {
      const std::string_view text(reinterpret_cast<const char*>(in.data()), in.size());
      const std::size_t end = text.find('\0');
      if (text.empty() || end == std::string_view::npos) return {};
      Command command{.key = std::string(text.substr(1, end - 1)), .value = {}};
      if (text.front() == '+') command.value = text.substr(end + 1);
      return command;
    }
  };
  using Reply = std::optional<std::string>;  // what was there before

  std::map<std::string, std::string> entries;
  std::string loading;

  Reply apply(const Command& command) {
    Reply before;
    if (const auto at = entries.find(command.key); at != entries.end()) before = at->second;
    if (command.value) {
      entries[command.key] = *command.value;
    } else {
      entries.erase(command.key);
    }
    return before;
  }

  // KEY NUL VALUE NUL, again and again.
  tutti::Result<void> save(const tutti::StateSink& write) const {
    for (const auto& [key, value] : entries) {
      std::string text = key;
      text.append(1, '\0').append(value).append(1, '\0');
      write(std::as_bytes(std::span(text)));
    }
    return {};
  }
  tutti::Result<void> load(const tutti::StatePiece& piece) {
    if (piece.first) loading.clear();
    loading.append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
    if (!piece.last) return {};
    entries.clear();
    std::istringstream words(loading);
    for (std::string key, value; std::getline(words, key, '\0');) {
      if (!std::getline(words, value, '\0')) {
        return tutti::fail(tutti::ErrorCode::mismatch, "a key without a value");
      }
      entries[key] = value;
    }
    return {};
  }
};

int complain(const tutti::Error& error) {
  std::fprintf(stderr, "kv: %s\n", error.message.c_str());
  return 1;
}

std::vector<tutti::MemberAddress> members_from(const std::string& list) {
  std::vector<tutti::MemberAddress> members;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = std::min(word.find('='), word.size());
    members.push_back({word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))});
  }
  return members;
}

// The answer to a line, with its newline; nothing if the line asks to end.
std::optional<std::string> answer(const std::string& line, const tutti::Node& node,
                                  tutti::Replicated<Store>& store) {
  std::istringstream words(line);
  std::string verb, key, value;
  words >> verb >> key >> std::ws;
  std::getline(words, value);
  std::ostringstream out;
  if (verb == "quit") return {};
  if (verb.empty()) return "";
  if (verb == "get") {
    const auto found = store.query([&key](const Store& copy) -> std::optional<std::string> {
      const auto at = copy.entries.find(key);
      return at == copy.entries.end() ? std::nullopt : std::optional(at->second);
    });
    out << (found ? *found : "(none)");
  } else if (verb == "list") {
    store.query([&out](const Store& copy) {
      for (const auto& [name, text] : copy.entries) out << name << ' ' << text << '\n';
      out << copy.entries.size() << " entries";
    });
  } else if (verb == "members") {
    const tutti::ViewChange view = node.view();
    out << "view " << view.view << ':';
    for (const std::string& member : view.members) out << ' ' << member;
  } else if ((verb == "set" || verb == "del") && !key.empty()) {
    Store::Command command{.key = key, .value = {}};
    if (verb == "set") command.value = value;
    const auto before = store.execute(command, 10s);
    if (!before) {
      out << "error: " << before.error().message;
    } else {
      out << "ok" << (*before ? ", was " + **before : "");
    }
  } else {
    out << "set KEY VALUE | get KEY | del KEY | list | members | quit";
  }
  out << '\n';
  return out.str();
}

void talk(int client, const tutti::Node& node, tutti::Replicated<Store>& store) {
  constexpr std::size_t kLineMax = 1U << 20;
  std::string waiting;
  char bytes[4096];
  for (ssize_t got; (got = ::read(client, bytes, sizeof bytes)) > 0;) {
    waiting.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end; (end = waiting.find('\n')) != std::string::npos;) {
      const std::optional<std::string> reply = answer(waiting.substr(0, end), node, store);
      waiting.erase(0, end + 1);
      if (!reply) return;
      for (std::size_t at = 0; at < reply->size();) {
        const ssize_t sent = ::send(client, reply->data() + at, reply->size() - at, MSG_NOSIGNAL);
        if (sent < 0) return;
        at += static_cast<std::size_t>(sent);
      }
    }
    if (waiting.size() > kLineMax) return;
  }
}

int complain_of(const char* what) {
  return complain({tutti::ErrorCode::system, std::string(what) + ": " + std::strerror(errno)});
}

// Each client has a thread. Returns only if the member cannot go on: a service that is told to end
// just ends, as if it was killed, so that its view goes on to count it among those with the data.
int listen_for_clients(std::uint16_t port, const tutti::Node& node,
                       tutti::Replicated<Store>& store) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener, 64) != 0) {
    return complain_of("cannot listen for clients");
  }
  std::cout << "ready" << std::endl;
  std::atomic<int> clients{0};
  while (!node.failure()) {
    pollfd waits{.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, 200) <= 0) continue;  // ms: so soon a failure is seen
    const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      if (errno != EAGAIN && errno != EINTR) std::this_thread::sleep_for(50ms);  // no descriptor
      continue;
    }
    if (clients.fetch_add(1) >= kClientsMax) {
      --clients;
      ::close(client);
      continue;
    }
    try {
      std::thread([client, &node, &store, &clients] {
        talk(client, node, store);
        ::close(client);
        --clients;
      }).detach();  // until the process ends
    } catch (const std::system_error&) {
      ::close(client);
      --clients;
    }
  }
  complain(*node.failure());
  std::_Exit(1);  // clients' threads use the node
}

int serve_standard_input(tutti::Node& node, tutti::Replicated<Store>& store) {
  std::cout << "ready" << std::endl;
  for (std::string line; !node.failure() && std::getline(std::cin, line);) {
    const std::optional<std::string> reply = answer(line, node, store);
    if (!reply) break;
    std::cout << *reply << std::flush;
  }
  const auto left = node.leave(10s);
  return left ? 0 : complain(left.error());
}

struct Arguments {
  bool join = false;
  bool bootstrap = false;
  std::string state_dir{};
  std::uint16_t port = 0;             // of clients; 0: standard input
  std::uint16_t snapshot_every = 16;  // MiB of the log
};

// From 1 on.
bool read_number(std::string_view text, std::uint16_t& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && out != 0;
}

std::optional<Arguments> arguments_from(int argc, char** argv) {
  Arguments out;
  if (argc < 3) return {};
  for (int i = 3; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--join") {
      out.join = true;
    } else if (word == "--bootstrap") {
      out.bootstrap = true;
    } else if (word == "--state-dir" && !value.empty() && !value.starts_with("--")) {
      out.state_dir = value;
      ++i;
    } else if (word == "--listen") {
      if (!read_number(value, out.port)) return {};
      ++i;
    } else if (word == "--snapshot-every") {
      if (!read_number(value, out.snapshot_every)) return {};
      ++i;
    } else {
      return {};
    }
  }
  if (out.bootstrap && out.state_dir.empty()) return {};
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = arguments_from(argc, argv);
  if (!arguments) {
    std::fprintf(stderr,
                 "usage: kv NAME a=HOST:PORT,b=HOST:PORT,... [--join] [--listen PORT]\n"
                 "          [--state-dir FOLDER [--bootstrap] [--snapshot-every MIB]]\n");
    return 2;
  }
  const bool durable = !arguments->state_dir.empty();
  tutti::NodeOptions options{.name = argv[1],
                             .members = members_from(argv[2]),
                             .join_only = arguments->join,
                             .suspect_after = 20s,  // a busy host may hold one up
                             .state_dir = arguments->state_dir};
  if (arguments->bootstrap) {
    const auto founded = tutti::bootstrap(options, {"kv"});
    if (!founded) return complain(founded.error());
    std::cout << "the store is new: start all members, without --bootstrap" << std::endl;
    return 0;
  }
  if (durable) {  // it waits for the others as long as it takes, and says for whom
    options.start_timeout = 24h;
    options.log = [](tutti::LogLevel level, std::string_view text) {
      if (level == tutti::LogLevel::debug) return;
      std::fprintf(stderr, "kv: %.*s\n", static_cast<int>(text.size()), text.data());
    };
  }
  auto node = tutti::Node::create(std::move(options));
  if (!node) return complain(node.error());
  tutti::GroupOptions group{.name = "kv"};
  if (durable) {
    group.level = tutti::Level::durable;
    group.logged = true;
    group.snapshot_every_bytes = std::uint64_t{arguments->snapshot_every} << 20;
    group.log_segment_bytes = std::min(group.snapshot_every_bytes, group.log_segment_bytes);
    group.keep_log_bytes = 2 * group.snapshot_every_bytes;
  }
  auto store = tutti::Replicated<Store>::join(*node, std::move(group));
  if (!store) return complain(store.error());
  if (auto started = node->start(); !started) return complain(started.error());
  if (arguments->port != 0) return listen_for_clients(arguments->port, *node, *store);
  return serve_standard_input(*node, *store);
}
