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

  [[nodiscard]] std::unique_ptr<Backend> member(const std::string& name) {
    return std::make_unique<Member>(*this, name);
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
  void set_full(bool full) {
    const std::scoped_lock lock(mutex_);
    full_ = full;
    if (full) return;
    for (MemberEvents* const one : listeners_) one->on_space();
  }
  /// What is published to a topic from now on comes too late.
  void delete_topics() {
    const std::scoped_lock lock(mutex_);
    deleted_ = true;
  }
  /// A topic that no member has heard of yet: it exists from hold(false) on.
  void create_later(std::string name) {
    const std::scoped_lock lock(mutex_);
    to_create_.push_back(std::move(name));
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
    Member(FakeGroup& group, std::string name) : group_(group), name_(std::move(name)) {}
    ~Member() override { listen(nullptr); }
    [[nodiscard]] std::string name() const override { return name_; }
    void listen(MemberEvents* events) override {
      const std::scoped_lock lock(group_.mutex_);
      std::erase(group_.listeners_, events_);
      events_ = events;
      if (events != nullptr) group_.listeners_.push_back(events);
    }
    [[nodiscard]] std::vector<MemberTopic> topics() override {
      const std::scoped_lock lock(group_.mutex_);
      std::vector<MemberTopic> all;
      for (std::size_t at = 0; at < group_.topics_.size(); ++at) all.push_back(topic(at));
      return all;
    }
    [[nodiscard]] std::optional<MemberTopic> find(std::string_view name) override {
      const std::scoped_lock lock(group_.mutex_);
      const auto found = std::ranges::find(group_.topics_, name);
      if (found == group_.topics_.end()) return std::nullopt;
      return topic(static_cast<std::size_t>(found - group_.topics_.begin()));
    }
    // With the mutex.
    [[nodiscard]] MemberTopic topic(std::size_t at) const {
      return MemberTopic{.bundle = 0,
                         .id = static_cast<std::uint32_t>(at),
                         .info = {.name = group_.topics_[at],
                                  .bundle = "bundle",
                                  .service = group_.service_,
                                  .epoch = 9,
                                  .sample_bytes_max = 60'000,
                                  .type = "text"}};
    }
    [[nodiscard]] Posted post(std::uint32_t, const dds::SessionRecord& record) override {
      const std::scoped_lock lock(group_.mutex_);
      if (group_.full_) return Posted::no_space;
      std::vector<std::byte> bytes(dds::bytes_of(record));
      dds::write(record, bytes);
      group_.waiting_.push_back(std::move(bytes));
      if (!group_.held_) group_.deliver_all();
      return Posted::posted;
    }
    [[nodiscard]] Posted catch_up(std::shared_ptr<std::atomic<CaughtUp>> told) override {
      const std::scoped_lock lock(group_.mutex_);
      if (group_.full_) return Posted::no_space;
      group_.asking_.push_back(std::move(told));
      if (!group_.held_) group_.deliver_all();
      return Posted::posted;
    }
    [[nodiscard]] Posted send(const MemberTopic& topic, std::uint64_t,
                              std::span<const std::byte> bytes) override {
      const std::scoped_lock lock(group_.mutex_);
      if (group_.full_) return Posted::no_space;
      group_.keep(topic.id, bytes);
      return Posted::posted;
    }
    [[nodiscard]] Result<std::unique_ptr<Cursor>> subscribe(const MemberTopic& topic,
                                                            const Subscribe& wanted) override {
      return std::make_unique<Reader>(group_, topic.id, wanted);
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
    MemberEvents* events_ = nullptr;
  };

  void keep(std::size_t topic, std::span<const std::byte> bytes) {
    histories_[topic].all.push_back({position_++, {bytes.begin(), bytes.end()}});
    for (MemberEvents* const one : listeners_) one->on_data();
  }
  void deliver_all() {
    for (const auto& bytes : std::exchange(waiting_, {})) {
      const auto record = dds::read_session_record(bytes);
      const dds::SessionOutcome outcome = table_.deliver(position_, *record, !deleted_);
      const auto* const sample = std::get_if<dds::ClientSample>(&*record);
      if (outcome.status == dds::SessionStatus::delivered && sample->topic != dds::kNoTopic &&
          !deleted_) {
        keep(sample->topic, sample->payload);
      } else {
        ++position_;
      }
      for (MemberEvents* const one : listeners_) one->on_outcome(0, outcome);
    }
    for (std::string& name : std::exchange(to_create_, {})) {
      topics_.push_back(std::move(name));
      histories_.emplace_back();
    }
    for (const auto& told : std::exchange(asking_, {})) {
      told->store(CaughtUp::done, std::memory_order_release);
      for (MemberEvents* const one : listeners_) one->on_data();
    }
  }

  std::mutex mutex_{};
  std::vector<std::string> topics_;
  std::vector<std::string> to_create_{};
  std::vector<std::shared_ptr<std::atomic<CaughtUp>>> asking_{};
  const Service service_;
  const std::size_t keep_;
  std::vector<History> histories_;
  std::vector<MemberEvents*> listeners_{};
  std::vector<std::vector<std::byte>> waiting_{};
  std::uint64_t position_ = 0;
  dds::SessionTable table_{1000};
  bool held_ = false;
  bool full_ = false;
  bool deleted_ = false;
  std::size_t vain_looks_ = 0;
};

}  // namespace tutti::relay::testing
