// A replicated key-value store: every member has all of it, any member changes it.
//
//   kv NAME a=127.0.0.1:7001,b=127.0.0.1:7002,c=127.0.0.1:7003 [--join]
//
// then, line by line: set KEY VALUE | get KEY | del KEY | list | members | quit. Kill a member, and
// the others go on; start it again with --join, and it has what they have.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "tutti/replicated.hpp"

namespace {

using namespace std::chrono_literals;

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

// False if the line asks to end.
bool serve(const std::string& line, tutti::Node& node, tutti::Replicated<Store>& store) {
  std::istringstream words(line);
  std::string verb, key, value;
  words >> verb >> key >> std::ws;
  std::getline(words, value);
  if (verb == "quit") return false;
  if (verb == "get") {
    const auto found = store.query([&key](const Store& copy) -> std::optional<std::string> {
      const auto at = copy.entries.find(key);
      return at == copy.entries.end() ? std::nullopt : std::optional(at->second);
    });
    std::cout << (found ? *found : "(none)") << std::endl;
  } else if (verb == "list") {
    store.query([](const Store& copy) {
      for (const auto& [name, text] : copy.entries) std::cout << name << ' ' << text << '\n';
      std::cout << copy.entries.size() << " entries" << std::endl;
    });
  } else if (verb == "members") {
    const tutti::ViewChange view = node.view();
    std::cout << "view " << view.view << ':';
    for (const std::string& member : view.members) std::cout << ' ' << member;
    std::cout << std::endl;
  } else if ((verb == "set" || verb == "del") && !key.empty()) {
    Store::Command command{.key = key, .value = {}};
    if (verb == "set") command.value = value;
    const auto before = store.execute(command, 10s);
    if (!before) {
      complain(before.error());
    } else {
      std::cout << "ok" << (*before ? ", was " + **before : "") << std::endl;
    }
  } else if (!verb.empty()) {
    std::cout << "set KEY VALUE | get KEY | del KEY | list | members | quit" << std::endl;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool join = argc == 4 && std::strcmp(argv[3], "--join") == 0;
  if (argc != 3 && !join) {
    std::fprintf(stderr, "usage: kv NAME a=HOST:PORT,b=HOST:PORT,... [--join]\n");
    return 2;
  }
  auto node =
      tutti::Node::create({.name = argv[1], .members = members_from(argv[2]), .join_only = join});
  if (!node) return complain(node.error());
  auto store = tutti::Replicated<Store>::join(*node, {.name = "kv"});
  if (!store) return complain(store.error());
  if (auto started = node->start(); !started) return complain(started.error());
  std::cout << "ready" << std::endl;
  for (std::string line; !node->failure() && std::getline(std::cin, line);) {
    if (!serve(line, *node, *store)) break;
  }
  const auto left = node->leave(10s);
  return left ? 0 : complain(left.error());
}
