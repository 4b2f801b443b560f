// Three members in one process, each sending one line; all deliver the same three in one order.
// A real cluster runs one Node per process, on one host or many: only the addresses differ.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.hpp"

using namespace std::chrono_literals;

static void run_member(const std::string& name) {
  auto node = tutti::Node::create(
      {.name = name,
       .members = {{"a", "127.0.0.1:7101"}, {"b", "127.0.0.1:7102"}, {"c", "127.0.0.1:7103"}}});
  if (!node) return void(std::fprintf(stderr, "%s\n", node.error().message.c_str()));

  tutti::GroupOptions options{.name = "log"};
  options.on_delivery = [&](std::span<const tutti::Message> batch) {
    for (const tutti::Message& message : batch) {
      std::printf("%s: %llu from %u: %.*s\n", name.c_str(),
                  static_cast<unsigned long long>(message.seq.value), message.sender.value,
                  static_cast<int>(message.size), message.text().data());
    }
  };
  auto group = node->join(options);
  if (!group) return void(std::fprintf(stderr, "%s\n", group.error().message.c_str()));

  auto started = node->start();  // meets the other members
  auto sent = started ? group->send("hello from " + name, 1s) : std::unexpected(started.error());
  auto stopped = sent ? node->stop(10s) : std::unexpected(sent.error());  // all is delivered
  if (!stopped) std::fprintf(stderr, "%s\n", stopped.error().message.c_str());
}

int main() {
  std::vector<std::jthread> members;
  for (const char* name : {"a", "b", "c"}) members.emplace_back(run_member, name);
}
