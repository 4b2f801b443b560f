/// \file bundle.hpp
/// A group that carries topics, at this participant: hands each sample to the readers of its topic.
///
/// Invariants:
///  BU1  The delivery thread reads a table of its own, which it takes over between two batches, or
///       when it changes the table itself: so a sample costs no lock unless somebody takes it.
///  BU2  After detach() has returned outside of callbacks, no callback of that reader runs or
///       begins.
///  BU3  What the table is, is a function of the sequence (BundleTopics), but for the readers; in
///       an unordered bundle, of the control group's sequence.
///  BU4  What becomes of a client's sample is decided by the session table where it is delivered,
///       and is so for all readers, also those that read it from the log later.
///  BU5  Nothing that an application gave (what its listeners have captured) is destroyed with the
///       mutex held: it may own other readers.
///  BU6  A delivery that waits for a reader's room (keep_all) holds up no detach(), and ends when
///       the bundle is closed or the topic deleted.
///  BU7  A run, samples of one topic that are next to each other in a batch, is handed to each
///       reader at once: so what a sample costs is looked up for the run. Nothing that changes the
///       table lies in a run.
///  BU8  Of one topic send_definition() has at most one record on its way, but for what others have
///       sent and ensure(). That serves all that ask meanwhile: a question is delivered once all
///       groups have delivered the views before (P3 in docs/protocol.md), so what is on its way
///       then is delivered in a view that has whoever asked.
///  BU9  What lies in a batch may be overwritten while it is read, if this participant was removed
///       meanwhile (Group::intact). So nothing of a record counts, in stores, topics or sessions,
///       before deliver() has asked after it had read it; then nothing more is delivered here.
///       Older samples of a store may have made room for one that is taken back. Listeners that are
///       handed samples in place ask themselves.
/// Threads: deliver(), load(), save() are the group's callbacks; the others any.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dds/bundle_topics.hpp"
#include "dds/record.hpp"
#include "dds/sessions.hpp"
#include "dds/topic_state.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/participant.hpp"
#include "tutti/dds/sample_batch.hpp"
#include "tutti/group.hpp"
#include "tutti/node.hpp"

namespace tutti::dds {

class ReaderCore;

/// Of a bundle: sessions of clients that are no members, at most.
inline constexpr std::size_t kSessionsMax = 4096;

class Bundle : public std::enable_shared_from_this<Bundle> {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Whether the name of a topic that is defined in a message of that view is free. Then those who
  /// would delete it may be gone, or some participants may have come behind its deletion. Called on
  /// the delivery thread.
  using LacksDeletion = std::function<bool(std::uint32_t id, std::uint64_t view)>;

  [[nodiscard]] static Result<std::shared_ptr<Bundle>> join(Node& node,
                                                            const BundleOptions& options,
                                                            LacksDeletion lacks_deletion);
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  [[nodiscard]] const BundleOptions& options() const { return options_; }
  [[nodiscard]] Group& group() { return *group_; }
  [[nodiscard]] const Group& group() const { return *group_; }
  [[nodiscard]] bool is_ordered() const { return options_.service != Service::unordered; }
  [[nodiscard]] bool is_member() const;
  [[nodiscard]] bool is_sender() const;
  /// A participant that joins takes over what the others have, and which topics were deleted.
  [[nodiscard]] bool has_state() const;
  /// Of a logged bundle: where its log is.
  [[nodiscard]] const std::string& log_directory() const { return log_directory_; }

  /// Null: not defined here.
  [[nodiscard]] std::shared_ptr<TopicState> find(std::uint32_t id) const;
  /// The topic of that id, or the next one; null: there is none.
  [[nodiscard]] std::shared_ptr<TopicState> find_from(std::uint32_t id) const;
  [[nodiscard]] BundleTopics topics() const;
  /// Returns once the topic is defined here; of a bundle with order it sends the definition if it
  /// has to.
  [[nodiscard]] Result<std::shared_ptr<TopicState>> ensure(std::uint32_t id,
                                                           const Definition& definition,
                                                           Deadline deadline);
  /// Of a bundle with order: sends the definition, for a participant that lacks it, if this one
  /// sends here, unless one of its own is on its way or the topic is deleted. A participant that
  /// has the definition takes no notice. Does not wait.
  void send_definition(std::uint32_t id, const Definition& definition);
  /// Sends the deletion of a topic whose name is free; unless `again`, only if it is not deleted
  /// here. Its definition may yet come: then it counts no more. Does not wait.
  void send_deletion(std::uint32_t id, bool again = false);
  /// Returns once the topic is deleted here.
  [[nodiscard]] Result<void> await_deletion(std::uint32_t id, Deadline deadline);
  /// Returns once all that is in the log before was delivered.
  [[nodiscard]] Result<void> await_replay(Deadline deadline);
  /// Calls `handler` once all that is in the log was delivered; not if the node ends before. Does
  /// not wait.
  void when_replayed(std::function<void()> handler);
  /// Of an unordered bundle: what the control group says.
  void define(std::uint32_t id, const Definition& definition);
  void remove(std::uint32_t id);

  /// The reader is handed what is delivered from now on.
  void attach(const std::shared_ptr<ReaderCore>& reader);
  /// BU2. Inside a callback of the node it does not wait.
  void detach(ReaderCore& reader);
  /// As detach(), but never waits: a callback of the reader may still run, so what it uses must
  /// outlive the reader.
  void detach_without_wait(ReaderCore& reader);
  /// Ends all readers. Idempotent.
  void close();
  /// The node ends: nothing waits for a reader any more, and readers hear of it. Idempotent.
  void end_with_node();
  [[nodiscard]] bool is_closed() const { return closed_.load(std::memory_order_acquire); }
  /// Every position before it was delivered here, at a moment between two batches.
  [[nodiscard]] std::uint64_t delivered_to() const {
    return delivered_to_.load(std::memory_order_acquire);
  }
  void add_to(ParticipantStatistics& statistics) const;

  using SessionWatcher = std::function<void(const SessionOutcome&)>;
  /// Called on the delivery thread for each record of a session; returns at once. Null: nobody is.
  /// No call of the one before runs once this has returned.
  void watch_sessions(SessionWatcher watcher);
  struct SessionUse {
    std::uint64_t number = 0, last = 0, touched = 0;
  };
  [[nodiscard]] std::vector<SessionUse> sessions() const;
  /// The record at that position is a client's sample that was not delivered.
  [[nodiscard]] bool is_refused(std::uint64_t position) const;
  /// Names the sequence: that of other founders of the group has another one. 0: nothing was
  /// delivered yet.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

 private:
  // A topic as the delivery thread sees it.
  struct Route {
    std::shared_ptr<TopicState> state;
    std::vector<std::shared_ptr<ReaderCore>> callers{};  // with on_sample or on_samples
    std::vector<std::shared_ptr<ReaderCore>> takers{};
    std::uint32_t in_place_bytes = 0;
    std::uint32_t alignment = 8;
    bool stores = false;
  };
  using Table = std::vector<std::shared_ptr<const Route>>;  // by id
  class Turn;
  struct Delivering;

  Bundle(BundleOptions options, LacksDeletion lacks_deletion)
      : options_(std::move(options)),
        lacks_deletion_(std::move(lacks_deletion)),
        topics_(options_.name) {}
  using Sent = std::function<void(Ticket)>;
  void send_later(const RecordHeader& header, std::vector<std::byte> payload, Sent sent);
  void deliver(std::span<const Message> batch);
  std::size_t deliver_next(std::span<const Message> batch);
  [[nodiscard]] const Route* route_of(const Record& sample);
  void deliver_samples(const Route& route, std::span<const Message> run, const Record& first);
  void store_samples(const Route& route, std::span<const Message> run, const ByteBatch& batch);
  void announce_newcomers(std::uint32_t id);
  [[nodiscard]] std::unique_lock<std::mutex> store_later(TopicState& topic,
                                                         const SampleStore::Arrival& arrival,
                                                         std::unique_lock<std::mutex> lock);
  void deliver_change(const Message& message);
  [[nodiscard]] bool is_overtaken(std::uint64_t read_to);
  void take_back(TopicState& topic, std::uint64_t first) const;
  void settle_change(const Message& message, BundleTopics::Change change);
  void deliver_session(const Message& message, const Record& record);
  void announce_touched();
  void refresh(std::uint64_t position);
  void greet(std::uint64_t position);
  // With mutex_. What drop_route() returns dies without it (BU5).
  void add_route(std::uint32_t id, const Definition& definition, std::uint64_t position);
  [[nodiscard]] std::shared_ptr<const Route> drop_route(std::uint32_t id, std::uint64_t position);
  void change_route(std::uint32_t id, Route route);
  void publish();
  [[nodiscard]] Result<void> save(const StateSink& write);
  [[nodiscard]] Result<void> load(const StatePiece& piece);
  [[nodiscard]] bool load_topics(std::span<const std::byte> bytes);

  const BundleOptions options_;
  const LacksDeletion lacks_deletion_;
  std::optional<Group> group_;  // from join() on
  std::string log_directory_;
  std::optional<Ticket> replay_mark_;  // of await_replay()

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a topic was defined or deleted
  BundleTopics topics_;
  Table table_;
  std::vector<std::byte> loading_;    // of a state, on the state thread
  std::set<std::uint32_t> defining_;  // topics (BU8)
  SessionTable sessions_{kSessionsMax};
  // Of a logged bundle: positions of clients' samples that were not delivered, rising. There are as
  // many as clients repeated samples.
  std::vector<std::uint64_t> refused_;

  std::atomic<std::uint64_t> version_{1};  // of table_
  std::atomic<std::uint64_t> turns_{0};    // odd: a batch is being delivered
  std::atomic<std::uint64_t> delivered_to_{0};
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<bool> closed_{false};
  std::atomic<bool> node_ended_{false};
  std::mutex watching_;
  SessionWatcher watcher_;  // `watching_`
  // Written by the delivery thread alone.
  std::atomic<std::uint64_t> samples_{0};
  std::atomic<std::uint64_t> unknown_{0};
  std::atomic<std::uint64_t> malformed_{0};
  std::atomic<std::uint64_t> reader_waits_{0};

  // The delivery thread's own.
  Table seen_;
  std::uint64_t seen_version_ = 0;
  std::vector<const Route*> touched_;
  bool refreshed_ = false;  // amid the batch: readers that came in it may be in seen_
  std::uint64_t batch_samples_ = 0;
  bool overtaken_ = false;       // BU9
  std::uint64_t intact_to_ = 0;  // what comes before was read as it was sent
};

}  // namespace tutti::dds
