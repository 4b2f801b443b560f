/// \file bad_peers_test.cpp
/// Contacts that do not answer, and nodes that do not belong together: each start that fails says
/// with whom, in what and what to do; a group that runs goes on as if nobody had come.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <thread>

#include "base/unique_fd.hpp"
#include "cluster.hpp"
#include "fabric/address.hpp"
#include "node/bootstrap/bootstrap.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/carriers.hpp"
#include "node/group_rules.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Takes connections at an address and says the same to each, then nothing.
class Stranger {
 public:
  explicit Stranger(const std::string& address, std::string says = {})
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), says_(std::move(says)) {
    const Address parts = address_from(address).value();
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(parts.port);
    EXPECT_EQ(::inet_pton(AF_INET, parts.host.c_str(), &here.sin_addr), 1);
    const int on = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
    EXPECT_EQ(::listen(listener_.get(), 64), 0);
    thread_ = std::thread([this] {
      std::vector<UniqueFd> callers;
      for (;;) {
        UniqueFd caller(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!caller) return;  // shut down
        static_cast<void>(::send(caller.get(), says_.data(), says_.size(), MSG_NOSIGNAL));
        callers.push_back(std::move(caller));
        ++calls_;
      }
    });
  }
  ~Stranger() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  UniqueFd listener_;
  const std::string says_;
  std::atomic<int> calls_{0};
  std::thread thread_;
};

/// What comes of the start of a node with these options and group.
Error failed_start(NodeOptions options, const GroupOptions& group) {
  Result<Node> node = Node::create(std::move(options));
  EXPECT_TRUE(node) << node.error().message;
  EXPECT_TRUE(node->join(group));
  const Result<void> started = node->start();
  EXPECT_FALSE(started);
  return started ? Error{} : started.error();
}

TEST(Contacts, WhereNobodyListensAreNamed) {
  const std::vector<MemberAddress> members = loopback_members(3);
  const Error error =
      failed_start({.name = "b", .members = members, .start_timeout = 3s}, small_group());
  EXPECT_EQ(error.code, ErrorCode::unreachable);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("start_timeout of 3.000 s is over; still waiting for a (" +
                              members[0].address + ": connection refused at "),
                    HasSubstr("c (" + members[2].address + ": it never connected to us)"),
                    HasSubstr("start the missing members, or check their addresses")));
}

TEST(Contacts, ThatAreMuteAreNamed) {
  const std::vector<MemberAddress> members = loopback_members(2);
  const Stranger mute(members[0].address);
  const Error error =
      failed_start({.name = "b", .members = members, .start_timeout = 500ms}, small_group());
  EXPECT_EQ(error.code, ErrorCode::unreachable);
  EXPECT_THAT(error.message, AllOf(HasSubstr("start_timeout of 0.500 s is over"),
                                   HasSubstr("a (" + members[0].address + ": no answer yet)")));
}

TEST(Contacts, ThatAreMuteKeepNobodyElseFromAGroup) {
  std::vector<MemberAddress> members;
  TestCluster cluster({.groups = {small_group()}, .founders = 2},
                      [&](std::size_t, NodeOptions& node) { members = node.members; });
  {
    const Stranger mute(members[0].address);
    cluster.start({1, 2});
    EXPECT_TRUE(until([&] { return mute.calls() >= 1; }));
    cluster.talk({1, 2});
    ASSERT_TRUE(cluster.hear_more({1, 2}));
  }
  cluster.start({0});  // in the place of the mute one
  cluster.talk(0);
  ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
  ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
  for (const Result<void>& stopped : cluster.stop()) EXPECT_TRUE(stopped);
  cluster.expect_one_story();
}

TEST(Contacts, OfAnotherProtocolVersionEndTheStart) {
  const std::vector<MemberAddress> members = loopback_members(2);
  const Stranger other(members[0].address, hello_prefix(kProtocolVersion + 1, 100));
  const Error error =
      failed_start({.name = "b", .members = members, .start_timeout = kPatience}, small_group());
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("a (" + members[0].address + "): protocol version is " +
                              std::to_string(kProtocolVersion + 1) + " there but "),
                    HasSubstr("start all members with the same release")));
}

TEST(GroupNames, AreUniqueInTheNode) {
  TestCluster cluster({.members = 1});
  const Result<Group> again = cluster.node(0).join({.name = "log"});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(again.error().message, HasSubstr("group 'log': name is taken"));
  cluster.start();
  EXPECT_TRUE(cluster.group(0).send("still good", kPatience));
  for (const Result<void>& stopped : cluster.stop()) EXPECT_TRUE(stopped);
  EXPECT_EQ(cluster.deliveries(0), Deliveries{"0 0 still good"});
}

/// a and b run; c, the third of their list, is not there.
class AGroupThatRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster.start({0, 1});
    cluster.talk({0, 1});
    ASSERT_TRUE(cluster.hear_more({0, 1}));
  }

  // Whoever came, it was as if nobody had; and c, as it should be, can still come.
  void expect_undisturbed() {
    ASSERT_TRUE(cluster.hear_more({0, 1}));
    EXPECT_EQ(cluster.node(0).view().view, 1);
    cluster.start({2});
    cluster.talk(2);
    ASSERT_TRUE(until([&] { return cluster.are_in_view_of({0, 1, 2}); }));
    ASSERT_TRUE(cluster.hear_more({0, 1, 2}));
    for (const Result<void>& stopped : cluster.stop()) EXPECT_TRUE(stopped);
    cluster.expect_one_story();
  }

  std::vector<MemberAddress> members;
  TestCluster cluster{{.groups = {small_group()}, .founders = 2},
                      [this](std::size_t, NodeOptions& node) { members = node.members; }};
};

TEST_F(AGroupThatRuns, DoesNotTakeAMemberWithOtherOptions) {
  GroupOptions group = small_group();
  group.message_max_bytes = 99;
  const Error error = failed_start(
      {.name = "c", .members = members, .start_timeout = kPatience, .founders = 2}, group);
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("group 'log': message_max_bytes is 99 at c but 256 at "),
                    HasSubstr("it must be the same at all members"),
                    HasSubstr("runs already and goes on without c")));
  expect_undisturbed();
}

// It says all that c would say until it is connected, and nothing after that.
TEST_F(AGroupThatRuns, IsKeptFromNobodyByACallerInTheirName) {
  NodeOptions node{.name = "c", .members = members, .fabric = FabricChoice::shm, .founders = 2};
  const std::vector<GroupOptions> groups{resolve_group(node, small_group())};
  const Segment row = Segment::create(std::size_t{1} << 24).value();
  const UniqueFd doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto carriers =
      make_carriers({.node = node, .self = 2, .own_row = row, .doorbell_fd = doorbell.get()});
  std::vector<Arrival> silent;
  {
    const auto bootstrap = Bootstrap::open({.node = node,
                                            .groups = groups,
                                            .carriers = carriers,
                                            .own_row_bytes = row.size(),
                                            .incarnation = 7,
                                            .wake = [] {}});
    ASSERT_TRUE(bootstrap) << bootstrap.error().message;
    ASSERT_TRUE(until([&] {
      for (Arrival& arrival : (*bootstrap)->take_arrivals()) silent.push_back(std::move(arrival));
      return silent.size() == 2;
    }));
  }
  expect_undisturbed();
}

TEST_F(AGroupThatRuns, DoesNotTakeAMemberOfAnotherGroup) {
  GroupOptions group = small_group();
  group.name = "other";
  const Error error = failed_start(
      {.name = "c", .members = members, .start_timeout = kPatience, .founders = 2}, group);
  EXPECT_EQ(error.code, ErrorCode::mismatch);
  EXPECT_THAT(error.message, AllOf(HasSubstr("group '"), HasSubstr("has not joined it"),
                                   HasSubstr("goes on without c")));
  expect_undisturbed();
}

// Their list has the address of a by mistake, under another name.
TEST_F(AGroupThatRuns, DoesNotTakeMembersOfAnotherCluster) {
  std::vector<MemberAddress> others = loopback_members(3);
  others[0] = {"x", members[0].address};
  others[1].name = "y";
  others[2].name = "z";
  const auto expect_refused = [&](const std::string& name) {
    const Error error =
        failed_start({.name = name, .members = others, .start_timeout = kPatience}, small_group());
    EXPECT_EQ(error.code, ErrorCode::mismatch);
    EXPECT_THAT(error.message, AllOf(HasSubstr("wrong peer"), HasSubstr("'x'"), HasSubstr("'a'"),
                                     HasSubstr("goes on without " + name)));
  };
  std::jthread beside(expect_refused, "y");
  expect_refused("z");
  beside.join();
  expect_undisturbed();
}

}  // namespace
}  // namespace tutti
