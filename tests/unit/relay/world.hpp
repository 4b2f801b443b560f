/// \file world.hpp
/// Members with session tables, relays and clients, all in virtual steps that a seed chooses. A
/// bundle is a total order of records, which each member delivers at its own pace; the session
/// table, the relays' conversations and the clients' machines are the real ones. Members crash and
/// come back, with the state of another or, all of them, from the log; connections break at any
/// frame; clients move, repeat, crash; sessions expire. In most worlds topics are deleted and
/// created again: first all know whose the name is, later a record in the bundle deletes or defines
/// the topic. After each step the properties hold:
///
///  exactly once   no publication is delivered twice
///  order          a client's publications are delivered in the order in which it made them
///  same tables    members that have delivered the same records have the same session table
///  true answers   what a client was told stands in the sequence, also after restarts; what was
///                 refused is never delivered, and nothing is refused while no topic was deleted
///  honest gaps    a subscriber gets each sample of its topic once, or hears that it is gone
///  no end unasked sessions end only by records; no frame is malformed
/// In the end, once nothing fails any more: each publication has an answer, each subscriber all.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "client/machine.hpp"
#include "dds/sessions.hpp"
#include "relay/conversation.hpp"

namespace tutti::relay::testing {

enum class Mistake : std::uint8_t {
  none,
  table_not_in_state,    ///< a joiner begins with an empty session table
  history_not_in_state,  ///< a joiner begins with no samples and says that it has all
  replay_skips_expiry,   ///< a restart from the log does not repeat that sessions expired
  expiry_by_clock,       ///< a member ends a session without a record
  ack_before_delivery,   ///< a relay answers a publish once it is posted
  higher_delivered,      ///< a request is delivered though earlier ones are missing
  duplicate_delivered,   ///< a request is delivered again
  expired_taken_as_new,  ///< a sample of no session is delivered
  duplicate_misplaced,   ///< a repeated request is answered with the position of the repeat
  ack_of_another,        ///< a relay answers the next request
  resume_off_by_one,     ///< a subscription begins one position too late
  gap_not_told,          ///< a subscription leaves out what is gone
  go_back_ignored,       ///< the client does not hear that it shall go back
  credit_ignored,        ///< a relay sends more than it got credit for
  not_yet_means_gone,    ///< the client hears that there is no topic where it is to ask again
  never_asked_again,     ///< the client does not ask again
  delivered_refused,     ///< the client takes for refused what was delivered, if it had repeated it
                         ///< without bytes
  dropped_delivered,     ///< a relay says delivered of a sample whose topic was deleted before
  deleted_not_in_state,  ///< a joiner does not know which topics were deleted
};

class World {
 public:
  World(std::uint64_t seed, Mistake mistake);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run();
  /// The first property that did not hold; empty if all did.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::string story() const;

  struct Counts {
    std::size_t delivered = 0, duplicates = 0, went_back = 0, expired = 0, gaps = 0, samples = 0,
                crashes = 0, restarts = 0, full = 0, no_space = 0, unknown = 0, not_yet = 0,
                released = 0, created = 0, refused = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Entry {  // of a bundle's sequence
    std::vector<std::byte> record{};
    std::uint32_t member = 0;
    bool judged = false;                         // some member has delivered it
    std::optional<std::uint64_t> publication{};  // that was delivered here
    std::uint32_t topic = 0;
    dds::SessionTable after{0};
  };
  struct History {  // of a topic, at a member
    std::uint64_t whole_from = 0;
    std::map<std::uint64_t, std::vector<std::byte>> samples{};
  };
  struct Bundle {  // at a member
    std::uint64_t at = 0;
    dds::SessionTable table{0};
    std::set<std::uint32_t> defined{}, deleted{};  // topics, by id
    std::map<std::uint32_t, History> histories{};
    std::deque<std::vector<std::byte>> outbox{};
    std::deque<std::weak_ptr<Queued>> queued{};  // behind a full outbox
  };
  class Member;
  class FakeCursor;
  struct Connection {
    std::uint32_t member = 0;
    std::unique_ptr<Conversation> conversation{};
    std::deque<std::vector<std::byte>> up{}, down{};  // frames on their way
    // Sent without bytes, by nonce and request.
    std::set<std::pair<std::uint64_t, std::uint64_t>> empty{};
    bool client_is_there = true;
  };
  struct Subscriber {
    std::string topic{};
    TopicPlace place{};
    bool is_loose =
        false;  // its topic has lost its name: it may end, and goes on with the next one
    std::optional<std::uint64_t> begins{};
    std::uint64_t next = 0;  // all before it was given or told
    std::uint32_t held = 0;  // not consumed yet
  };
  class Client;

  void holds(bool property, const char* name, const std::string& what);
  void note(const std::string& what);
  void step();
  void settle();
  [[nodiscard]] bool is_settled();
  void change_name();
  void tend(std::uint32_t member, std::uint32_t bundle);
  void send_change(std::uint32_t member, TopicPlace place, dds::RecordKind kind);
  bool deliver_change(Bundle& at, std::span<const std::byte> record);
  [[nodiscard]] bool is_tended(std::uint32_t member, std::uint32_t bundle) const;
  [[nodiscard]] std::optional<TopicPlace> named(const std::string& name) const;
  [[nodiscard]] bool has_released(std::uint32_t bundle) const;
  void note_sent(Connection& connection, std::size_t from) const;
  void order_one(std::uint32_t member, std::uint32_t bundle);
  void deliver_one(std::uint32_t member, std::uint32_t bundle);
  dds::SessionOutcome spoil(dds::SessionOutcome outcome, std::uint64_t position);
  void judge(std::uint32_t bundle, std::uint64_t position, const dds::SessionOutcome& outcome,
             const dds::SessionRecord& record);
  void tell(std::uint32_t member, std::uint32_t bundle, const dds::SessionOutcome& outcome);
  void crash(std::uint32_t member);
  void start(std::uint32_t member);
  void restart_all();
  void expire(std::uint32_t member, std::uint32_t bundle, bool if_full);
  void connect(Client& client);
  void disconnect(Client& client);
  void move_up(Connection& connection);
  void move_down(Client& client);
  void new_client(std::uint32_t index);
  void drop_connections_of(std::uint32_t member);
  [[nodiscard]] const Entry* entry(std::uint32_t bundle, std::uint64_t position) const;

  Prng random_;
  const Mistake mistake_;
  ConversationLimits limits_{};
  std::size_t sessions_max_ = 0;
  std::size_t keep_last_ = 0;
  bool calm_ = false;
  std::vector<std::vector<Entry>> sequences_{};  // by bundle
  std::vector<std::unique_ptr<Member>> members_{};
  std::vector<std::unique_ptr<Client>> clients_{};
  std::vector<std::unique_ptr<Connection>> orphans_{};  // their clients have gone
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> where_{};   // publications
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> newest_{};  // of client, bundle
  std::set<std::uint64_t> ended_{};  // clients of which a session was ended by a record
  bool deletes_ = false;
  std::map<std::string, TopicPlace> names_{};
  std::set<TopicPlace> released_{};    // topics that have no name any more
  std::vector<std::uint32_t> ids_{};   // by bundle: of the next topic
  std::set<std::uint64_t> refused_{};  // publications
  std::uint64_t clients_made_ = 0;
  std::uint64_t nonces_ = 0;
  Counts counts_{};
  std::deque<std::string> notes_{};
  std::string wrong_{};
};

}  // namespace tutti::relay::testing
