#include "tutti/dds/topic.hpp"

#include <utility>

#include "dds/participant_core.hpp"

namespace tutti::dds {

Result<UntypedTopic> UntypedTopic::create(const DomainParticipant& participant,
                                          std::string_view name, TopicTypeInfo type,
                                          const TopicOptions& options, TopicListener listener) {
  Definition definition{std::string(name), std::move(type), options};
  Result<std::shared_ptr<TopicCore>> core =
      participant.core_->create_topic(std::move(definition), std::move(listener));
  if (!core) return std::unexpected(std::move(core.error()));
  return UntypedTopic(std::move(*core));
}

Result<UntypedTopic> UntypedTopic::find(const DomainParticipant& participant, std::string_view name,
                                        TopicListener listener) {
  Result<std::shared_ptr<TopicCore>> core =
      participant.core_->find_topic(name, std::move(listener));
  if (!core) return std::unexpected(std::move(core.error()));
  return UntypedTopic(std::move(*core));
}

const std::string& UntypedTopic::name() const { return core_->definition().name; }
const TopicTypeInfo& UntypedTopic::type() const { return core_->definition().type; }
const TopicOptions& UntypedTopic::options() const { return core_->definition().options; }

const Group& UntypedTopic::group() const { return core_->bundle()->group(); }

std::string_view UntypedTopic::name_of(MemberIndex sender) const {
  return core_->bundle()->group().name_of(sender);
}

}  // namespace tutti::dds
