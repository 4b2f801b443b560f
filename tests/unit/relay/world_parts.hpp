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
struct WorldTopic {
  const char* name;
  std::uint32_t bundle;
  std::uint32_t id;
};
inline constexpr WorldTopic kTopics[] = {{"a", 0, 0}, {"b", 0, 1}, {"c", 1, 0}};
inline constexpr std::uint32_t kBundles = 2;

[[nodiscard]] inline const WorldTopic& topic_named(const std::string& name) {
  return *std::ranges::find_if(kTopics, [&](const WorldTopic& one) { return one.name == name; });
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
  }

  [[nodiscard]] std::string name() const override { return "m" + std::to_string(index_); }
  void listen(MemberEvents*) override {}
  [[nodiscard]] std::optional<MemberTopic> topic_from(TopicPlace) override { return {}; }
  [[nodiscard]] Named find(std::string_view name) override;
  [[nodiscard]] Posting post(std::uint32_t bundle, const dds::SessionRecord& record) override;
  [[nodiscard]] CatchingUp catch_up(std::uint32_t) override {
    return std::make_shared<std::atomic<CaughtUp>>(CaughtUp::done);  // all know all topics
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

  void publish();
  void subscribe();
  void consume();

  const std::uint64_t id;
  client::Machine machine;
  std::unique_ptr<Connection> connection{};
  bool hangs_up = false;
  std::map<std::uint32_t, Subscriber> subscribers{};
  std::map<std::uint64_t, client::Answer> answers{};
  std::map<std::uint64_t, std::string> topics_of{};  // publications
  std::uint64_t made = 0;

 private:
  void covered(std::uint32_t subscription, std::uint64_t from, std::uint64_t to);
  World& world_;
};

}  // namespace tutti::relay::testing
