// Two members in one process: a asks b, by calls that wait and by a future.
#include <cstdio>
#include <string>
#include <thread>

#include "tutti/async.hpp"
#include "tutti/tutti.hpp"

using namespace std::chrono_literals;

static tutti::Result<std::vector<std::byte>> answer(const tutti::Request& request) {
  if (request.bytes.empty()) return tutti::fail(tutti::ErrorCode::refused, "what is the question?");
  return tutti::bytes_of("b knows, " + std::string(request.from) + ": " +
                         std::string(request.text()));
}

static tutti::Result<tutti::Node> make(const std::string& name) {
  tutti::NodeOptions options{.name = name,
                             .members = {{"a", "127.0.0.1:7101"}, {"b", "127.0.0.1:7102"}}};
  options.request_max_bytes = 4096;  // the same at all members
  options.on_request = answer;
  auto node = tutti::Node::create(std::move(options));
  if (!node) return node;
  auto group = node->join({.name = "log"});
  return group ? std::move(node) : std::unexpected(group.error());
}

static void show(const tutti::Result<tutti::Reply>& reply) {
  const std::string text = reply ? std::string(reply->text()) : "error: " + reply.error().message;
  std::printf("%s\n", text.c_str());
}

int main() {
  auto a = make("a");
  auto b = make("b");
  if (!a || !b) return 1;
  std::jthread other([&b] {
    auto started = b->start();
    if (!started) std::fprintf(stderr, "%s\n", started.error().message.c_str());
  });
  if (!a->start()) return 1;
  other.join();

  show(a->send_to("b", "a call that waits", 1s));
  show(a->send_to("b", "", 1s));
  const std::string text = "a future";
  show(tutti::reply_future(*a, "b", std::as_bytes(std::span(text)), 1s).get());
  return 0;
}
