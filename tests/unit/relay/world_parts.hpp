/// \file world_parts.hpp
/// The members and clients of a world, for its .cpp files.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/relay/world.hpp"

namespace tutti::relay::testing {

inline constexpr std::uint64_t kEpoch = 7;
inline constexpr std::size_t kOutboxMax = 6;
inline constexpr const char* kTopicNames[] = {"a", "b", "c"};
inline constexpr std::uint32_t kBundles = 2;

/// What the names stand for in the beginning.
[[nodiscard]] inline std::map<std::string, TopicPlace> first_topics() {
  return {{"a", {0, 0}}, {"b", {0, 1}}, {"c", {1, 0}}};
}

/// Each bundle's sequence has one of its own.
[[nodiscard]] constexpr std::uint64_t epoch_of(std::uint32_t bundle) { return kEpoch + bundle; }

/// The place of a topic, as its description says.
[[nodiscard]] inline TopicPlace place_of(const TopicInfo& info) {
  return {static_cast<std::uint32_t>(info.bundle.back() - '0'),
          static_cast<std::uint32_t>(info.type_hash)};
}

/// A publication's bytes are its number: the client's, and how many it made before.
[[nodiscard]] inline std::uint64_t number_in(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

class World::Member final : public Backend {
 public:
  Member(World& world, std::uint32_t index) : world_(world), index_(index) {
    bundles.resize(kBundles);
    for (Bundle& one : bundles) one.table = dds::SessionTable(world.sessions_max_);
    for (const auto& [name, place] : first_topics()) bundles[place.bundle].defined.insert(place.id);
  }

  [[nodiscard]] std::string name() const override { return "m" + std::to_string(index_); }
  void listen(MemberEvents*) override {}
  [[nodiscard]] std::optional<MemberTopic> topic_from(TopicPlace) override { return {}; }
  [[nodiscard]] Named find(std::string_view name) override;
  [[nodiscard]] Posting post(std::uint32_t bundle, const dds::SessionRecord& record) override;
  [[nodiscard]] CatchingUp catch_up(std::uint32_t) override {
    return std::make_shared<std::atomic<CaughtUp>>(CaughtUp::done);  // all know all names
  }
  void define(TopicPlace place) override {
    world_.send_change(index_, place, dds::RecordKind::definition);
  }
  [[nodiscard]] Posting send(const MemberTopic&, std::uint64_t,
                             std::span<const std::byte>) override {
    return {Posted::stopped};
  }
  [[nodiscard]] Result<std::unique_ptr<Cursor>> subscribe(const MemberTopic& topic,
                                                          const Subscribe& wanted) override;
  [[nodiscard]] std::vector<Idle> sessions() override { return {}; }

  std::vector<Bundle> bundles{};
  bool runs = true;

 private:
  World& world_;
  const std::uint32_t index_;
};

class World::Client final : public client::MachineEvents {
 public:
  Client(World& world, std::uint64_t id);

  void on_welcome(const Welcome&) override {}
  void on_topic(const std::string&, const Result<TopicInfo>&) override {}
  void on_topics(std::uint32_t, const std::vector<TopicInfo>&, bool) override {}
  void on_answer(std::uint64_t publication, const client::Answer& answer) override;
  void on_sample(std::uint32_t subscription, const Sample& sample) override;
  void on_gap(std::uint32_t subscription, std::uint64_t from, std::uint64_t to) override;
  void on_ended(std::uint32_t subscription, const std::string& why) override;
  void on_bye(Code code, const std::string& text) override;
  void on_found(const std::string&, const TopicInfo&) override {}
  void on_no_session(const std::string&) override { hangs_up = true; }

  void publish();
  void subscribe();
  void consume();

  const std::uint64_t id;
  client::Machine machine;
  std::unique_ptr<Connection> connection{};
  bool hangs_up = false;
  std::map<std::uint32_t, Subscriber> subscribers{};
  std::map<std::uint64_t, client::Answer> answers{};
  std::map<std::uint64_t, std::uint32_t> bundles_of{};  // publications
  std::uint64_t made = 0;
  std::uint32_t subscribed = 0;  // so often

 private:
  void covered(std::uint32_t subscription, std::uint64_t from, std::uint64_t to);
  World& world_;
};

}  // namespace tutti::relay::testing
