/// \file topic_backend.hpp
/// The member behind a relay: a participant with its bundles.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dds/participant_core.hpp"
#include "relay/backend.hpp"
#include "relay/catch_ups.hpp"
#include "relay/outbox.hpp"

namespace tutti::relay {

class TopicBackend final : public Backend {
 public:
  /// `run` names this relay among all: positions of topics without order are its own.
  TopicBackend(std::shared_ptr<dds::ParticipantCore> participant, std::uint64_t run);
  ~TopicBackend() override { listen(nullptr); }

  [[nodiscard]] std::string name() const override { return participant_->name(); }
  void listen(MemberEvents* events) override;
  void look() override;
  [[nodiscard]] std::optional<MemberTopic> topic_from(TopicPlace place) override;
  [[nodiscard]] Named find(std::string_view name) override;
  [[nodiscard]] Posting post(std::uint32_t bundle, const dds::SessionRecord& record) override;
  [[nodiscard]] CatchingUp catch_up(std::uint32_t sequence) override;
  void define(TopicPlace place) override;
  [[nodiscard]] Posting send(const MemberTopic& topic, std::uint64_t timestamp_ns,
                             std::span<const std::byte> bytes) override;
  [[nodiscard]] Result<std::unique_ptr<Cursor>> subscribe(const MemberTopic& topic,
                                                          const Subscribe& wanted) override;
  [[nodiscard]] std::vector<Idle> sessions() override;

  /// Who is told, as long as somebody listens. Handlers and readers of the member may outlive this
  /// backend, so they have it by a pointer of their own.
  struct Told {
    std::mutex mutex{};
    MemberEvents* events = nullptr;     // `mutex`
    std::atomic<bool> has_told{false};  // on_data(), since the last look()
    void space();
    void data();
  };

 private:
  [[nodiscard]] std::uint64_t epoch_of(const dds::Bundle& bundle, std::uint32_t topic) const;
  [[nodiscard]] MemberTopic described(TopicPlace place, const dds::Definition& definition);
  [[nodiscard]] Named find_by(const dds::TopicKey& key);
  [[nodiscard]] Named find_in_logs(std::string_view name);

  const std::shared_ptr<dds::ParticipantCore> participant_;
  const std::uint64_t run_;
  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
  std::vector<std::shared_ptr<Outbox>> outboxes_{};  // by bundle
  // By bundle and kNames; none of what cannot be known.
  std::map<std::uint32_t, std::shared_ptr<CatchUps>> catch_ups_{};
};

}  // namespace tutti::relay
