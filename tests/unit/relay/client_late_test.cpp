// A C++ client whose relays do not know a topic yet: who gave up waiting for it is forgotten, and
// each connection asks again as if it were the first.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "client/core.hpp"
#include "relay/server.hpp"
#include "tutti/client.hpp"
#include "unit/relay/fake_group.hpp"

namespace tutti::relay::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kForEver = ~std::size_t{0};  // questions

// A client of a relay whose member knows topic "a", but for what a test says.
class ClientWaits : public ::testing::Test {
 protected:
  ClientWaits() {
    auto started = Server::start(*backend_, {.listen = "127.0.0.1:0"});
    EXPECT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
  }
  [[nodiscard]] client::Options options() const {
    return {.relays = {server_->address()}, .name = "test"};
  }

  FakeGroup group_{{"a"}, Service::stored};
  std::unique_ptr<Backend> backend_ = group_.member("m");
  std::unique_ptr<Server> server_{};
};

// The answer comes to those that wait, in the order in which they asked.
TEST_F(ClientWaits, WhoIsForgottenIsNotTold) {
  group_.hold(true);
  auto core = client::Core::start(options());
  ASSERT_TRUE(core) << core.error().message;
  auto used = std::make_shared<int>();
  const std::weak_ptr<int> still_used = used;
  std::atomic<bool> is_told = false;
  const auto asked =
      (*core)->find("a", [&is_told, used = std::move(used)](const auto&) { is_told = true; });
  ASSERT_TRUE(asked);
  (*core)->forget("a", *asked);
  std::promise<bool> told;
  ASSERT_TRUE((*core)->find("a", [&](const auto& topic) { told.set_value(topic.has_value()); }));
  group_.hold(false);
  EXPECT_TRUE(told.get_future().get());
  EXPECT_FALSE(is_told);
  EXPECT_TRUE(still_used.expired());
}

TEST_F(ClientWaits, OthersThatWaitForThatTopicAreTold) {
  group_.hold(true);
  auto core = client::Core::start(options());
  ASSERT_TRUE(core) << core.error().message;
  std::promise<bool> told;
  ASSERT_TRUE((*core)->find("a", [&](const auto& topic) { told.set_value(topic.has_value()); }));
  const auto other = (*core)->find("a", [](const auto&) { ADD_FAILURE() << "it was forgotten"; });
  ASSERT_TRUE(other);
  (*core)->forget("a", *other);
  (*core)->forget("a", *other);
  (*core)->forget("none", 1);
  group_.hold(false);
  EXPECT_TRUE(told.get_future().get());
}

// The relay answers all questions of a connection in their order: so once it has said which topics
// there are, none of those before is left. Sanitizers count nothing here.
TEST_F(ClientWaits, CallsThatTimedOutKeepNoMemory) {
  group_.know_later(kForEver);
  auto client = client::Client::create(options());
  ASSERT_TRUE(client) << client.error().message;
  const auto used_after = [&](int calls) {
    for (int i = 0; i < calls; ++i) {
      const auto found = client->topic("a", 0ns);
      EXPECT_FALSE(found);
      EXPECT_EQ(found.error().code, ErrorCode::timed_out);
    }
    EXPECT_TRUE(client->topics(30s));
    return ::mallinfo2().uordblks;
  };
  constexpr int kCalls = 5000;
  const std::size_t before = used_after(kCalls);
  EXPECT_LT(used_after(kCalls), before + 50 * kCalls);
}

// Welcomes every client, and answers each question for a topic by not_yet.
class NeverKnows {
 public:
  NeverKnows() : listens_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listens_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listens_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listens_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] { accept(); });
  }
  // The clients have ended.
  ~NeverKnows() {
    ::shutdown(listens_.get(), SHUT_RDWR);
    thread_.join();
    for (std::thread& one : connections_) one.join();
  }
  NeverKnows(const NeverKnows&) = delete;
  NeverKnows& operator=(const NeverKnows&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// The first connection of the client of that name ends behind so many answers.
  void hang_up_on(const std::string& name, std::size_t answers) {
    const std::scoped_lock lock(mutex_);
    hangs_up_[name] = answers;
  }
  /// Waits until that client has asked so often on that connection, of all of its own.
  void wait(const std::string& name, std::size_t connection, std::size_t questions) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked(name, connection) >= questions; });
  }
  [[nodiscard]] std::size_t questions(const std::string& name, std::size_t connection) {
    const std::scoped_lock lock(mutex_);
    return asked(name, connection);
  }

 private:
  // With the mutex.
  [[nodiscard]] std::size_t asked(const std::string& name, std::size_t connection) {
    const std::vector<std::size_t>& all = questions_[name];
    return connection < all.size() ? all[connection] : 0;
  }
  void accept() {
    for (;;) {
      UniqueFd next(::accept4(listens_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!next) return;
      connections_.emplace_back([this, fd = std::move(next)] { serve(fd.get()); });
    }
  }
  void serve(int fd) {
    FrameReader reader(1U << 20);
    std::string name;
    std::size_t connection = 0;
    for (;;) {
      auto frame = reader.next();
      if (!frame) return;
      if (!*frame) {
        std::byte bytes[4096];
        const ssize_t size = ::recv(fd, bytes, sizeof bytes, 0);
        if (size <= 0) return;
        reader.append(std::span(bytes).first(static_cast<std::size_t>(size)));
      } else if (const auto* const hello = std::get_if<Hello>(&**frame)) {
        const std::scoped_lock lock(mutex_);
        name = hello->name;
        connection = questions_[name].size();
        questions_[name].push_back(0);
        say(fd, Welcome{.relay = "r",
                        .frame_bytes_max = 1U << 20,
                        .unanswered_max = 64,
                        .idle_ms = 60'000});
      } else if (const auto* const find = std::get_if<Find>(&**frame)) {
        say(fd, Refused{Code::not_yet, kind_of<Find>(), find->request, "ask again"});
        const std::scoped_lock lock(mutex_);
        const std::size_t count = ++questions_[name][connection];
        changed_.notify_all();
        if (connection == 0 && count == hangs_up_[name]) {
          ::shutdown(fd, SHUT_RDWR);
          return;
        }
      }
    }
  }
  static void say(int fd, const Frame& frame) {
    std::vector<std::byte> bytes;
    encode(frame, bytes);
    static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  UniqueFd listens_;
  std::string address_{};
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::map<std::string, std::vector<std::size_t>> questions_{};  // by client and connection
  std::map<std::string, std::size_t> hangs_up_{};
  std::vector<std::thread> connections_{};
  std::thread thread_{};
};

// A client that has asked seven times waits for 1.28 s when its connection ends. On the next one it
// asks again soon: before a client that came later has asked six times, which takes 0.62 s.
TEST(ClientPauses, BeginAnewOnEachConnection) {
  constexpr std::size_t kSlow = 7;
  NeverKnows relay;
  relay.hang_up_on("slow", kSlow);
  const auto start = [&](const std::string& name) {
    auto core = client::Core::start({.relays = {relay.address()}, .name = name});
    EXPECT_TRUE(core) << core.error().message;
    EXPECT_TRUE((*core)->find("t", [](const auto&) {}));
    return *core;
  };
  const auto slow = start("slow");
  relay.wait("slow", 1, 1);
  EXPECT_EQ(relay.questions("slow", 0), kSlow);
  const auto other = start("other");
  relay.wait("other", 0, 6);
  EXPECT_GE(relay.questions("slow", 1), 2U);
  slow->stop();
  other->stop();
}

}  // namespace
}  // namespace tutti::relay::testing
