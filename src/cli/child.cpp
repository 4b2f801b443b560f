#include "cli/child.hpp"

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "cli/poll_until.hpp"

namespace tutti::cli {
namespace {

// Below those that the kernel gives to who asks for any, as connections and libfabric do: one of
// those may be gone before the member listens that it was meant for.
constexpr std::uint16_t kFirstPort = 10000;
constexpr std::uint32_t kPorts = 11000;

std::unexpected<Error> fail_with_errno(const std::string& what) {
  return fail(ErrorCode::system, what + ": " + std::strerror(errno));
}

/// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const char* file, char** arguments, const ChildStreams& streams,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);   // CH1
  if (getppid() != parent) _exit(1);  // it died before the line above
  const bool connected = (streams.input < 0 || dup2(streams.input, STDIN_FILENO) >= 0) &&
                         (streams.output < 0 || dup2(streams.output, STDOUT_FILENO) >= 0) &&
                         (streams.error < 0 || dup2(streams.error, STDERR_FILENO) >= 0);
  if (connected) execvp(file, arguments);
  std::perror("tutti: cannot start a member process");
  _exit(127);
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& arguments, const ChildStreams& streams) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "tutti");
  return fork_and_exec("/proc/self/exe", std::move(words), streams);
}

Result<Child> Child::start_other(const std::vector<std::string>& words,
                                 const ChildStreams& streams) {
  return fork_and_exec(words.front().c_str(), words, streams);
}

Result<Child> Child::fork_and_exec(const char* file, std::vector<std::string> words,
                                   const ChildStreams& streams) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return fail_with_errno("cannot start a member process");
  if (pid == 0) become(file, pointers.data(), streams, parent);
  // By number: the pidfd_open of glibc 2.36 is declared for C only.
  Child child(pid, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
  if (!child.end_) return fail_with_errno("cannot watch a member process");
  return child;
}

bool Child::running() {
  if (pid_ < 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  status_ = status;
  pid_ = -1;
  return false;
}

std::string Child::ending() const {
  if (!status_) return "was not started";
  if (WIFSIGNALED(*status_)) {
    const int number = WTERMSIG(*status_);
    return "was killed by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(*status_));
}

std::optional<int> Child::exit_status() const {
  if (!status_ || !WIFEXITED(*status_)) return {};
  return WEXITSTATUS(*status_);
}

bool Child::killed_by_signal() const { return status_ && WIFSIGNALED(*status_); }

void Child::wait_for_an_end(std::span<const Child* const> children, std::int64_t deadline_ns) {
  std::vector<pollfd> ends;
  ends.reserve(children.size());
  for (const Child* child : children) {
    if (child->pid_ >= 0) ends.push_back({.fd = child->end_.get(), .events = POLLIN, .revents = 0});
  }
  if (!ends.empty()) poll_until(ends, deadline_ns);
}

void Child::kill() {
  if (pid_ < 0) return;
  int status = 0;
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  pid_ = -1;
}

Result<std::vector<int>> free_loopback_ports(std::size_t count) {
  std::vector<UniqueFd> sockets;  // all open until the end, so that no port comes twice
  std::vector<int> ports;
  // Processes that do this at the same time begin in different places.
  const auto first = static_cast<std::uint32_t>(::getpid()) * 64;
  for (std::uint32_t tried = 0; ports.size() < count && tried < kPorts; ++tried) {
    UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!socket) return fail_with_errno("cannot find a free port on 127.0.0.1");
    const auto port = static_cast<std::uint16_t>(kFirstPort + (first + tried) % kPorts);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      continue;
    }
    ports.push_back(port);
    sockets.push_back(std::move(socket));
  }
  if (ports.size() == count) return ports;
  return fail(ErrorCode::system, "cannot find free ports on 127.0.0.1: none is left of " +
                                     std::to_string(kFirstPort) + " to " +
                                     std::to_string(kFirstPort + kPorts - 1));
}

}  // namespace tutti::cli
