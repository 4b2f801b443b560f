#include "clients/load.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "client/machine.hpp"
#include "clients/member.hpp"
#include "relay/codec.hpp"

namespace tutti::perf {
namespace {

constexpr std::uint32_t kCredit = 4096;
constexpr std::uint32_t kFrameMax = 17U << 20;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "clients: %s\n", what.c_str());
  std::_Exit(1);
}

UniqueFd connect_to(const std::string& relay) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::size_t colon = relay.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(relay.c_str() + colon + 1)));
  ::inet_pton(AF_INET, relay.substr(0, colon).c_str(), &to.sin_addr);
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    fail("cannot connect to " + relay + "; is ulimit -n too low?");
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace

class LoadClient final : public client::MachineEvents {
 public:
  LoadClient(const std::string& relay, std::size_t number, bool subscribes, LoadCounts& counts)
      : fd_(connect_to(relay)), subscribes_(subscribes), counts_(counts), nonces_(number << 32U) {
    machine_.emplace(
        client::Machine::Identity{.high = number + 1, .low = 1, .name = "load"},
        [this] { return ++nonces_; }, *this);
    machine_->connected();
    machine_->find(kTopic);
    flush();
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] client::Machine& machine() { return *machine_; }
  [[nodiscard]] bool is_ready() const { return knows_; }

  void read() {
    static std::array<std::byte, 262'144> received;
    const ssize_t size = ::recv(fd_.get(), received.data(), received.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) fail("the relay has closed a connection");
    reader_.append(std::span(received).first(static_cast<std::size_t>(size)));
    for (;;) {
      const auto frame = reader_.next();
      if (!frame) fail(frame.error().message);
      if (!*frame) return;
      machine_->receive(**frame);
    }
  }

  void flush() {
    std::vector<std::byte>& output = machine_->output();
    if (output.empty()) return;
    const ssize_t sent =
        ::send(fd_.get(), output.data(), output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) fail("a connection has ended");
    if (sent > 0) output.erase(output.begin(), output.begin() + sent);
  }

 private:
  void on_welcome(const relay::Welcome&) override {}
  void on_topic(const std::string&, const Result<relay::TopicInfo>& topic) override {
    if (!topic) fail(topic.error().message);
    knows_ = true;
    if (subscribes_) machine_->subscribe(1, kTopic, relay::From::now, 0, 0, kCredit);
  }
  void on_topics(std::uint32_t, const std::vector<relay::TopicInfo>&, bool) override {}
  void on_answer(std::uint64_t, const client::Answer& answer) override {
    if (answer.status != relay::Status::delivered) fail("a sample was not delivered");
    ++counts_.answered;
  }
  void on_sample(std::uint32_t, const relay::Sample&) override {
    ++counts_.received;
    machine_->consumed(1, 1);
  }
  void on_gap(std::uint32_t, std::uint64_t, std::uint64_t) override { ++counts_.missed; }
  void on_ended(std::uint32_t, const std::string& why) override { fail(why); }
  void on_bye(relay::Code, const std::string& text) override { fail(text); }
  void on_found(const std::string&, const relay::TopicInfo&) override {}
  void on_no_session(const std::string& why) override { fail(why); }

  UniqueFd fd_;
  const bool subscribes_;
  LoadCounts& counts_;
  std::uint64_t nonces_;
  bool knows_ = false;
  relay::FrameReader reader_{kFrameMax};
  std::optional<client::Machine> machine_{};
};

Load::Load(const LoadOptions& options)
    : options_(options), epoll_(::epoll_create1(EPOLL_CLOEXEC)), sample_(options.bytes) {
  for (std::size_t i = 0; i < options_.clients; ++i) {
    clients_.push_back(
        std::make_unique<LoadClient>(options_.relay, i, i < options_.subscribers, counts_));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = clients_.back().get()}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, clients_.back()->fd(), &event) != 0) {
      fail("epoll_ctl");
    }
  }
  for (const auto& client : clients_) {
    while (!client->is_ready()) turn(10);
  }
}

Load::~Load() = default;

LoadCounts Load::run(std::chrono::duration<double> time) {
  const LoadCounts before = counts_;
  const auto begin = std::chrono::steady_clock::now();
  published_ = 0;
  while (std::chrono::steady_clock::now() - begin < time) {
    publish(begin);
    turn(1);
  }
  return {counts_.answered - before.answered, counts_.received - before.received,
          counts_.missed - before.missed};
}

void Load::turn(int timeout_ms) {
  std::array<epoll_event, 256> events{};
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    static_cast<LoadClient*>(events[static_cast<std::size_t>(i)].data.ptr)->read();
  }
  for (const auto& client : clients_) client->flush();
}

// As many as are due by the rate, by each client in its turn.
void Load::publish(std::chrono::steady_clock::time_point begin) {
  if (options_.per_second == 0) {
    for (const auto& client : clients_) {
      while (client->machine().unanswered() < client::kUnansweredMax) publish_at(*client);
    }
    return;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const auto due =
      static_cast<std::uint64_t>(passed.count() * static_cast<double>(options_.per_second));
  for (std::size_t idle = 0; published_ < due && idle < clients_.size(); ++idle) {
    LoadClient& client = *clients_[next_++ % clients_.size()];
    if (client.machine().unanswered() >= client::kUnansweredMax) continue;
    idle = 0;
    ++published_;
    publish_at(client);
  }
}

void Load::publish_at(LoadClient& client) { client.machine().publish(kTopic, 1, 0, sample_); }

}  // namespace tutti::perf
