/// \file world.hpp
/// Several participants with topics, writers and readers on a simulated cluster, in steps that a
/// seed chooses. The participants are the library's, as it is linked: directory, bundles, topics,
/// stores, readers, writers. Below them is a Cluster, beside each of them a Model; applications
/// create, find, delete, read and write on threads that wait in the middle of a call. Members
/// crash, leave, join with a state or with their logs, and come again, also after all have stopped.
/// Deliveries stop in the middle of a batch, where a listener takes long or a reader of keep_all
/// does not take; some never do. The properties:
///
///  one directory      at each place of the control group all see the same topics and endpoints
///  same state         members that save between the same two views save the same bytes; so does
///                     a joiner at once after it has loaded them
///  true answers       a call that creates, finds or deletes says what its place in the sequence
///                     means; another type or other options are refused always, equal ones never
///  one order          what a reader is given is what the sequence has there: the same for all
///  all of it          no reader loses a sample of a logged topic, nor of one with keep_all; and no
///                     more are kept for a reader than the options allow, so deliveries wait
///  exactly once       each sample of a topic once, or counted as lost; no sample of another topic,
///                     or of an earlier one of that name; in the order in which its writer wrote
///  history            a reader finds what the topic's options keep, whenever its participant came
///  honest losses      no sample is counted as lost that was there, and none is left out uncounted
///  told               a reader is told of each batch that has something for it
///  acknowledged       what a writer hears of is delivered, and in the sequence for good
///  a prefix           a member that the others removed while it read a batch, whose space they use
///                     again, is given nothing but what was sent, and sees a directory that there
///                     was; but listeners that are called in place see what lies there
///  clean end          once all is quiet: no delivery waits, endpoints and matches are true, no
///                     topic is left whose name is free, all is taken, every topic is usable
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "domain/cluster.hpp"
#include "domain/model.hpp"
#include "sim/fiber.hpp"
#include "tutti/dds.hpp"

namespace tutti::domain {

struct WorldTopic;
struct WorldReader;
struct WorldWriter;

class World final : public ClusterEvents {
 public:
  explicit World(std::uint64_t seed);
  ~World() override;
  void run();
  /// The first property that did not hold; empty if all did.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::string story() const;

  struct Counts {
    std::size_t created = 0, joined = 0, refused = 0, deleted = 0, in_use = 0, written = 0,
                taken = 0, called = 0, lost = 0, crashes = 0, leaves = 0, joins = 0, history = 0,
                timed_out = 0, full = 0, clients = 0, acknowledged = 0, finished = 0, restarts = 0,
                waits = 0, amid = 0, from_log = 0, overtaken = 0, given_late = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // ClusterEvents.
  void delivering(NodeCore& node, GroupCore& group, const Message& message) override;
  void delivered(NodeCore& node, GroupCore& group) override;
  void entering(NodeCore& node, const View& view, bool joins) override;
  void entered(NodeCore& node) override;
  bool pause(const std::function<bool()>& holds, std::uint64_t until_ns) override;
  [[nodiscard]] bool is_in_callback() const override { return running_ == nullptr && calling_; }
  void committed(GroupCore& group, Ticket ticket, std::span<const std::byte> bytes) override;
  void wrong(const std::string& property, const std::string& what) override;

 private:
  // A thread of an application.
  struct Thread {
    sim::Fiber fiber{};
    bool busy = false;
    std::function<bool()> holds{};  // what it waits for
    std::uint64_t until_ns = 0;
    std::optional<Ticket> asked{};  // its newest record in the control group
    bool makes_reader = false;
  };
  struct Member;
  using MemberPtr = std::shared_ptr<Member>;
  using Outcome = ModelDirectory::Outcome;
  // What a reader may take next; `maybe`: or not, for it came in the middle of a batch.
  struct Expected {
    const ModelSample* sample;
    bool maybe;
  };
  struct Client {
    std::uint64_t id = 0;
    std::uint64_t nonce = 0;
  };

  // world.cpp
  void holds(bool it_does, const std::string& property, const std::string& what);
  void note(const std::string& what);
  void choose_topics();
  [[nodiscard]] dds::ParticipantOptions participant_options() const;
  [[nodiscard]] MemberPtr make(std::size_t slot);
  void step();
  void fault();
  [[nodiscard]] bool may_lose_one() const;
  void crash_the_doomed();
  void restart();
  void found();
  void change_view();
  void overtake(Member& member);
  void judge_prefix(Member& member, WorldReader& reader, const dds::LoanedBytes& taken);
  [[nodiscard]] static bool is_overtaken(const Member& member);
  [[nodiscard]] std::string seen_by(const Member& member) const;
  void crash(const MemberPtr& member);
  void retire(Member& member);
  void settle();
  bool quieten(std::size_t steps);
  // world_threads.cpp
  void start(Member& member, std::function<void()> act, bool makes_reader = false);
  bool resume(Member& member, Thread& thread);
  void act(const MemberPtr& member);
  void finish_threads(Member& member);
  void end_readers(Member& member);
  void take_for_others(Member& member);
  [[nodiscard]] std::optional<Outcome> answer(const Member& member);
  // world_topics.cpp
  void create_topic(Member& member, std::size_t name, std::size_t variant);
  void find_topic(Member& member, std::size_t name);
  [[nodiscard]] std::optional<Key> newest(std::size_t name) const;
  void judge_none(const Member& member, std::size_t name, const std::optional<Key>& before,
                  const Error& error);
  void judge_topic(Member& member, std::size_t name, const Result<dds::UntypedTopic>& topic);
  void delete_topic(Member& member, std::size_t name);
  // world_endpoints.cpp
  void create_writer(Member& member, std::shared_ptr<WorldTopic> topic);
  void write(Member& member, const std::shared_ptr<WorldWriter>& writer);
  void acknowledge(Member& member, const std::shared_ptr<WorldWriter>& writer);
  void post_of_client(Member& member, const std::shared_ptr<WorldWriter>& writer);
  [[nodiscard]] Bytes payload_of(const WorldTopic& topic, std::uint64_t writer,
                                 std::uint64_t count);
  // world_readers.cpp
  std::shared_ptr<WorldReader> create_reader(Member& member, std::shared_ptr<WorldTopic> topic,
                                             bool called, dds::From from);
  void begin(Member& member, WorldReader& reader);
  void take(Member& member, WorldReader& reader, std::size_t most);
  void called(Member& member, WorldReader& reader, std::span<const std::byte> payload,
              const dds::SampleInfo& info);
  void judge_sample(Member& member, WorldReader& reader, const ModelSample& expected,
                    std::span<const std::byte> payload, const dds::SampleInfo& info);
  void judge_lost(Member& member, WorldReader& reader, const ModelTopic& topic,
                  const dds::SampleInfo& info);
  [[nodiscard]] std::vector<Expected> expected(Member& member, const WorldReader& reader,
                                               std::uint64_t until);
  [[nodiscard]] bool has_something(Member& member, const WorldReader& reader, std::uint64_t until);
  void judge_unread(Member& member, const WorldReader& reader);
  // world_end.cpp
  void look_at_all(Member& member);
  void check_end(Member& member);
  [[nodiscard]] bool has_first_sender() const;

  const std::uint64_t seed_;
  Prng random_;
  std::vector<std::string> names_{};
  std::vector<std::string> topic_names_{};
  std::vector<std::vector<dds::Definition>> definitions_{};  // by name and variant
  bool ages_ = false;
  bool logs_ = false;                   // there are topics that are logged
  bool keeps_all_ = false;              // and such with keep_all
  std::vector<std::uint64_t> disks_{};  // by slot: how many were lost
  std::uint64_t timeout_ns_ = 0;
  std::uint64_t window_ = 4;
  std::unique_ptr<Cluster> cluster_{};
  std::vector<MemberPtr> members_{};        // by slot; null: none runs there
  std::map<std::uint64_t, Model> given_{};  // by view: what joiners take over
  std::map<std::pair<std::uint64_t, std::uint64_t>, Outcome> answers_{};  // incarnation, ticket
  std::vector<Client> clients_{};
  Prng overtaking_;                         // of its own: without it all worlds are the same
  std::vector<std::string> directories_{};  // of a member that is being overtaken
  MemberPtr doomed_{};                      // it crashes now
  std::size_t all_stop_in_ = 0;             // steps; 0: they do not
  Thread* running_ = nullptr;
  bool calling_ = false;  // a callback of a node
  bool calm_ = false;
  std::uint64_t numbers_ = 0;  // of samples
  std::uint64_t writers_ = 0;
  std::string wrong_{};
  std::vector<std::string> notes_{};
  Counts counts_{};
};

}  // namespace tutti::domain
