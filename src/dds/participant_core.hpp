/// \file participant_core.hpp
/// What stands behind a DomainParticipant: the control group with its Directory, the bundles, and
/// what this participant has of topics.
///
/// Invariants:
///  PC1  A sender of a logged bundle announces what its log has when it comes into its first view,
///       unless another one did before (DD2). Calls wait for that of every logged bundle.
///  PC2  A record that says how many readers and writers this participant has is committed under
///       the mutex, with the numbers of that moment; and its space is claimed after the change that
///       it tells of. So the last one in the control group's order is right: a change after its
///       commit would have claimed space behind it.
///  PC3  No listener is called with the mutex held.
///  PC4  No listener of a topic, reader or writer runs or begins after close(), but for close()
///       inside a callback: then the one that runs ends.
///  PC5  This participant asks the senders of a bundle for a definition once in a view, and in each
///       view until it has it. That is enough: a sender that was asked sends it, unless the sender
///       ends, and then there is another view; a sender that comes is in another view, too.
///  PC6  A record of the control group counts once it was copied, and found intact after that
///       (Group::intact). If it was not, the others have removed this participant, and nothing
///       more counts.
///  PC7  A call that finds or deletes a topic knows all that was in the control group's order when
///       the call was made, before it says that there is none, and before it deletes one: it has
///       delivered a record that it sends for this.
/// Threads: apply(), load(), save(), note_view() are callbacks of the node; the others any.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dds/bundle.hpp"
#include "dds/directory.hpp"
#include "tutti/dds/listener.hpp"
#include "tutti/dds/participant.hpp"
#include "tutti/group.hpp"
#include "tutti/node.hpp"

namespace tutti::dds {

class TopicCore;

/// Lets a listener's calls through until it ends.
class Gate {
 public:
  template <class Call>
  void pass(const Call& call) {
    const std::lock_guard lock(calling_);
    if (!ended_.load(std::memory_order_acquire)) call();
  }
  /// If it waits, no call runs afterwards.
  void end(bool waits) {
    ended_.store(true, std::memory_order_release);
    if (waits) const std::lock_guard lock(calling_);
  }

 private:
  std::mutex calling_;
  std::atomic<bool> ended_{false};
};

/// A reader or writer, as the participant tells it of the others.
struct Endpoint {
  Endpoint(bool reading, std::function<void(const MatchedStatus&)> matched)
      : reads(reading), on_matched(std::move(matched)) {}

  void tell(const MatchedStatus& status) {
    if (on_matched) gate.pass([&] { on_matched(status); });
  }

  const bool reads;
  const std::function<void(const MatchedStatus&)> on_matched;
  bool greeted = false;  ///< told of those that were there before it
  Gate gate{};           ///< of on_matched
};

class ParticipantCore : public std::enable_shared_from_this<ParticipantCore> {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  [[nodiscard]] static Result<std::shared_ptr<ParticipantCore>> create(Node& node,
                                                                       ParticipantOptions options);
  void close();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<TopicDescription> topics() const;
  [[nodiscard]] ParticipantStatistics statistics() const;
  [[nodiscard]] Result<std::shared_ptr<TopicCore>> create_topic(Definition definition,
                                                                TopicListener listener);
  [[nodiscard]] Result<std::shared_ptr<TopicCore>> find_topic(std::string_view name,
                                                              TopicListener listener);
  [[nodiscard]] Result<void> delete_topic(std::string_view name);

  /// Waits until all know of it; an error if the topic is deleted.
  [[nodiscard]] Result<void> add_endpoint(const TopicKey& key,
                                          const std::shared_ptr<Endpoint>& endpoint);
  /// Does not wait.
  void remove_endpoint(const TopicKey& key, const std::shared_ptr<Endpoint>& endpoint) noexcept;

  [[nodiscard]] const std::vector<std::shared_ptr<Bundle>>& bundles() const { return bundles_; }
  /// Null: there is none of that name.
  [[nodiscard]] std::shared_ptr<Bundle> bundle(std::string_view name) const;

  /// Its sequence gives names to topics.
  [[nodiscard]] const Group& control() const { return *control_; }
  /// Whose that name is, as far as the control group was delivered here; empty: nobody's.
  [[nodiscard]] std::optional<TopicKey> key_of(std::string_view name) const;
  /// Has the definition of a topic sent that has its name and that is not defined here: its creator
  /// has ended, or is no sender, or this participant came later. One that sends in the bundle sends
  /// it; another one asks the senders (PC5). Does not wait.
  void define(const TopicKey& key);
  /// The names of all topics in that bundle's log are known.
  [[nodiscard]] bool is_announced(const std::string& bundle) const;

  /// The one relay that a participant may have; false: it has one, until end_relay().
  [[nodiscard]] bool begin_relay() { return !has_relay_.exchange(true, std::memory_order_acquire); }
  void end_relay() { has_relay_.store(false, std::memory_order_release); }

 private:
  using Calls = std::vector<std::function<void()>>;
  // What this participant has of one topic.
  struct Local {
    std::vector<std::shared_ptr<Endpoint>> endpoints{};
    std::vector<std::weak_ptr<TopicCore>> topics{};
    [[nodiscard]] EndpointCounts counts() const;
  };

  explicit ParticipantCore(ParticipantOptions options);
  void apply(std::span<const Message> batch);
  void note_answer(const Message& message, const Directory::Answer& answer, Calls& calls);
  void note_want(const TopicKey& key, Calls& calls) const;
  void note_mismatch(MemberIndex sender, const Directory::Answer& answer, Calls& calls);
  void note_endpoints(MemberIndex participant, const TopicKey& key, EndpointCounts before,
                      Calls& calls);
  void greet(const TopicKey& key, Calls& calls);
  void note_view(const ViewChange& change);
  void note_logs(Calls& calls);
  [[nodiscard]] Result<void> load(const StatePiece& piece);
  [[nodiscard]] EndpointCounts counts_of(MemberIndex participant, const TopicKey& key) const;

  [[nodiscard]] Deadline deadline() const;
  [[nodiscard]] Result<void> resolve(Definition& definition) const;
  void announce(const std::shared_ptr<Bundle>& logged);
  /// Into the control group, behind what was to be sent later before.
  bool send_later(std::vector<std::byte> record);
  [[nodiscard]] Result<void> await_announcements(Deadline deadline);
  void finish_deletions();
  void finish_deletions(const std::shared_ptr<Bundle>& carrier);
  [[nodiscard]] bool lacks_deletion(const TopicKey& key, std::uint64_t view) const;
  [[nodiscard]] std::optional<Directory::Entry> known_as(std::string_view name) const;
  /// Until this participant has delivered all that any had when this was called.
  [[nodiscard]] Result<void> catch_up(Deadline deadline);
  [[nodiscard]] Result<Directory::Answer> ask(std::span<const std::byte> record, Deadline deadline);
  [[nodiscard]] Result<Directory::Answer> answer_of(Ticket ticket, Deadline deadline);
  [[nodiscard]] Result<std::shared_ptr<TopicCore>> join_topic(const TopicKey& key,
                                                              const Definition& definition,
                                                              TopicListener listener,
                                                              Deadline deadline);
  [[nodiscard]] Error refusal(const Definition& definition, const Directory::Answer& answer) const;
  [[nodiscard]] std::size_t endpoints_bytes(const TopicKey& key) const;
  Ticket commit_endpoints(const TopicKey& key, Claim&& claim);
  [[nodiscard]] std::string names_of(const Directory::Entry& entry) const;

  const ParticipantOptions options_;
  std::atomic<bool> has_relay_{false};
  std::string name_;
  std::optional<Group> control_;  // from create() on
  std::vector<std::shared_ptr<Bundle>> bundles_;

  mutable std::mutex mutex_;
  std::condition_variable announced_;  // a logged bundle was; or the participant ended
  bool ended_ = false;
  Directory directory_;
  bool overtaken_ = false;                       // PC6
  std::map<Ticket, Directory::Answer> answers_;  // to own records that somebody waits for
  std::map<TopicKey, Local> locals_;
  std::set<TopicKey> wanted_;                // asked for in this view (PC5)
  std::optional<std::uint64_t> first_view_;  // of this participant
  std::vector<std::byte> loading_;           // of a state, on the state thread
};

/// What stands behind a topic.
class TopicCore {
 public:
  TopicCore(std::shared_ptr<ParticipantCore> participant, std::shared_ptr<Bundle> bundle,
            std::shared_ptr<TopicState> topic, TopicKey key, TopicListener listener)
      : participant_(std::move(participant)),
        bundle_(std::move(bundle)),
        topic_(std::move(topic)),
        key_(std::move(key)),
        listener_(std::move(listener)) {}

  [[nodiscard]] ParticipantCore& participant() const { return *participant_; }
  [[nodiscard]] const std::shared_ptr<ParticipantCore>& owner() const { return participant_; }
  [[nodiscard]] const std::shared_ptr<Bundle>& bundle() const { return bundle_; }
  [[nodiscard]] const std::shared_ptr<TopicState>& topic() const { return topic_; }
  [[nodiscard]] const Definition& definition() const { return topic_->definition; }
  [[nodiscard]] const TopicKey& key() const { return key_; }
  [[nodiscard]] const TopicListener& listener() const { return listener_; }
  [[nodiscard]] Gate& gate() { return gate_; }  ///< of the listener

 private:
  const std::shared_ptr<ParticipantCore> participant_;
  const std::shared_ptr<Bundle> bundle_;
  const std::shared_ptr<TopicState> topic_;
  const TopicKey key_;
  const TopicListener listener_;
  Gate gate_;
};

}  // namespace tutti::dds
