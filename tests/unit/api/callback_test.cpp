/// \file callback_test.cpp
/// What is called, or thrown, inside a callback: calls that wait are refused with the place where
/// they were made, a node that is destroyed there ends afterwards, what is thrown fails the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "callback_nodes.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// What the calls that wait say, one after the other.
std::vector<Error> errors_of_calls(CallbackNode& node) {
  std::vector<Error> errors;
  const auto note = [&](const Result<void>& result) {
    errors.push_back(result ? Error{ErrorCode::invalid_argument, "it was done"} : result.error());
  };
  note(node.node().start());
  note(node.node().stop(kPatience));
  note(node.node().leave(kPatience));
  note(node.group().wait(Ticket{1'000'000}, kPatience));
  note(node.group(1).wait_complete(kPatience));
  // What an earlier callback claimed and gave up may free space at any moment, until all of the
  // window is held here.
  std::vector<Claim> claims;
  Result<Claim> claim = node.group().claim(1, kPatience);
  for (; claim; claim = node.group().claim(1, kPatience)) claims.push_back(std::move(*claim));
  note(std::unexpected(claim.error()));
  return errors;
}

// Before the first view there is no window that could be full: the last of them is told so.
void expect_refused(const std::vector<Error>& errors, const std::string& callback,
                    std::size_t refused = 6) {
  ASSERT_EQ(errors.size(), 6);
  constexpr std::array kCalls = {"Node::start",          "Node::stop",
                                 "Node::leave",          "Group::wait was",
                                 "Group::wait_complete", "a claim that has to wait"};
  for (std::size_t call = 0; call < refused; ++call) {
    EXPECT_EQ(errors[call].code, ErrorCode::in_callback) << errors[call].message;
    EXPECT_THAT(errors[call].message,
                AllOf(HasSubstr(kCalls[call]), HasSubstr("inside " + callback + " of node '")));
  }
}

class Callback : public ::testing::TestWithParam<Threads> {
 protected:
  // One of those that found the group, which are all but the third if the test says so.
  [[nodiscard]] std::unique_ptr<CallbackNode> node(std::size_t member, Hooks hooks) const {
    return std::make_unique<CallbackNode>(members_, member, founders_,
                                          member == 0 ? GetParam() : Threads{}, std::move(hooks));
  }
  // What the others send is heard by a node that goes on.
  static void expect_goes_on(CallbackNode& node, CallbackNode& sender) {
    const std::size_t before = node.delivered();
    const Result<Ticket> sent = sender.group().send("more", kPatience);
    ASSERT_TRUE(sent) << sent.error().message;
    EXPECT_TRUE(until([&] { return node.delivered() > before; }));
  }
  static void expect_view(CallbackNode& node, const std::vector<std::string>& members) {
    EXPECT_TRUE(until([&] { return node.node().view().members == members; }))
        << ::testing::PrintToString(node.node().view().members)
        << node.node().failure().value_or(Error{}).message;
  }

  const std::vector<MemberAddress> members_ = loopback_members(3);
  std::uint32_t founders_ = 3;
};

INSTANTIATE_TEST_SUITE_P(On, Callback,
                         ::testing::Values(Threads{Drive::own_thread, DeliveryThread::predicate},
                                           Threads{Drive::own_thread, DeliveryThread::own},
                                           Threads{Drive::caller, DeliveryThread::predicate},
                                           Threads{Drive::caller, DeliveryThread::own}),
                         [](const auto& threads) {
                           return std::string(threads.param.drive == Drive::caller ? "Poll"
                                                                                   : "OwnThread") +
                                  (threads.param.delivery == DeliveryThread::own ? "DeliveryApart"
                                                                                 : "");
                         });

TEST_P(Callback, OfADeliveryIsRefusedCallsThatWait) {
  founders_ = 2;
  std::unique_ptr<CallbackNode> a;
  std::vector<Error> errors;
  std::atomic<bool> done{false};
  a = node(0, {.in_delivery = [&] {
             if (done) return;
             errors = errors_of_calls(*a);
             EXPECT_EQ(a->node().poll(), 0);
             a->node().wait(1ms);
             done = true;
           }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  ASSERT_TRUE(b->group().send("x", kPatience));
  ASSERT_TRUE(until([&] { return done.load(); }));
  expect_refused(errors, "the delivery callback of group 'log'");
  if (GetParam().drive == Drive::caller) {
    EXPECT_TRUE(until([&] {
      const std::vector<std::string> logged = a->logged();
      return std::ranges::any_of(logged, [](const std::string& line) {
        return line.starts_with("Node::poll was called inside the delivery");
      });
    }));
  }
  expect_goes_on(*a, *b);
  expect_goes_on(*b, *a);
  stop_all({a.get(), b.get()});
}

TEST_P(Callback, OfADeliveryMayDoWhatDoesNotWait) {
  founders_ = 2;
  std::unique_ptr<CallbackNode> a;
  std::atomic<bool> done{false};
  a = node(0, {.in_delivery = [&] {
             if (done) return;
             const Result<Ticket> sent = a->group().send("y", kPatience);
             EXPECT_TRUE(sent) << sent.error().message;
             EXPECT_EQ(a->group().wait(*sent, 0ns).error().code, ErrorCode::timed_out);
             EXPECT_EQ(a->node().view().view, 1);
             EXPECT_FALSE(a->node().failure());
             done = true;
           }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  ASSERT_TRUE(b->group().send("x", kPatience));
  EXPECT_TRUE(until([&] { return a->delivered() == 2 && b->delivered() == 2; }));
  EXPECT_TRUE(a->group().wait(Ticket{1}, kPatience)) << "outside, it is waited for";
  stop_all({a.get(), b.get()});
}

TEST_P(Callback, MayUseAnotherNode) {
  founders_ = 2;
  const std::vector<MemberAddress> alone = loopback_members(1);
  CallbackNode other(alone, 0, 0, GetParam(), {});
  ASSERT_TRUE(other.start());
  std::atomic<bool> done{false};
  const auto a = node(0, {.in_delivery = [&] {
                        if (done) return;
                        const Result<Ticket> sent = other.group().send("x", kPatience);
                        ASSERT_TRUE(sent) << sent.error().message;
                        if (GetParam().drive == Drive::own_thread) {
                          EXPECT_TRUE(other.group().wait(*sent, kPatience));
                        }
                        const Result<void> stopped = other.stop();
                        EXPECT_TRUE(stopped) << stopped.error().message;
                        other.destroy();
                        EXPECT_TRUE(other.is_gone());
                        done = true;
                      }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  ASSERT_TRUE(b->group().send("x", kPatience));
  EXPECT_TRUE(until([&] { return done.load(); }));
  stop_all({a.get(), b.get()});
}

TEST_P(Callback, OfAViewAStateOrTheLogIsRefusedCallsThatWait) {
  founders_ = 2;
  std::mutex mutex;
  std::array<std::vector<Error>, 4> errors;
  const auto keep = [&](std::size_t which, std::vector<Error> of_calls) {
    const std::lock_guard lock(mutex);
    errors.at(which) = std::move(of_calls);
  };
  std::unique_ptr<CallbackNode> a;
  std::unique_ptr<CallbackNode> c;
  a = node(0, {.in_view =
                   [&](const ViewChange& view) {
                     if (view.view == 1) keep(0, errors_of_calls(*a));
                   },
               .in_save = [&] { keep(1, errors_of_calls(*a)); },
               .in_log =
                   [&](std::string_view text) {
                     if (text.find("was committed here") == std::string_view::npos) return;
                     keep(2, errors_of_calls(*a));
                   }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  c = std::make_unique<CallbackNode>(members_, 2, 2, GetParam(),
                                     Hooks{.in_load = [&] { keep(3, errors_of_calls(*c)); }});
  start_all({c.get()});
  a->group().commit(a->group(1).try_claim(1));  // is told in the log
  const auto kept_of_log = [&] {
    const std::lock_guard lock(mutex);
    return !errors[2].empty();
  };
  ASSERT_TRUE(until(kept_of_log));
  const auto kept = [&] {
    const std::lock_guard lock(mutex);
    return errors;
  }();
  expect_refused(kept[0], "the view callback");
  expect_refused(kept[1], "save_state of group 'log'");
  expect_refused(kept[2], "the log callback");
  expect_refused(kept[3], "load_state of group 'log'", 5);
  expect_goes_on(*c, *a);
  stop_all({a.get(), b.get(), c.get()});
}

// Both of what a snapshot is taken with: what the callback returns is called like it.
TEST_P(Callback, WaitsForNothingWhereASnapshotIsRead) {
  founders_ = 2;
  std::vector<std::vector<Error>> errors;
  std::unique_ptr<CallbackNode> a;
  a = node(0, {.in_read = [&] { errors.push_back(errors_of_calls(*a)); }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  const auto c = node(2, {});
  start_all({c.get()});
  expect_goes_on(*c, *a);
  stop_all({a.get(), b.get(), c.get()});
  ASSERT_FALSE(errors.empty());
  for (const auto& refused : errors) expect_refused(refused, "snapshot of group 'log'");
}

// It runs on a thread that the end of the node waits for.
TEST_P(Callback, OfAStateMayDestroyItsNodeWhichThenEnds) {
  founders_ = 2;
  std::unique_ptr<CallbackNode> a;
  a = node(0, {.in_save = [&] {
             a->destroy();
             EXPECT_FALSE(a->is_gone()) << "this callback runs";
           }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  const auto c = node(2, {});
  start_all({c.get()});
  EXPECT_TRUE(until([&] { return a->is_gone(); }));
  expect_view(*c, {"b", "c"});
  expect_goes_on(*c, *b);
  stop_all({b.get(), c.get()});
}

TEST_P(Callback, MayDestroyItsNodeWhichThenEnds) {
  std::unique_ptr<CallbackNode> a;
  std::atomic<bool> done{false};
  std::size_t delivered = 0;
  a = node(0, {.in_delivery = [&] {
             EXPECT_FALSE(done.exchange(true)) << "nothing more is delivered";
             a->destroy();
             EXPECT_FALSE(a->is_gone()) << "this callback runs";
             delivered = a->delivered();
           }});
  const auto b = node(1, {});
  const auto c = node(2, {});
  start_all({a.get(), b.get(), c.get()});
  ASSERT_TRUE(b->group().send("x", kPatience));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(c->group().send("y", kPatience));
  ASSERT_TRUE(until([&] { return a->is_gone(); }));
  EXPECT_EQ(a->delivered(), delivered);
  EXPECT_THAT(a->logged(),
              Contains(HasSubstr("node 'a' was destroyed inside the delivery callback of group "
                                 "'log'")));
  expect_view(*b, {"b", "c"});
  expect_goes_on(*c, *b);
  stop_all({b.get(), c.get()});
}

TEST_P(Callback, OfAViewOrTheLogMayDestroyItsNode) {
  for (const bool in_log : {false, true}) {
    SCOPED_TRACE(in_log);
    std::unique_ptr<CallbackNode> a;
    a = node(0, {.in_view =
                     [&](const ViewChange& view) {
                       if (!in_log && view.view == 2) a->destroy();
                     },
                 .in_log =
                     [&](std::string_view text) {
                       if (in_log && text.find(" lost") != std::string_view::npos) a->destroy();
                     }});
    const auto b = node(1, {});
    const auto c = node(2, {});
    start_all({a.get(), b.get(), c.get()});
    c->destroy();
    // What b says of c may be in force before a has lost c itself: then a loses the majority only.
    if (in_log) b->destroy();
    EXPECT_TRUE(until([&] { return a->is_gone(); }));
  }
}

// The call of start() that waits for the state ends with the node.
TEST_P(Callback, OfALoadMayDestroyItsNodeThatStarts) {
  founders_ = 2;
  const auto a = node(0, {});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  std::unique_ptr<CallbackNode> c;
  c = std::make_unique<CallbackNode>(members_, 2, 2, GetParam(), Hooks{.in_load = [&] {
                                       c->destroy();
                                       // The end of the node begins meanwhile, on two threads.
                                       const auto over = std::chrono::steady_clock::now() + 300ms;
                                       while (std::chrono::steady_clock::now() < over)
                                         std::this_thread::yield();
                                     }});
  const Result<void> started = c->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("was destroyed inside load_state"));
  EXPECT_TRUE(until([&] { return c->is_gone(); }));
  expect_view(*a, {"a", "b"});
  expect_goes_on(*a, *b);
  stop_all({a.get(), b.get()});
}

TEST_P(Callback, OfADeliveryThatThrowsFailsItsNode) {
  const auto a = node(0, {.in_delivery = [] { throw std::runtime_error("no more paper"); }});
  const auto b = node(1, {});
  const auto c = node(2, {});
  start_all({a.get(), b.get(), c.get()});
  const Result<Ticket> sent = a->group().send("x", kPatience);
  ASSERT_TRUE(sent);
  const Result<void> waited = a->group().wait(*sent, kPatience);
  ASSERT_FALSE(waited) << "its delivery failed";
  EXPECT_THAT(waited.error().message,
              AllOf(HasSubstr("the delivery callback of group 'log' of node 'a'"),
                    HasSubstr("it threw: no more paper")));
  ASSERT_TRUE(a->node().failure());
  EXPECT_EQ(a->node().failure()->message, waited.error().message);
  EXPECT_TRUE(until([&] {
    const std::vector<std::string> logged = a->logged();
    return std::ranges::find(logged, waited.error().message) != logged.end();
  }));
  EXPECT_FALSE(a->group(1).send("x", 1ms)) << "the whole node has failed";
  expect_view(*b, {"b", "c"});
  expect_goes_on(*c, *b);
  EXPECT_EQ(a->delivered(), 1) << "nothing more";
  EXPECT_EQ(a->group().statistics().delivered_messages, 0);
  EXPECT_EQ(a->stop().error().message, waited.error().message);
  stop_all({b.get(), c.get()});
}

TEST_P(Callback, OfAViewThatThrowsFailsItsNode) {
  const auto a = node(0, {.in_view = [](const ViewChange& view) {
                        if (view.view == 2) throw 7;  // NOLINT(*-throw-by-value*)
                      }});
  const auto b = node(1, {});
  const auto c = node(2, {});
  start_all({a.get(), b.get(), c.get()});
  c->destroy();
  ASSERT_TRUE(until([&] { return a->node().failure().has_value(); }));
  EXPECT_THAT(a->node().failure()->message,
              AllOf(HasSubstr("the view callback of node 'a'"), HasSubstr("no std::exception")));
  EXPECT_TRUE(until([&] { return b->node().failure().has_value(); })) << "the majority is lost";
}

TEST_P(Callback, OfTheFirstViewThatThrowsFailsTheStart) {
  CallbackNode a(loopback_members(1), 0, 0, GetParam(),
                 {.in_view = [](const ViewChange&) { throw std::runtime_error("no more paper"); }});
  const Result<void> started = a.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("the view callback of node 'a'"));
}

TEST_P(Callback, OfTheLogThatThrowsFailsItsNodeAndIsNotCalledAgain) {
  founders_ = 2;
  std::atomic<int> called{0};
  const auto a = node(0, {.in_log = [&](std::string_view text) {
                        if (text.find("was committed here") == std::string_view::npos) return;
                        ++called;
                        throw std::runtime_error("no more paper");
                      }});
  const auto b = node(1, {});
  start_all({a.get(), b.get()});
  a->group().commit(a->group(1).try_claim(1));
  ASSERT_TRUE(until([&] { return a->node().failure().has_value(); }));
  EXPECT_THAT(a->node().failure()->message, HasSubstr("the log callback of node 'a'"));
  a->group().commit(a->group(1).try_claim(1));
  a->destroy();  // what was said is written
  EXPECT_EQ(called, 1);
  EXPECT_THAT(a->logged(), Not(Contains(HasSubstr("the log callback"))));
}

}  // namespace
}  // namespace tutti
