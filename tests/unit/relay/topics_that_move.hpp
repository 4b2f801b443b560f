/// \file topics_that_move.hpp
/// A client's machine without a connection: the test is its relay.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/machine.hpp"
#include "relay/codec.hpp"

namespace tutti::client {

class Answers final : public MachineEvents {
 public:
  void on_welcome(const relay::Welcome&) override {}
  void on_topic(const std::string& name, const Result<relay::TopicInfo>& topic) override {
    found[name] = topic.has_value();
  }
  void on_topics(std::uint32_t request, const std::vector<relay::TopicInfo>&, bool) override {
    lists.push_back(request);
  }
  void on_answer(std::uint64_t publication, const Answer& answer) override {
    all[publication] = answer;
  }
  void on_sample(std::uint32_t, const relay::Sample&) override {}
  void on_gap(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  void on_ended(std::uint32_t subscription, const std::string&) override {
    ended.push_back(subscription);
  }
  void on_bye(relay::Code, const std::string& text) override { bye = text; }
  void on_found(const std::string&, const relay::TopicInfo&) override {}
  void on_no_session(const std::string& why) override { no_session = why; }

  std::map<std::uint64_t, Answer> all{};
  std::map<std::string, bool> found{};
  std::vector<std::uint32_t> lists{}, ended{};
  std::string bye{}, no_session{};
};

// A client that knows the topics t and u of bundle "one"; the test is its relay.
class TopicsThatMove : public ::testing::Test {
 protected:
  using Frame = relay::Frame;

  TopicsThatMove() {
    machine_.find("t");
    machine_.find("u");
    connect({{"t", "one"}, {"u", "one"}});
  }

  // Answers each find by the bundle that the topic is in now, or by not_yet.
  void connect(const std::map<std::string, std::string>& bundles) {
    machine_.connected();
    machine_.receive(relay::Welcome{.frame_bytes_max = 1U << 20});
    const std::vector<Frame> said = take();
    for (const Frame& one : said) {
      const auto* const find = std::get_if<relay::Find>(&one);
      if (find == nullptr) continue;
      if (bundles.contains(find->name)) {
        answer(*find, bundles.at(find->name));
      } else {
        machine_.receive(relay::Refused{relay::Code::not_yet, relay::kind_of<relay::Find>(),
                                        find->request, "ask again"});
      }
    }
  }
  void answer(const relay::Find& find, const std::string& bundle) {
    machine_.receive(relay::Found{find.request,
                                  {.topic = find.name == "t" ? 3U : 7U,
                                   .name = find.name,
                                   .bundle = bundle,
                                   .service = relay::Service::stored,
                                   .sample_bytes_max = most_}});
  }

  std::vector<Frame> take() {
    bytes_ = std::exchange(machine_.output(), {});
    std::vector<Frame> all;
    for (std::size_t at = 0; at < bytes_.size();) {
      std::uint32_t length = 0;
      std::memcpy(&length, bytes_.data() + at, sizeof length);
      at += sizeof length;
      all.push_back(relay::decode(std::span(bytes_).subspan(at, length)).value());
      at += length;
    }
    return all;
  }
  template <class Kind>
  std::optional<Kind> heard() {
    for (const Frame& one : take()) {
      if (const Kind* const found = std::get_if<Kind>(&one)) return *found;
    }
    return std::nullopt;
  }
  void publish(const std::string& topic) {
    machine_.publish(topic, 1, 0, std::as_bytes(std::span("bytes")));
  }
  // `last`: the request that took its turn last.
  void open(std::uint64_t last = 0) {
    const auto opening = heard<relay::Open>();
    ASSERT_TRUE(opening);
    machine_.receive(relay::Opened{opening->topic, 20, opening->nonce, last});
  }
  void expire(std::uint64_t nonce) {
    machine_.receive(
        relay::Refused{relay::Code::expired, relay::kind_of<relay::Publish>(), nonce, "expired"});
  }

  // What was published to t is repeated after t has moved.
  std::optional<relay::Publish> repeated_without_topic() {
    publish("t");
    open();
    EXPECT_TRUE(heard<relay::Publish>());
    machine_.disconnected();
    connect({{"t", "two"}, {"u", "one"}});
    open();
    return heard<relay::Publish>();
  }

  std::uint32_t most_ = 100;  // bytes of a sample, at this relay
  Answers events_;
  std::uint64_t random_ = 0;
  Machine machine_{{.high = 1, .low = 2}, [this] { return ++random_; }, events_};
  std::vector<std::byte> bytes_{};
};

}  // namespace tutti::client
