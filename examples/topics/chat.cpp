// A chat: people talk through relays, and see the last lines of what was said before they came.
//
//   example_chat serve NAME MEMBERS HOST:PORT   be a participant, with a relay there
//   example_chat talk NAME HOST:PORT,HOST:PORT  be a client: each line of standard input is said
//
// MEMBERS is a=HOST:PORT,b=HOST:PORT,... If the relay of a client goes away, the client goes on at
// the next one: no line is lost, and none is there twice.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/client.hpp"
#include "tutti/dds.hpp"
#include "tutti/dds/relay.hpp"

using namespace std::chrono_literals;
namespace dds = tutti::dds;

/// The value, or the program ends and says why.
template <class T>
static T must(tutti::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

static std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

/// Until the end of standard input.
static void serve(const char* name, const char* members, const char* listen) {
  tutti::NodeOptions options{.name = name};
  options.suspect_after = 20s;  // a busy host may hold one up
  for (const std::string& part : parts_of(members)) {
    const std::size_t equals = part.find('=');
    options.members.push_back({part.substr(0, equals), part.substr(equals + 1)});
  }
  auto node = must(tutti::Node::create(std::move(options)));
  auto participant = must(dds::DomainParticipant::create(node));
  must(node.start());
  // A type without a description: its samples are bytes, here a line of text.
  const auto topic = must(dds::UntypedTopic::create(
      participant, "chat", {.name = "text", .alignment = 1},
      {.service = dds::Service::volatile_storage, .history = dds::keep_last(100)}));
  const auto relay = must(dds::Relay::create(participant, {.listen = listen}));
  std::printf("serves %s\n", relay.address().c_str());
  std::fflush(stdout);
  while (std::cin.get() != std::char_traits<char>::eof()) {
  }
  must(node.leave(10s));
}

static void talk(const std::string& name, const char* relays) {
  auto client = must(tutti::client::Client::create({.relays = parts_of(relays), .name = name}));
  static_cast<void>(must(client.topic("chat", 10s)));
  tutti::client::SubscribeOptions options;
  options.from = tutti::client::SubscribeOptions::From::stored;
  options.on_received = [](const tutti::client::Received& received) {
    if (const auto* sample = std::get_if<tutti::client::Sample>(&received)) {
      std::printf("%.*s\n", static_cast<int>(sample->bytes.size()), sample->text().data());
      std::fflush(stdout);
    }
  };
  const auto subscription = must(client.subscribe("chat", options));
  const std::string who = name + ": ";
  for (std::string line; std::getline(std::cin, line);) {
    const auto said = must(client.publish("chat", who + line, 30s));
    if (said.outcome != tutti::client::Published::Outcome::delivered) {
      std::fprintf(stderr, "not said: %s\n", said.text.c_str());
    }
  }
}

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "serve" && argc == 5) return serve(argv[2], argv[3], argv[4]), 0;
  if (mode == "talk" && argc == 4) return talk(argv[2], argv[3]), 0;
  std::fprintf(stderr, "usage: %s serve NAME MEMBERS HOST:PORT\n       %s talk NAME RELAYS\n",
               argv[0], argv[0]);
  return 2;
}
