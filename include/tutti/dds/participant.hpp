/// \file participant.hpp
/// A node's part in topics. The node's cluster is what DDS calls a domain.
///
/// Order of calls: Node::create, DomainParticipant::create, Node::start, then topics, readers and
/// writers, from any thread. All nodes of the cluster create a participant with the same bundles.
/// Topics come and go while the nodes run; the groups below do not.
///
/// The participant joins the group "tutti.dds", which keeps the names of topics, and "tutti.dds.X"
/// for each bundle X. Destroy it before or after its node: readers then take nothing more, and are
/// called no more.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/dds/options.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/node.hpp"

namespace tutti::dds {

class ParticipantCore;

/// Who reads and writes a topic.
struct TopicEndpoints {
  std::string participant{};
  std::uint32_t readers = 0;
  std::uint32_t writers = 0;
};

struct TopicDescription {
  std::string name{};
  TopicTypeInfo type{};
  TopicOptions options{};  ///< `bundle` is named
  std::uint32_t id = 0;    ///< in its bundle
  std::vector<TopicEndpoints> endpoints{};
};

/// Of what this participant has delivered, in all bundles.
struct ParticipantStatistics {
  std::uint64_t samples = 0;       ///< to topics that are known here
  std::uint64_t unknown = 0;       ///< of topics that are not: dropped
  std::uint64_t malformed = 0;     ///< not what a participant sends: dropped
  std::uint64_t reader_waits = 0;  ///< how often deliveries waited for a reader of keep_all
};

class TUTTI_API DomainParticipant {
 public:
  /// Joins the groups; before Node::start. One per node.
  [[nodiscard]] static Result<DomainParticipant> create(Node& node,
                                                        ParticipantOptions options = {});

  /// All topics of the domain that are known here, by name. Never blocks.
  [[nodiscard]] std::vector<TopicDescription> topics() const;

  /// Removes the topic at all participants. Its name may then be created again, as another topic.
  /// An error while somebody reads or writes it, which names who does. Waits as
  /// UntypedTopic::create does.
  [[nodiscard]] Result<void> delete_topic(std::string_view name);

  [[nodiscard]] const std::string& name() const;  ///< the node's
  [[nodiscard]] ParticipantStatistics statistics() const;

  DomainParticipant(DomainParticipant&&) noexcept;
  DomainParticipant& operator=(DomainParticipant&&) noexcept;
  /// Ends its readers; waits for their callbacks that run, but not inside a callback of the node.
  ~DomainParticipant();

 private:
  friend class UntypedTopic;
  friend class Relay;
  explicit DomainParticipant(std::shared_ptr<ParticipantCore> core);
  std::shared_ptr<ParticipantCore> core_;
};

}  // namespace tutti::dds
