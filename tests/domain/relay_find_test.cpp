// What a relay answers to `find` at a member that lacks the topic's definition, step by step: never
// that there is no topic where there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dds/participant_core.hpp"
#include "domain/clock.hpp"
#include "domain/cluster.hpp"
#include "domain/group_log.hpp"
#include "relay/conversation.hpp"
#include "relay/topic_backend.hpp"

namespace tutti::domain {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRun = 77;  // of the relay
constexpr std::size_t kBundle = 1;  // the number of its group: 0 gives the names

// Calls that wait let all members go on, but for deliveries of the bundle that are held.
class Members final : public ClusterEvents {
 public:
  void delivering(NodeCore&, GroupCore&, const Message&) override {}
  void delivered(NodeCore&, GroupCore&) override {}
  void entering(NodeCore&, const View&, bool) override {}
  void entered(NodeCore&) override {}
  bool pause(const std::function<bool()>& holds, std::uint64_t) override {
    while (!holds() && step()) {
    }
    return holds();
  }
  [[nodiscard]] bool is_in_callback() const override { return false; }
  void committed(GroupCore&, Ticket, std::span<const std::byte>) override {}
  void wrong(const std::string& property, const std::string& what) override {
    ADD_FAILURE() << property << ": " << what;
  }

  // Messages of the bundle that the member may deliver from now on.
  void hold(const std::string& member, std::uint64_t messages = 0) { held_[member] = messages; }
  void release(const std::string& member) { held_.erase(member); }
  void run() {
    while (step()) {
    }
  }

 private:
  bool step() {
    Cluster& cluster = *Cluster::current();
    bool moved = false;
    for (const auto& node : std::vector(cluster.members())) {
      if (node->over) continue;
      moved |= cluster.enter_view(*node);
      for (std::size_t group = 0; group < node->groups.size(); ++group) {
        moved |= cluster.place_one(*node, group);
        moved |= deliver(cluster, *node, group);
        moved |= cluster.call_handler(*node, group);
      }
    }
    return moved;
  }
  // One message at a time.
  bool deliver(Cluster& cluster, NodeCore& node, std::size_t group) {
    const auto held = held_.find(node.name);
    if (group != kBundle || held == held_.end()) return cluster.deliver(node, group, 1);
    if (held->second == 0 || !cluster.deliver(node, group, 1)) return false;
    --held->second;
    return true;
  }

  std::map<std::string, std::uint64_t> held_{};
};

// Member a sends in the bundle, and b does not; b has the relay.
using Heard = std::variant<std::string, relay::Code>;

class AFindThatComesEarly : public ::testing::Test {
 public:
  ~AFindThatComesEarly() override { stop(); }

 protected:
  struct Member {
    std::shared_ptr<NodeCore> node;
    std::optional<Node> handle;
    std::shared_ptr<dds::ParticipantCore> participant;
  };

  AFindThatComesEarly() { reset_clocks(); }

  void start(const dds::BundleOptions& bundle) {
    a_ = make("a", bundle);
    b_ = make("b", bundle);
    cluster_.found({a_.node, b_.node});
    relay_at_b();
  }
  void relay_at_b() {
    backend_.emplace(b_.participant, kRun);
    relay_.emplace(*backend_, limits_);
    relay_->receive(relay::Hello{.client_high = 1});
  }
  void stop() {
    relay_.reset();
    backend_.reset();
    for (Member* const one : {&a_, &b_, &c_}) end(*one);
  }
  void end(Member& one) {
    if (one.node == nullptr) return;
    one.node->over = true;
    cluster_.go_on(*one.node);
    for (std::size_t group = 0; group < one.node->groups.size(); ++group) {
      while (cluster_.call_handler(*one.node, group)) {
      }
    }
    one.participant->close();
    one.participant.reset();
    one.handle.reset();
    for (const auto& group : one.node->groups) {
      group->log.reset();
      group->options.on_delivery = nullptr;
      group->options.save_state = nullptr;
      group->options.load_state = nullptr;
    }
    one.node->watcher = nullptr;
    one.node.reset();
  }
  Member make(const std::string& name, const dds::BundleOptions& bundle) {
    Member made;
    made.handle.emplace(*Node::create({.name = name, .state_dir = "/" + name}));
    made.node = cluster_.newest();
    dds::ParticipantOptions options;
    options.bundles = {bundle};
    auto participant = dds::ParticipantCore::create(*made.handle, options);
    EXPECT_TRUE(participant) << participant.error().message;
    made.participant = *participant;
    return made;
  }
  static dds::Definition defined(const Member& at, const std::string& topic,
                                 const std::string& type) {
    const dds::BundleOptions& bundle = at.participant->bundles().front()->options();
    return {.name = topic,
            .type = {.name = type, .hash = 1},
            .options = {.service = bundle.service, .bundle = bundle.name}};
  }
  void create(const std::string& topic, const std::string& type) {
    const auto made = a_.participant->create_topic(defined(a_, topic, type), {});
    ASSERT_TRUE(made) << made.error().message;
  }
  // As of a participant that ends before it has defined the topic.
  void claim(const std::string& topic, const std::string& type) {
    Group names = b_.participant->control();
    ASSERT_TRUE(names.send(dds::Directory::claim(defined(b_, topic, type), 10), 1s));
    members_.run();
  }
  // What the client hears: the topic's type, or the code of the refusal.
  Heard find(const std::string& topic) {
    relay_->output().clear();
    relay_->receive(relay::Find{1, topic});
    const std::vector<std::byte>& output = relay_->output();
    for (int asked = 0; asked < 2 && output.empty(); ++asked) {  // of the names, of the bundle
      members_.run();
      relay_->pump();
    }
    std::uint32_t length = 0;
    if (output.size() < sizeof length) return "nothing";
    std::memcpy(&length, output.data(), sizeof length);
    const auto frame = relay::decode(std::span(output).subspan(sizeof length, length));
    if (const auto* const found = std::get_if<relay::Found>(&*frame)) {
      epoch_ = found->topic.epoch;
      return found->topic.type;
    }
    return std::get<relay::Refused>(*frame).code;
  }

  Members members_;
  Prng random_{1};
  Cluster cluster_{{"a", "b", "c"}, random_, members_};
  Member a_{}, b_{}, c_{};
  const relay::ConversationLimits limits_{};
  std::uint64_t epoch_ = 0;  // of the topic that was found
  std::optional<relay::TopicBackend> backend_;
  std::optional<relay::Conversation> relay_;
};

const dds::BundleOptions kLogged{.name = "l",
                                 .service = dds::Service::logged,
                                 .senders = {"a"},
                                 .delivery = DeliveryThread::own};

TEST_F(AFindThatComesEarly, IsNotYetAnsweredWhileTheDefinitionHasNotCome) {
  for (const dds::BundleOptions& bundle :
       {kLogged, dds::BundleOptions{.name = "at", .senders = {"a"}},
        dds::BundleOptions{
            .name = "st", .service = dds::Service::volatile_storage, .senders = {"a"}}}) {
    start(bundle);
    members_.run();
    members_.hold("b");
    create("t", "new");
    EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << bundle.name;
    EXPECT_EQ(find("other"), Heard(relay::Code::unknown_topic)) << bundle.name;
    members_.release("b");
    members_.run();
    EXPECT_EQ(find("t"), Heard("new")) << bundle.name;
    stop();
  }
}

// All have stopped; the log has a topic that was deleted, and created again.
TEST_F(AFindThatComesEarly, IsNotAnsweredFromALogThatIsHandedOnInPart) {
  start(kLogged);
  members_.run();
  create("t", "old");
  ASSERT_TRUE(a_.participant->delete_topic("t"));
  create("t", "new");
  members_.run();
  stop();
  members_.hold("a");
  members_.hold("b");
  start(kLogged);
  members_.run();
  EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << "no sender has said what its log has";
  EXPECT_EQ(find("other"), Heard(relay::Code::not_yet));
  while (b_.participant->bundles().front()->find_from(0) == nullptr) {
    members_.hold("b", 1);
    members_.run();
  }
  EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << "it has come to the deleted one";
  members_.release("a");
  members_.run();
  EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << "it knows the name";
  EXPECT_EQ(find("other"), Heard(relay::Code::unknown_topic));
  members_.release("b");
  members_.run();
  EXPECT_EQ(find("t"), Heard("new"));
}

TEST_F(AFindThatComesEarly, SaysWhoseMembersHaveTheBundle) {
  start({.name = "at", .members = {"a"}});
  members_.run();
  create("t", "new");
  EXPECT_EQ(find("t"), Heard(relay::Code::not_offered));
  EXPECT_EQ(find("other"), Heard(relay::Code::unknown_topic));
}

// A member that joins a bundle without a state does not learn its epoch. Its relay gives clients an
// epoch of its own: with none, they would take positions of the next sequence for those of this
// one.
TEST_F(AFindThatComesEarly, GivesNoEpochThatAnotherSequenceMayHave) {
  const dds::BundleOptions bundle{.name = "at", .members = {"a", "b"}};
  a_ = make("a", bundle);
  cluster_.found({a_.node});
  members_.run();
  create("t", "new");
  b_ = make("b", bundle);
  cluster_.change_view({b_.node});
  members_.run();
  relay_at_b();
  EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << "its definition came before b";
  EXPECT_EQ(find("t"), Heard("new"));
  EXPECT_EQ(epoch_, kRun);
}

// Its creator has died: nobody else would define it.
TEST_F(AFindThatComesEarly, HasASenderDefineWhatHasItsNameAlone) {
  for (const std::string sender : {"a", "b"}) {  // another member; the relay's
    for (dds::BundleOptions bundle :
         {kLogged, dds::BundleOptions{.name = "at"},
          dds::BundleOptions{.name = "st", .service = dds::Service::volatile_storage}}) {
      bundle.name += sender;  // of another log
      bundle.senders = {sender};
      start(bundle);
      members_.run();
      claim("t", "new");
      EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << bundle.name;
      EXPECT_EQ(find("t"), Heard("new")) << bundle.name;
      stop();
    }
  }
}

// Many clients may ask before it is delivered.
TEST_F(AFindThatComesEarly, HasItDefinedOnce) {
  for (const std::string sender : {"a", "b"}) {
    start({.name = "at", .senders = {sender}});
    members_.run();
    claim("t", "new");
    const relay::Named named = backend_->find("t");
    ASSERT_TRUE(named.place);
    const std::uint64_t names = cluster_.delivered_by_all(0, 0);
    const std::uint64_t before = cluster_.delivered_by_all(kBundle, 0);
    backend_->define(*named.place);
    backend_->define(*named.place);
    members_.run();
    EXPECT_EQ(cluster_.delivered_by_all(0, 0), names + (sender == "a" ? 1 : 0)) << "questions";
    EXPECT_EQ(cluster_.delivered_by_all(kBundle, 0), before + 1) << "definitions";
    EXPECT_TRUE(backend_->find("t").topic);
    stop();
  }
}

// A bundle without a state tells those that join nothing; and a sender that is asked by several
// members sends its definition once.
TEST_F(AFindThatComesEarly, HasASenderDefineItAgainForThoseThatCameLater) {
  const dds::BundleOptions bundle{
      .name = "at", .members = {"a", "b", "c"}, .senders = {"a"}, .delivery = DeliveryThread::own};
  a_ = make("a", bundle);
  cluster_.found({a_.node});
  members_.run();
  create("t", "new");
  b_ = make("b", bundle);
  c_ = make("c", bundle);
  cluster_.change_view({b_.node, c_.node});
  members_.run();
  relay_at_b();
  const std::uint64_t before = cluster_.delivered_by_all(kBundle, 0);
  members_.hold("a");
  EXPECT_EQ(find("t"), Heard(relay::Code::not_yet)) << "its definition came before b";
  c_.participant->define({"at", 1});
  members_.run();
  members_.release("a");
  members_.run();
  EXPECT_EQ(find("t"), Heard("new"));
  EXPECT_NE(c_.participant->bundles().front()->find(1), nullptr);
  EXPECT_EQ(cluster_.delivered_by_all(kBundle, 0), before + 1);
}

TEST_F(AFindThatComesEarly, IsAnsweredOnceASenderHasCome) {
  const dds::BundleOptions bundle{.name = "at", .senders = {"a"}};
  start(bundle);
  members_.run();
  end(a_);
  cluster_.change_view({});
  members_.run();
  claim("t", "new");
  for (int asked = 0; asked < 3; ++asked) EXPECT_EQ(find("t"), Heard(relay::Code::not_yet));
  a_ = make("a", bundle);
  cluster_.change_view({a_.node});
  members_.run();
  EXPECT_EQ(find("t"), Heard("new")) << "the sender was asked in its first view, by nobody's call";
}

}  // namespace
}  // namespace tutti::domain
