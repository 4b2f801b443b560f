// The steps of a world, and how it ends.
#include "unit/relay/world.hpp"

#include "unit/relay/world_parts.hpp"

namespace tutti::relay::testing {

World::World(std::uint64_t seed, Mistake mistake) : random_(seed), mistake_(mistake) {
  sessions_max_ = 3 + random_.below(4);  // enough for the clients that live
  keep_last_ = 2 + random_.below(20);
  limits_.output_bytes_max = 2000;
  sequences_.resize(kBundles);
  deletes_ = !random_.one_in(3);
  names_ = first_topics();
  ids_ = {2, 1};
  for (std::uint32_t i = 0; i < 3; ++i) members_.push_back(std::make_unique<Member>(*this, i));
  clients_.resize(1 + random_.below(3));
  for (std::uint32_t i = 0; i < clients_.size(); ++i) new_client(i);
}

World::~World() = default;

void World::holds(bool property, const char* name, const std::string& what) {
  if (property || !wrong_.empty()) return;
  wrong_ = std::string(name) + ": " + what;
}

void World::note(const std::string& what) {
  notes_.push_back(what);
  if (notes_.size() > 60) notes_.pop_front();
}

std::string World::story() const {
  std::string all;
  for (const std::string& one : notes_) all += one + "\n";
  return all;
}

const World::Entry* World::entry(std::uint32_t bundle, std::uint64_t position) const {
  const auto& sequence = sequences_[bundle];
  if (position >= sequence.size() || !sequence[position].judged) return nullptr;
  return &sequence[position];
}

void World::new_client(std::uint32_t index) {
  if (clients_[index] != nullptr) disconnect(*clients_[index]);
  clients_[index] = std::make_unique<Client>(*this, ++clients_made_);
}

void World::connect(Client& client) {
  const auto member = static_cast<std::uint32_t>(random_.below(members_.size()));
  if (client.connection != nullptr || !members_[member]->runs) return;
  note("client " + std::to_string(client.id) + " connects to m" + std::to_string(member));
  client.hangs_up = false;
  client.connection = std::make_unique<Connection>(
      Connection{.member = member,
                 .conversation = std::make_unique<Conversation>(*members_[member], limits_)});
  client.machine.connected();
}

namespace {

// Whole frames, as the other end will read them.
void cut_into_frames(std::vector<std::byte>& output, std::deque<std::vector<std::byte>>& wire) {
  std::size_t at = 0;
  while (at < output.size()) {
    std::uint32_t length = 0;
    std::memcpy(&length, output.data() + at, sizeof length);
    const auto begin = output.begin() + static_cast<std::ptrdiff_t>(at);
    at += sizeof length + length;
    wire.emplace_back(begin, output.begin() + static_cast<std::ptrdiff_t>(at));
  }
  output.clear();
}

}  // namespace

// The relay reads what is on its way, and hears of it later.
void World::disconnect(Client& client) {
  if (client.connection == nullptr) return;
  note("client " + std::to_string(client.id) + " disconnects");
  if (random_.one_in(2)) cut_into_frames(client.machine.output(), client.connection->up);
  orphans_.push_back(std::move(client.connection));
  orphans_.back()->client_is_there = false;
  client.machine.disconnected();
}

void World::move_up(Connection& connection) {
  connection.conversation->pump();
  if (connection.up.empty() || !connection.conversation->may_receive()) return;
  const std::vector<std::byte> bytes = std::move(connection.up.front());
  connection.up.pop_front();
  auto frame = decode(std::span(bytes).subspan(4));
  if (!frame) return holds(false, "frames", "one that cannot be read");
  if (std::holds_alternative<Publish>(*frame) && !calm_) {
    if (random_.one_in(40)) return;  // as a relay that loses one would do
    if (random_.one_in(20)) connection.conversation->receive(*frame);
    if (!connection.conversation->may_receive()) return;
  }
  if (auto* const credit = std::get_if<Credit>(&*frame);
      credit != nullptr && mistake_ == Mistake::credit_ignored) {
    credit->samples += 3;
  }
  connection.conversation->receive(*frame);
}

void World::move_down(Client& client) {
  if (client.connection == nullptr) return;
  Connection& connection = *client.connection;
  if (random_.one_in(8)) client.consume();
  if (random_.one_in(32) && client.machine.unanswered() != 0) client.machine.ping();
  if (random_.one_in(8) && mistake_ != Mistake::never_asked_again) client.machine.ask_again();
  const std::size_t sent_before = connection.up.size();
  cut_into_frames(client.machine.output(), connection.up);
  if (mistake_ == Mistake::delivered_refused) note_sent(connection, sent_before);
  cut_into_frames(connection.conversation->output(), connection.down);
  if (!connection.down.empty()) {
    const std::vector<std::byte> bytes = std::move(connection.down.front());
    connection.down.pop_front();
    auto frame = decode(std::span(bytes).subspan(4));
    if (!frame) return holds(false, "frames", "one that cannot be read");
    if (auto* const refused = std::get_if<Refused>(&*frame)) {
      counts_.full += refused->code == Code::busy ? 1 : 0;
      if (mistake_ == Mistake::not_yet_means_gone && refused->code == Code::not_yet) {
        refused->code = Code::unknown_topic;
      }
    }
    if (auto* const published = std::get_if<relay::Published>(&*frame);
        published != nullptr && published->status == Status::delivered &&
        connection.empty.contains({published->nonce, published->request})) {
      published->status = Status::unfit;
    }
    const bool unheard =
        mistake_ == Mistake::go_back_ignored && std::holds_alternative<GoBack>(*frame);
    if (!unheard) client.machine.receive(*frame);
  }
  if (client.hangs_up || (connection.conversation->ended() && connection.down.empty())) {
    disconnect(client);
  }
}

void World::step() {
  const auto member = static_cast<std::uint32_t>(random_.below(members_.size()));
  const auto bundle = static_cast<std::uint32_t>(random_.below(kBundles));
  Client& client = *clients_[random_.below(clients_.size())];
  const std::uint64_t what = random_.below(1000);
  if (what < 200) return order_one(member, bundle);
  if (what < 450) return deliver_one(member, bundle);
  if (what < 650) return move_down(client);
  if (what < 830) {
    if (client.connection != nullptr) move_up(*client.connection);
    return;
  }
  if (what < 870) {
    if (orphans_.empty()) return;
    const std::size_t one = random_.below(orphans_.size());
    move_up(*orphans_[one]);
    if (orphans_[one]->up.empty() || random_.one_in(10)) {
      orphans_.erase(orphans_.begin() + static_cast<std::ptrdiff_t>(one));
    }
    return;
  }
  if (calm_) return connect(client);
  if (what < 948) return client.publish();
  if (what < 953) return client.subscribe();
  if (what < 955) return client.machine.find(kTopicNames[random_.below(std::size(kTopicNames))]);
  if (what < 978) return connect(client);
  if (what < 984) return disconnect(client);
  if (what < 988) return expire(member, bundle, random_.one_in(2));
  if (what < 991) return start(member);
  if (what < 993) return crash(member);
  if (what < 994) return restart_all();
  if (what < 995) return new_client(static_cast<std::uint32_t>(random_.below(clients_.size())));
  if (what < 998) return change_name();
  tend(member, bundle);
}

void World::run() {
  const std::uint64_t steps = 1000 + random_.below(4000);
  for (std::uint64_t i = 0; i < steps && wrong_.empty(); ++i) step();
  if (wrong_.empty()) settle();
}

bool World::is_settled() {
  for (std::uint32_t bundle = 0; bundle < kBundles; ++bundle) {
    for (std::uint32_t member = 0; member < members_.size(); ++member) {
      const Bundle& at = members_[member]->bundles[bundle];
      if (!at.outbox.empty() || at.at != sequences_[bundle].size()) return false;
      if (!is_tended(member, bundle)) return false;
    }
  }
  for (const auto& client : clients_) {
    if (client->connection == nullptr || client->machine.unanswered() != 0 ||
        client->machine.has_late()) {
      return false;
    }
    client->connection->conversation->pump();
    client->consume();
    if (!client->machine.output().empty() || !client->connection->up.empty() ||
        !client->connection->down.empty() || !client->connection->conversation->output().empty()) {
      return false;
    }
  }
  return true;
}

// Nothing fails any more, and each client begins with a new connection.
void World::settle() {
  calm_ = true;
  for (std::uint32_t member = 0; member < members_.size(); ++member) start(member);
  // A publish that was lost on its way is missed by those behind it, or by a new connection; so
  // that only the former helps here, none is made if the answer to a lost one is to be ignored.
  if (mistake_ != Mistake::go_back_ignored) {
    for (const auto& client : clients_) disconnect(*client);
  }
  for (std::uint64_t i = 0; i < 400'000 && wrong_.empty(); ++i) {
    step();
    if (i % 64 != 0) continue;
    for (std::uint32_t bundle = 0; bundle < kBundles; ++bundle) {
      expire(0, bundle, true);
      tend(0, bundle);
    }
    if (is_settled()) break;
  }
  if (!wrong_.empty()) return;
  holds(is_settled(), "progress", "not all was answered in the end");
  for (const auto& client : clients_) {
    holds(client->answers.size() == client->made, "progress", "an answer is missing");
    for (const auto& [publication, answer] : client->answers) {
      if (answer.status == Status::expired || refused_.contains(publication)) continue;
      const auto found = where_.find(publication);
      holds(found != where_.end() &&
                (answer.position == kNone || found->second.second == answer.position),
            "true answers", std::to_string(publication) + " in the end");
    }
    for (const auto& [number, one] : client->subscribers) {
      if (!one.begins || one.is_loose) continue;
      for (std::uint64_t at = one.next; at < sequences_[one.place.bundle].size(); ++at) {
        const Entry& there = sequences_[one.place.bundle][at];
        holds(!there.publication || there.topic != one.place.id, "progress",
              "client " + std::to_string(client->id) + " waits for " + std::to_string(at));
      }
    }
  }
}

}  // namespace tutti::relay::testing
