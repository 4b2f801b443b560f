/// \file fake_group.hpp
/// Members without a group: what one of them posts, all deliver at once, or when the test says so.
#pragma once
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "relay/backend.hpp"

namespace tutti::relay::testing {

class FakeGroup {
 public:
  struct Sample {
    std::uint64_t position = 0;
    std::vector<std::byte> bytes{};
    [[nodiscard]] std::string text() const {
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
  };

  /// Topics of one bundle; `keep`: samples of the history of each.
  FakeGroup(std::vector<std::string> topics, Service service, std::size_t keep = 100'000)
      : topics_(std::move(topics)), service_(service), keep_(keep), histories_(topics_.size()) {}

  [[nodiscard]] std::unique_ptr<Backend> member(const std::string& name, bool is_sender = true) {
    return std::make_unique<Member>(*this, name, is_sender);
  }
  /// What is posted waits until false is said.
  void hold(bool held) {
    const std::scoped_lock lock(mutex_);
    held_ = held;
    if (!held) deliver_all();
  }
  /// What waits never comes: the member that sent it has crashed.
  void lose_what_waits() {
    const std::scoped_lock lock(mutex_);
    waiting_.clear();
  }
  void set_full(bool full);
  /// What is published to a topic from now on comes too late.
  void delete_topics() {
    const std::scoped_lock lock(mutex_);
    deleted_ = true;
  }
  /// A topic that no member has heard of yet, also if there is one of that name: it exists from
  /// hold(false) on.
  void create_later(std::string name) {
    const std::scoped_lock lock(mutex_);
    to_create_.push_back(std::move(name));
  }
  /// So many questions for a topic are answered by not_yet.
  void know_later(std::size_t questions) {
    const std::scoped_lock lock(mutex_);
    not_yet_ = questions;
  }
  /// So many looks of a cursor bring nothing, though there is more.
  void look_in_vain(std::size_t looks) {
    const std::scoped_lock lock(mutex_);
    vain_looks_ = looks;
  }
  [[nodiscard]] std::vector<Sample> delivered(std::size_t topic = 0) {
    const std::scoped_lock lock(mutex_);
    return histories_[topic].all;
  }
  [[nodiscard]] std::size_t sessions() {
    const std::scoped_lock lock(mutex_);
    return table_.size();
  }
  [[nodiscard]] std::size_t waiting() {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
  }

 private:
  struct History {
    std::vector<Sample> all{};  // the test's; readers see the newest ones
  };
  class Reader final : public Cursor {
   public:
    Reader(FakeGroup& group, std::size_t topic, const Subscribe& wanted)
        : group_(group), topic_(topic) {
      const std::scoped_lock lock(group_.mutex_);
      if (wanted.from == From::now) next_ = group_.position_;
      if (wanted.from == From::position) next_ = wanted.position;
      if (wanted.from == From::stored) next_ = first();
      start_ = next_;
    }
    [[nodiscard]] Next next(std::uint64_t) override {
      const std::scoped_lock lock(group_.mutex_);
      if (group_.vain_looks_ != 0) return --group_.vain_looks_, Next(Again{});
      if (next_ < first()) return Missing{std::exchange(next_, first()), first()};
      const auto& all = group_.histories_[topic_].all;
      const auto found = std::ranges::lower_bound(all, next_, {}, &Sample::position);
      if (found == all.end()) return Nothing{};
      next_ = found->position + 1;
      taken_ = found->bytes;
      return Taken{found->position, 0, 0, taken_};
    }
    [[nodiscard]] std::uint64_t epoch() const override { return 9; }
    [[nodiscard]] std::uint64_t start() const override { return start_; }

   private:
    // All samples from here on are kept.
    [[nodiscard]] std::uint64_t first() const {
      const auto& all = group_.histories_[topic_].all;
      return all.size() <= group_.keep_ ? 0 : all[all.size() - group_.keep_].position;
    }
    FakeGroup& group_;
    const std::size_t topic_;
    std::uint64_t next_ = 0;
    std::uint64_t start_ = 0;
    std::vector<std::byte> taken_{};
  };
  class Member final : public Backend {
   public:
    Member(FakeGroup& group, std::string name, bool is_sender)
        : group_(group), name_(std::move(name)), is_sender_(is_sender) {}
    ~Member() override { listen(nullptr); }
    [[nodiscard]] std::string name() const override { return name_; }
    void listen(MemberEvents* events) override {
      const std::scoped_lock lock(group_.mutex_);
      std::erase(group_.listeners_, events_);
      events_ = events;
      if (events != nullptr) group_.listeners_.push_back(events);
    }
    [[nodiscard]] std::optional<MemberTopic> topic_from(TopicPlace place) override {
      const std::scoped_lock lock(group_.mutex_);
      if (place.bundle != 0 || place.id >= group_.topics_.size()) return std::nullopt;
      return topic(place.id);
    }
    [[nodiscard]] Named find(std::string_view name) override {
      const std::scoped_lock lock(group_.mutex_);
      if (group_.not_yet_ != 0) {
        --group_.not_yet_;
        return {.code = Code::not_yet, .why = "ask again"};
      }
      for (; group_.indexed_ < group_.topics_.size(); ++group_.indexed_) {
        group_.newest_[group_.topics_[group_.indexed_]] = group_.indexed_;
      }
      const auto newest = group_.newest_.find(name);
      if (newest == group_.newest_.end()) return {};
      return {.topic = topic(newest->second)};
    }
    // With the mutex.
    [[nodiscard]] MemberTopic topic(std::size_t at) const {
      return MemberTopic{.place = {0, static_cast<std::uint32_t>(at)},
                         .info = {.name = group_.topics_[at],
                                  .bundle = "bundle",
                                  .service = group_.service_,
                                  .epoch = 9,
                                  .sample_bytes_max = is_sender_ ? 60'000U : 0U,
                                  .type = "text"},
                         .may_open = is_sender_};
    }
    [[nodiscard]] Posting post(std::uint32_t, const dds::SessionRecord& record) override {
      std::vector<std::byte> bytes(dds::bytes_of(record));
      dds::write(record, bytes);
      return group_.post(std::nullopt, bytes);
    }
    [[nodiscard]] CatchingUp catch_up(std::uint32_t) override {
      const std::scoped_lock lock(group_.mutex_);
      auto told = std::make_shared<std::atomic<CaughtUp>>(CaughtUp::not_yet);
      group_.asking_.push_back(told);
      if (!group_.held_ && !group_.full_) group_.deliver_all();
      return told;
    }
    [[nodiscard]] Posting send(const MemberTopic& topic, std::uint64_t,
                               std::span<const std::byte> bytes) override {
      return group_.post(topic.place.id, bytes);
    }
    [[nodiscard]] Result<std::unique_ptr<Cursor>> subscribe(const MemberTopic& topic,
                                                            const Subscribe& wanted) override {
      return std::make_unique<Reader>(group_, topic.place.id, wanted);
    }
    [[nodiscard]] std::vector<Idle> sessions() override {
      const std::scoped_lock lock(group_.mutex_);
      std::vector<Idle> all;
      for (const auto& [number, one] : group_.table_.all()) {
        all.push_back({0, number, one.last, one.touched});
      }
      return all;
    }

   private:
    FakeGroup& group_;
    const std::string name_;
    const bool is_sender_;
    MemberEvents* events_ = nullptr;
  };

  // A record of a session, or a sample of that topic without order.
  Posting post(std::optional<std::uint32_t> unordered, std::span<const std::byte> bytes);
  // With the mutex, as the functions below it.
  void put(std::optional<std::uint32_t> unordered, std::span<const std::byte> bytes) {
    if (unordered) return keep(*unordered, bytes);
    waiting_.emplace_back(bytes.begin(), bytes.end());
  }
  void keep(std::size_t topic, std::span<const std::byte> bytes) {
    histories_[topic].all.push_back({position_++, {bytes.begin(), bytes.end()}});
    for (MemberEvents* const one : listeners_) one->on_data();
  }
  void deliver_all();

  std::mutex mutex_{};
  std::vector<std::string> topics_;
  std::map<std::string, std::size_t, std::less<>> newest_{};  // by name, of the first so many
  std::size_t indexed_ = 0;
  std::vector<std::string> to_create_{};
  std::vector<std::shared_ptr<std::atomic<CaughtUp>>> asking_{};
  const Service service_;
  const std::size_t keep_;
  std::vector<History> histories_;
  std::vector<MemberEvents*> listeners_{};
  // While it is full; as post() has them.
  std::vector<std::pair<std::optional<std::uint32_t>, std::weak_ptr<Queued>>> queued_{};
  std::vector<std::vector<std::byte>> waiting_{};
  std::uint64_t position_ = 0;
  dds::SessionTable table_{1000};
  bool held_ = false;
  bool full_ = false;
  bool deleted_ = false;
  std::size_t vain_looks_ = 0;
  std::size_t not_yet_ = 0;
};

}  // namespace tutti::relay::testing
