// One event loop, epoll, for a group and for standard input: each line that comes in is sent to the
// group, and each message of the group is printed. In three terminals (a, b and c):
//
//   epoll a a=127.0.0.1:7001,b=127.0.0.1:7002,c=127.0.0.1:7003
//
// At the end of its input a member sends no more; it ends once all members have done so.
// docs/event-loops.md explains each step.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
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

// The handler of Group::on_space runs on a thread of the library: it leaves the space here for the
// loop, and makes a descriptor readable.
class Space {
 public:
  ~Space() { ::close(come_); }
  [[nodiscard]] int descriptor() const { return come_; }
  void put(tutti::Result<tutti::Claim> space) {
    const std::lock_guard lock(mutex_);
    space_ = std::move(space);
    ::eventfd_write(come_, 1);
  }
  [[nodiscard]] std::optional<tutti::Result<tutti::Claim>> take() {
    const std::lock_guard lock(mutex_);
    eventfd_t count = 0;
    ::eventfd_read(come_, &count);
    return std::exchange(space_, std::nullopt);
  }

 private:
  int come_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::mutex mutex_;
  std::optional<tutti::Result<tutti::Claim>> space_;
};

// Sends whole lines of the input while there is space. It must not wait for space: there is more
// only once messages were taken, and this thread takes them.
struct Lines {
  tutti::Group& group;
  Input input{};
  std::shared_ptr<Space> space = std::make_shared<Space>();
  bool waits = false;  // it has asked for space for the first line

  void send() {
    while (!waits && input.has_line()) {
      const auto size = static_cast<std::uint32_t>(input.text.find('\n'));
      tutti::Claim claim = group.try_claim(size);
      if (claim.outcome() == tutti::ClaimOutcome::full) {
        const auto asked = group.on_space(
            size, [put = space](tutti::Result<tutti::Claim> come) { put->put(std::move(come)); });
        if (!asked) space->put(std::unexpected(asked.error()));
        waits = true;
      } else {
        send_first(std::move(claim), size);
      }
    }
    if (!waits && input.ended) group.finish();
  }
  void go_on() {
    std::optional<tutti::Result<tutti::Claim>> come = space->take();
    if (!come) return;
    waits = false;
    const std::size_t size = input.text.find('\n');
    send_first(*come ? std::move(**come) : tutti::Claim(), size);
    send();
  }

 private:
  void send_first(tutti::Claim claim, std::size_t size) {
    if (claim) {
      std::memcpy(claim.data(), input.text.data(), size);
      group.commit(std::move(claim));
    } else {
      std::fprintf(stderr, "epoll: a line of %zu bytes cannot be sent\n", size);
    }
    input.text.erase(0, size + 1);
  }
};

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
  Lines lines{.group = group};
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [loop](int operation, int of, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.fd = of}};
    return ::epoll_ctl(loop, operation, of, &event) == 0;
  };
  if (!watch(EPOLL_CTL_ADD, readable, EPOLLIN) ||
      !watch(EPOLL_CTL_ADD, lines.space->descriptor(), EPOLLIN) ||
      !watch(EPOLL_CTL_ADD, STDIN_FILENO, EPOLLIN | EPOLLONESHOT)) {
    return {tutti::ErrorCode::system, std::string("cannot watch the input: ") +
                                          std::strerror(errno) +
                                          "; it must be a terminal, a pipe or a socket, no file"};
  }
  for (;;) {
    epoll_event event{};
    if (::epoll_wait(loop, &event, 1, -1) != 1) continue;
    if (event.data.fd == readable) {
      if (const auto taken = print_batch(group); !taken) return taken.error();
      continue;
    }
    if (event.data.fd == STDIN_FILENO) {
      lines.input.read_some();
      lines.send();
    } else {
      lines.go_on();
    }
    // While lines wait for space, none is read.
    if (!lines.waits && !lines.input.ended) {
      watch(EPOLL_CTL_MOD, STDIN_FILENO, EPOLLIN | EPOLLONESHOT);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: epoll NAME a=HOST:PORT,b=HOST:PORT,...\n");
    return 2;
  }
  auto node = tutti::Node::create({.name = argv[1],
                                   .members = members_from(argv[2]),
                                   .suspect_after = 20s});  // a busy host may hold one up
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
