// Clients, and the properties that they see.
#include "unit/relay/world_parts.hpp"

namespace tutti::relay::testing {

using std::to_string;

World::Client::Client(World& world, std::uint64_t client)
    : id(client),
      machine(
          {.high = client, .low = 1, .name = "client"}, [&world] { return ++world.nonces_; },
          *this),
      world_(world) {
  for (const char* const name : kTopicNames) machine.find(name);
}

void World::Client::publish() {
  const std::string topic = kTopicNames[world_.random_.below(std::size(kTopicNames))];
  const TopicInfo* const info = machine.topic(topic);
  if (info == nullptr || machine.unanswered() > 80) return;
  const std::uint64_t publication = (id << 32) + ++made;
  bundles_of[publication] = place_of(*info).bundle;
  machine.publish(topic, publication, 0, std::as_bytes(std::span(&publication, 1)));
}

void World::Client::subscribe() {
  const std::string topic = kTopicNames[world_.random_.below(std::size(kTopicNames))];
  const TopicInfo* const info = machine.topic(topic);
  if (info == nullptr || subscribers.size() > 3) return;
  const std::uint32_t number = ++subscribed;
  const TopicPlace place = place_of(*info);
  subscribers[number] = {.topic = topic, .place = place, .is_loose = world_.named(topic) != place};
  switch (world_.random_.below(3)) {
    case 0:
      return machine.subscribe(number, topic, From::now, 0, 0, 4);
    case 1:
      return machine.subscribe(number, topic, From::stored, 0, 0, 4);
    default:
      subscribers[number].begins = 0;
      machine.subscribe(number, topic, From::position, 0, epoch_of(place.bundle), 4);
  }
}

void World::Client::consume() {
  for (auto& [number, one] : subscribers) machine.consumed(number, std::exchange(one.held, 0));
}

void World::Client::on_answer(std::uint64_t publication, const client::Answer& answer) {
  world_.holds(answers.emplace(publication, answer).second, "one answer",
               to_string(publication) + " has two");
  const std::uint32_t bundle = bundles_of.at(publication);
  const Entry* const there = world_.entry(bundle, answer.position);
  const std::string what =
      to_string(publication) + " at " + to_string(answer.position) + " of " + to_string(bundle);
  if (!answer.refused.empty() || answer.status == Status::unfit) {
    ++world_.counts_.refused;
    world_.refused_.insert(publication);
    world_.holds(!world_.where_.contains(publication), "true answers",
                 to_string(publication) + " was delivered, and refused");
    return world_.holds(!world_.released_.empty(), "true answers",
                        to_string(publication) + " was refused, and its topic is there");
  }
  switch (answer.status) {
    case Status::duplicate:
      ++world_.counts_.duplicates;
      [[fallthrough]];
    case Status::delivered:
      return world_.holds(there != nullptr && there->publication == publication, "true answers",
                          what);
    case Status::expired:
      ++world_.counts_.unknown;
      // Of a bundle without topics nothing can be asked any more.
      return world_.holds(world_.ended_.contains(id) || world_.has_released(bundle),
                          "no end unasked", what);
    case Status::sent:
    case Status::unfit:
      return world_.holds(false, "true answers", "sent");
  }
}

// All samples of the topic there, but for `to` itself, were given or told before.
void World::Client::covered(std::uint32_t subscription, std::uint64_t from, std::uint64_t to) {
  const Subscriber& one = subscribers[subscription];
  for (std::uint64_t position = from; position < to; ++position) {
    const Entry* const there = world_.entry(one.place.bundle, position);
    world_.holds(
        there == nullptr || !there->publication || there->topic != one.place.id, "honest gaps",
        "client " + to_string(id) + " never got " + to_string(position) + " of " + one.topic);
  }
}

void World::Client::on_sample(std::uint32_t subscription, const Sample& sample) {
  Subscriber& one = subscribers[subscription];
  ++world_.counts_.samples;
  ++one.held;
  if (one.is_loose) {
    const auto where = world_.where_.find(number_in(sample.bytes));
    return world_.holds(where != world_.where_.end() && where->second.second == sample.position,
                        "samples", "never delivered at " + to_string(sample.position));
  }
  const Entry* const there = world_.entry(one.place.bundle, sample.position);
  world_.holds(there != nullptr && there->publication == number_in(sample.bytes) &&
                   there->topic == one.place.id,
               "samples", "not what was delivered at " + to_string(sample.position));
  if (!one.begins) one.begins = one.next = sample.position;
  world_.holds(sample.position >= one.next, "honest gaps", "twice " + to_string(sample.position));
  covered(subscription, one.next, sample.position);
  one.next = sample.position + 1;
}

void World::Client::on_gap(std::uint32_t subscription, std::uint64_t from, std::uint64_t to) {
  Subscriber& one = subscribers[subscription];
  if (one.is_loose) return;
  world_.holds(to != kNone, "honest gaps", "another epoch");
  if (one.begins) {
    world_.holds(from >= one.next && to > from, "honest gaps", "told for what was given");
    covered(subscription, one.next, from);
  }
  one.begins = one.begins.value_or(from);
  one.next = to;
  ++world_.counts_.gaps;
}

void World::Client::on_ended(std::uint32_t subscription, const std::string& why) {
  world_.holds(subscribers[subscription].is_loose, "no end unasked", "a subscription: " + why);
  subscribers.erase(subscription);
}

void World::Client::on_bye(Code code, const std::string& text) {
  world_.holds(code != Code::malformed, "no end unasked", text);
  hangs_up = true;
}

void World::judge(std::uint32_t bundle, std::uint64_t position, const dds::SessionOutcome& outcome,
                  const dds::SessionRecord& record) {
  using enum dds::SessionStatus;
  Entry& entry = sequences_[bundle][position];
  std::optional<std::uint64_t> publication;
  if (const auto* const sample = std::get_if<dds::ClientSample>(&record)) {
    const bool has_topic = !outcome.dropped && sample->topic != dds::kNoTopic;
    if (outcome.status == delivered && has_topic) publication = number_in(sample->payload);
    if (!entry.judged) entry.topic = sample->topic;
  }
  if (entry.judged) {
    return holds(entry.publication == publication, "same deliveries", to_string(position));
  }
  entry.publication = publication;
  if (outcome.status == go_back) ++counts_.went_back;
  if (outcome.status == expired && std::holds_alternative<dds::SessionExpire>(record)) {
    ++counts_.expired;
    ended_.insert(outcome.client.high);
  }
  if (!publication) return;
  ++counts_.delivered;
  holds(!refused_.contains(*publication), "true answers",
        to_string(*publication) + " was refused, and is delivered");
  holds(where_.emplace(*publication, std::pair(bundle, position)).second, "exactly once",
        to_string(*publication) + " again at " + to_string(position));
  std::uint64_t& newest = newest_[{*publication >> 32, bundle}];
  holds(*publication > newest, "order", to_string(*publication) + " behind " + to_string(newest));
  newest = *publication;
}

}  // namespace tutti::relay::testing
