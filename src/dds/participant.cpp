#include "tutti/dds/participant.hpp"

#include <utility>

#include "dds/participant_core.hpp"

namespace tutti::dds {

Result<DomainParticipant> DomainParticipant::create(Node& node, ParticipantOptions options) {
  Result<std::shared_ptr<ParticipantCore>> core = ParticipantCore::create(node, std::move(options));
  if (!core) return std::unexpected(std::move(core.error()));
  return DomainParticipant(std::move(*core));
}

DomainParticipant::DomainParticipant(std::shared_ptr<ParticipantCore> core)
    : core_(std::move(core)) {}
DomainParticipant::DomainParticipant(DomainParticipant&&) noexcept = default;

DomainParticipant& DomainParticipant::operator=(DomainParticipant&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) core_->close();
  core_ = std::move(other.core_);
  return *this;
}

DomainParticipant::~DomainParticipant() {
  if (core_ != nullptr) core_->close();
}

std::vector<TopicDescription> DomainParticipant::topics() const { return core_->topics(); }

Result<void> DomainParticipant::delete_topic(std::string_view name) {
  return core_->delete_topic(name);
}

const std::string& DomainParticipant::name() const { return core_->name(); }
ParticipantStatistics DomainParticipant::statistics() const { return core_->statistics(); }

}  // namespace tutti::dds
