// Where a reader of a log begins, step by step on one member.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "dds/reader_core.hpp"
#include "dds/session_record.hpp"
#include "domain/clock.hpp"
#include "domain/cluster.hpp"

namespace tutti::domain {
namespace {

constexpr std::uint32_t kTopic = 1;

class NothingToHear final : public ClusterEvents {
 public:
  void delivering(NodeCore&, GroupCore&, const Message&) override {}
  void delivered(NodeCore&, GroupCore&) override {}
  void entering(NodeCore&, const View&, bool) override {}
  void entered(NodeCore&) override {}
  bool pause(const std::function<bool()>&, std::uint64_t) override { return false; }
  [[nodiscard]] bool is_in_callback() const override { return false; }
  void committed(GroupCore&, Ticket, std::span<const std::byte>) override {}
  void wrong(const std::string& property, const std::string& what) override {
    ADD_FAILURE() << property << ": " << what;
  }
};

class ReaderOfALog : public ::testing::Test {
 protected:
  ReaderOfALog() {
    reset_clocks();
    node.emplace(*Node::create({.name = "a", .state_dir = "/a"}));
    bundle = *dds::Bundle::join(
        *node, {.name = "l", .service = dds::Service::logged, .delivery = DeliveryThread::own},
        [](std::uint32_t, std::uint64_t) { return false; });
    static_cast<void>(node->watch_views([](const ViewChange&) {}));
    cluster.found({cluster.newest()});
    cluster.enter_view(*cluster.newest());
    const dds::Definition numbers{.name = "numbers",
                                  .type = {.name = "number", .hash = 1},
                                  .options = {.service = dds::Service::logged, .bundle = "l"}};
    numbers.encode(definition_);
    define(kTopic);
    deliver();
  }
  ~ReaderOfALog() override {
    bundle->close();
    cluster.go_on(*cluster.newest());
    cluster.newest()->groups.front()->options.on_delivery = nullptr;
  }

  void send(dds::RecordKind kind, std::uint32_t topic, std::span<const std::byte> payload) {
    const dds::RecordHeader header{static_cast<std::uint8_t>(kind), 0, sizeof header, topic, 1};
    std::vector<std::byte> bytes(sizeof header + payload.size());
    dds::write_header(bytes.data(), header);
    std::memcpy(bytes.data() + sizeof header, payload.data(), payload.size());
    send(bytes);
  }
  void send(std::span<const std::byte> bytes) {
    Claim claim = bundle->group().try_claim(static_cast<std::uint32_t>(bytes.size()));
    ASSERT_TRUE(claim);
    std::memcpy(claim.data(), bytes.data(), bytes.size());
    static_cast<void>(bundle->group().commit(std::move(claim)));
    ASSERT_TRUE(cluster.place_one(*cluster.newest(), 0));
  }
  void send(const dds::SessionRecord& record) {
    std::vector<std::byte> bytes(dds::bytes_of(record));
    dds::write(record, bytes);
    send(bytes);
  }
  void define(std::uint32_t topic) {
    send(dds::RecordKind::definition, topic, definition_.written());
  }
  void send_sample() {
    const std::byte value{7};
    send(dds::RecordKind::sample, kTopic, {&value, 1});
  }
  // Of a batch that has stopped: the rest.
  void deliver() { ASSERT_TRUE(cluster.deliver(*cluster.newest(), 0, 10)); }
  std::shared_ptr<dds::ReaderCore> attach(dds::From from,
                                          std::function<void()> on_data_available = {}) {
    dds::UntypedReaderListener listener;
    listener.on_data_available = std::move(on_data_available);
    auto reader = std::make_shared<dds::ReaderCore>(
        bundle, bundle->find(kTopic), dds::ReaderOptions{.from = from}, std::move(listener));
    bundle->attach(reader);
    return reader;
  }
  static std::vector<std::uint64_t> positions(dds::ReaderCore& reader) {
    std::vector<std::uint64_t> out;
    for (auto taken = reader.take(100); taken && !taken->empty(); taken = reader.take(100)) {
      for (const auto& sample : *taken) out.push_back(sample.info.position.value);
    }
    return out;
  }

  Encoder definition_;
  NothingToHear nothing;
  Prng random{1};
  Cluster cluster{{"a"}, random, nothing};
  std::optional<Node> node;
  std::shared_ptr<dds::Bundle> bundle;
};

// It begins where it says, also in the middle of a batch that the store has in part.
TEST_F(ReaderOfALog, IsGivenAllFromWhereItSaysThatItBegins) {
  bool stops = true;
  const auto first = attach(dds::kFromNow, [&] {
    if (std::exchange(stops, false)) cluster.stop_in_callback();
  });
  send_sample();
  send_sample();
  deliver();  // stops: the store has both, and the batch has not ended
  ASSERT_TRUE(Cluster::is_in_callback(*cluster.newest()));
  const auto second = attach(dds::kFromNow);
  const std::optional<std::uint64_t> begin = second->covers_from();
  deliver();
  send_sample();
  deliver();
  ASSERT_TRUE(begin);
  std::vector<std::uint64_t> ought;
  for (const std::uint64_t position : positions(*first)) {
    if (position >= *begin) ought.push_back(position);
  }
  EXPECT_EQ(positions(*second), ought);
  EXPECT_FALSE(ought.empty());
}

// It came between a sample and the definition of another topic, with which the delivery thread
// looked at who reads.
TEST_F(ReaderOfALog, IsToldOfTheBatchInWhichItCame) {
  bool stops = true;
  const auto first = attach(dds::kFromNow, [&] {
    if (std::exchange(stops, false)) cluster.stop_in_callback();
  });
  send_sample();
  define(kTopic + 1);
  deliver();  // stops: the sample was told of, and the definition is next
  ASSERT_TRUE(Cluster::is_in_callback(*cluster.newest()));
  int told = 0;
  const auto second = attach(dds::from_position(SeqNo{1}), [&] { ++told; });
  deliver();
  EXPECT_GT(told, 0);
  EXPECT_EQ(positions(*second), std::vector<std::uint64_t>{1});
}

// What a relay would never write, and some member did.
TEST_F(ReaderOfALog, IsGivenTheSamplesOfClientsThatWereDelivered) {
  const auto live = attach(dds::kFromNow);
  const std::byte value{7};
  const auto sample = [&](std::uint64_t session, std::uint64_t request) {
    return dds::ClientSample{.session = session,
                             .nonce = 9,
                             .request = request,
                             .topic = kTopic,
                             .payload = {&value, 1}};
  };
  send(dds::SessionOpen{.client = {1, 2}, .nonce = 9});  // position 1
  deliver();
  send(sample(1, 1));
  send(sample(1, 1));  // a repeat
  send(sample(5, 1));  // of no session
  deliver();
  send(dds::RecordKind::client_sample, kTopic, {&value, 1});  // shorter than its header
  const std::vector<std::byte> payload(40, value);
  send(dds::RecordKind::client_sample, kTopic, payload);  // its payload begins too early
  deliver();
  std::vector<std::byte> flagged(dds::bytes_of(sample(1, 2)));
  dds::write(sample(1, 2), flagged);
  flagged[1] = static_cast<std::byte>(dds::kKeyedFlag);
  send(flagged);
  send(sample(1, 2));
  deliver();
  EXPECT_EQ(positions(*live), (std::vector<std::uint64_t>{2, 8}));
  bundle->detach(*live);  // nothing is kept in memory for readers any more
  const auto late = attach(dds::from_position(SeqNo{1}));
  EXPECT_EQ(positions(*late), (std::vector<std::uint64_t>{2, 8}));
}

// As of a participant that starts again, and is still handed its log.
TEST_F(ReaderOfALog, IsGivenNothingBeforeThePositionThatItAskedFor) {
  const auto reader = attach(dds::from_position(SeqNo{3}));
  for (int i = 0; i < 4; ++i) {  // positions 1 to 4
    send_sample();
    deliver();
    EXPECT_EQ(reader->has_more(), i >= 2);
  }
  EXPECT_EQ(positions(*reader), (std::vector<std::uint64_t>{3, 4}));
}

}  // namespace
}  // namespace tutti::domain
