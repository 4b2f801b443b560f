// One event loop, epoll, for a group and for standard input: each line that comes in is sent to the
// group, and each message of the group is printed. In three terminals (a, b and c):
//
//   epoll a a=127.0.0.1:7001,b=127.0.0.1:7002,c=127.0.0.1:7003
//
// At the end of its input a member sends no more; it ends once all members have done so.
// docs/event-loops.md explains each step.
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>

#include "tutti/tutti.hpp"

namespace {

using namespace std::chrono_literals;

int complain(const tutti::Error& error) {
  std::fprintf(stderr, "epoll: %s\n", error.message.c_str());
  return 1;
}

std::vector<tutti::MemberAddress> members_from(const std::string& list) {
  std::vector<tutti::MemberAddress> members;
  std::istringstream words(list);
  for (std::string name, address; std::getline(words, name, '=');) {
    if (std::getline(words, address, ',')) members.push_back({name, address});
  }
  return members;
}

// What came in and is not sent yet.
struct Input {
  std::string text;
  bool ended = false;

  [[nodiscard]] bool has_line() const { return text.contains('\n'); }
  void read_some() {
    char bytes[4096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
    if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) return;
    ended = true;
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
  }
};

// Sends as many whole lines as there is space for. It must not wait for space: there is more only
// once messages were taken, and this thread takes them.
void send_lines(tutti::Group& group, Input& input) {
  while (input.has_line()) {
    const std::size_t size = input.text.find('\n');
    tutti::Claim space = group.try_claim(static_cast<std::uint32_t>(size));
    if (space.outcome() == tutti::ClaimOutcome::full) return;
    if (space) {
      std::memcpy(space.data(), input.text.data(), size);
      group.commit(std::move(space));
    } else {
      std::fprintf(stderr, "epoll: a line of %zu bytes cannot be sent\n", size);
    }
    input.text.erase(0, size + 1);
  }
  if (input.ended) group.finish();
}

// Takes one batch, so that the input has its turn: while there is more, the descriptor stays
// readable. The batch may be empty. It is released at the end.
tutti::Result<void> print_batch(tutti::Group& group) {
  const tutti::Result<tutti::Batch> batch = group.take();
  if (!batch) return std::unexpected(batch.error());
  for (const tutti::Message& message : *batch) {
    std::printf("%llu %s %.*s\n", static_cast<unsigned long long>(message.seq.value),
                group.name_of(message.sender).data(), static_cast<int>(message.size),
                message.text().data());
  }
  std::fflush(stdout);
  return {};
}

// Returns why nothing comes any more.
tutti::Error serve(tutti::Group& group, int readable) {
  Input input;
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event of_group{.events = EPOLLIN, .data = {.fd = readable}};
  epoll_event of_input{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = STDIN_FILENO}};
  if (::epoll_ctl(loop, EPOLL_CTL_ADD, readable, &of_group) != 0 ||
      ::epoll_ctl(loop, EPOLL_CTL_ADD, STDIN_FILENO, &of_input) != 0) {
    return {tutti::ErrorCode::system, std::string("cannot watch the input: ") +
                                          std::strerror(errno) +
                                          "; it must be a terminal, a pipe or a socket, no file"};
  }
  for (;;) {
    epoll_event event{};
    // A line that waits for space is tried every 1 ms. Group::on_space would call another thread.
    const int count = ::epoll_wait(loop, &event, 1, input.has_line() ? 1 : -1);
    if (count == 1 && event.data.fd == readable) {
      if (const auto taken = print_batch(group); !taken) return taken.error();
    }
    const bool read = count == 1 && event.data.fd == STDIN_FILENO;
    if (read) input.read_some();
    const bool waited = input.has_line();
    send_lines(group, input);
    // Asked for once at a time: while lines wait for space, none is read.
    if ((read || waited) && !input.ended && !input.has_line()) {
      ::epoll_ctl(loop, EPOLL_CTL_MOD, STDIN_FILENO, &of_input);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: epoll NAME a=HOST:PORT,b=HOST:PORT,...\n");
    return 2;
  }
  auto node = tutti::Node::create({.name = argv[1], .members = members_from(argv[2])});
  if (!node) return complain(node.error());
  auto group = node->join({.name = "lines", .delivery = tutti::DeliveryThread::application});
  if (!group) return complain(group.error());
  const auto readable = group->event_fd();
  if (!readable) return complain(readable.error());
  if (auto started = node->start(); !started) return complain(started.error());
  const tutti::Error why = serve(*group, *readable);
  if (why.code != tutti::ErrorCode::complete) return complain(why);
  const auto stopped = node->stop(10s);  // all is delivered: this takes a moment
  return stopped ? 0 : complain(stopped.error());
}
