/// \file topic_backend.hpp
/// The member behind a relay: a participant with its bundles.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dds/participant_core.hpp"
#include "relay/backend.hpp"

namespace tutti::relay {

class TopicBackend final : public Backend {
 public:
  /// `run` names this relay among all: positions of topics without order are its own.
  TopicBackend(std::shared_ptr<dds::ParticipantCore> participant, std::uint64_t run)
      : participant_(std::move(participant)), run_(run) {}
  ~TopicBackend() override { listen(nullptr); }

  [[nodiscard]] std::string name() const override { return participant_->name(); }
  void listen(MemberEvents* events) override;
  [[nodiscard]] std::vector<MemberTopic> topics() override;
  [[nodiscard]] std::optional<MemberTopic> find(std::string_view name) override;
  [[nodiscard]] Posted post(std::uint32_t bundle, const dds::SessionRecord& record) override;
  [[nodiscard]] Posted catch_up(std::shared_ptr<std::atomic<CaughtUp>> told) override;
  [[nodiscard]] Posted send(const MemberTopic& topic, std::uint64_t timestamp_ns,
                            std::span<const std::byte> bytes) override;
  [[nodiscard]] Result<std::unique_ptr<Cursor>> subscribe(const MemberTopic& topic,
                                                          const Subscribe& wanted) override;
  [[nodiscard]] std::vector<Idle> sessions() override;

  /// Who is told, as long as somebody listens. Handlers and readers of the member may outlive this
  /// backend, so they have it by a pointer of their own.
  struct Told {
    std::mutex mutex{};
    MemberEvents* events = nullptr;   // `mutex`
    std::set<std::uint32_t> asked{};  // `mutex`: bundles that say once there is space
    void space(std::uint32_t bundle);
    void data();
  };

 private:
  [[nodiscard]] MemberTopic described(std::uint32_t bundle_index, std::uint32_t id,
                                      const dds::Definition& definition);
  [[nodiscard]] Posted await_space(std::uint32_t bundle, const Claim& refused, std::uint32_t size);
  template <class Write>
  [[nodiscard]] Posted into(std::uint32_t bundle, std::size_t bytes, Write&& write);

  const std::shared_ptr<dds::ParticipantCore> participant_;
  const std::uint64_t run_;
  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

}  // namespace tutti::relay
