/// \file topic.hpp
/// A name for samples of one type, the same at all participants.
///
/// The first to create a name decides its type and options. Who names others is refused, with both
/// in the error, and the participants that have the topic are told (TopicListener). A topic goes
/// on without its creator, until DomainParticipant::delete_topic.
/// Threads: any. A handle may be copied; all copies are the same topic.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/dds/listener.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/participant.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

class TopicCore;

/// A topic whose samples are bytes to this program: for tools, bindings and relays.
class TUTTI_API UntypedTopic {
 public:
  /// Creates the topic, or joins it if it is there with the same type and options. Waits for the
  /// others, at most ParticipantOptions::timeout; refused inside callbacks of the node. Errors:
  /// mismatch (both values are named), invalid_argument (the name, the options, topics_max), and
  /// those of Group::send. After timed_out the topic may exist.
  [[nodiscard]] static Result<UntypedTopic> create(const DomainParticipant& participant,
                                                   std::string_view name, TopicTypeInfo type,
                                                   const TopicOptions& options = {},
                                                   TopicListener listener = {});
  /// Joins the topic of that name as it is, also if another participant created it just before.
  /// Never creates one: invalid_argument if there is none. Waits like create, with its errors.
  [[nodiscard]] static Result<UntypedTopic> find(const DomainParticipant& participant,
                                                 std::string_view name,
                                                 TopicListener listener = {});

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const TopicTypeInfo& type() const;
  [[nodiscard]] const TopicOptions& options() const;  ///< `bundle` is named
  /// Of its bundle: for statistics, and what else a group can say.
  [[nodiscard]] const Group& group() const;
  /// The name of a member of its bundle, such as SampleInfo::sender.
  [[nodiscard]] std::string_view name_of(MemberIndex sender) const;

 private:
  friend class UntypedReader;
  friend class UntypedWriter;
  explicit UntypedTopic(std::shared_ptr<TopicCore> core) : core_(std::move(core)) {}
  std::shared_ptr<TopicCore> core_;
};

template <class T>
class Topic {
 public:
  /// See UntypedTopic::create.
  [[nodiscard]] static Result<Topic> create(const DomainParticipant& participant,
                                            std::string_view name, const TopicOptions& options = {},
                                            TopicListener listener = {}) {
    Result<UntypedTopic> topic = UntypedTopic::create(participant, name, TypeSupport<T>::info(),
                                                      options, std::move(listener));
    if (!topic) return std::unexpected(std::move(topic.error()));
    return Topic(std::move(*topic));
  }

  [[nodiscard]] const std::string& name() const { return topic_.name(); }
  [[nodiscard]] const TopicOptions& options() const { return topic_.options(); }
  [[nodiscard]] std::string_view name_of(MemberIndex sender) const {
    return topic_.name_of(sender);
  }
  [[nodiscard]] const UntypedTopic& untyped() const { return topic_; }

 private:
  explicit Topic(UntypedTopic topic) : topic_(std::move(topic)) {}
  UntypedTopic topic_;
};

}  // namespace tutti::dds
