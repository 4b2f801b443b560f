// Where the system gives no thread, a start says so, and nothing stays behind.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "support/loopback.hpp"
#include "unit/api/cluster.hpp"

namespace {
std::atomic<int> threads_left{-1};  // so many are given yet; negative: any
}  // namespace

// Stands before the system's: the n-th thread of this program is refused.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attr,
                              void* (*start_routine)(void*), void* arg) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left.load() >= 0 && threads_left.fetch_sub(1) == 0) return EAGAIN;
  return real(thread, attr, start_routine, arg);
}

namespace tutti {
namespace {

using ::testing::HasSubstr;

// A group of one. The threads: state, bootstrap, stand-in, predicate, delivery.
Result<void> start_with_threads(int threads, std::atomic<int>& views) {
  GroupOptions group{.name = "g", .delivery = DeliveryThread::own, .stateful = true};
  group.save_state = [](const StateSink&) { return Result<void>(); };
  group.load_state = [](const StatePiece&) { return Result<void>(); };
  NodeOptions options;
  options.name = "a";
  options.members = loopback_members(1);
  options.on_view = [&views](const ViewChange&) { ++views; };
  Result<Node> node = Node::create(options);
  if (!node) return std::unexpected(node.error());
  if (Result<Group> joined = node->join(group); !joined) return std::unexpected(joined.error());
  threads_left = threads;
  Result<void> started = node->start();
  threads_left = -1;
  return started;
}

TEST(Threads, AStartSaysThatItGotNone) {
  int refused = 0;
  std::string messages;
  for (;; ++refused) {
    ASSERT_LT(refused, 20);
    std::atomic<int> views{0};
    const Result<void> started = start_with_threads(refused, views);
    if (started) break;
    EXPECT_EQ(views, 0) << "nothing is told after a failure";
    EXPECT_EQ(started.error().code, ErrorCode::system) << started.error().message;
    messages += started.error().message + "\n";
  }
  EXPECT_EQ(refused, 5);
  for (const char* thread :
       {"the thread for states", "the thread that meets the other members", "its stand-in thread",
        "its predicate thread", "the delivery thread of group 'g'"}) {
    EXPECT_THAT(messages, HasSubstr(thread));
  }
}

}  // namespace
}  // namespace tutti
