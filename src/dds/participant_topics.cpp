// Topics: created, found, deleted.
#include <algorithm>
#include <utility>

#include "dds/participant_core.hpp"
#include "dds/waiting.hpp"

namespace tutti::dds {

namespace {

Error no_topic(std::string_view name) {
  return {ErrorCode::invalid_argument,
          "there is no topic '" + std::string(name) + "'; see DomainParticipant::topics"};
}

}  // namespace

// Names the bundle, and says what it does not offer.
Result<void> ParticipantCore::resolve(Definition& definition) const {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument, "topic '" + definition.name + "': " + what);
  };
  TopicOptions& options = definition.options;
  const std::string service(to_string(options.service));
  if (options.bundle.empty()) {
    const auto at = std::ranges::find(options_.bundles, options.service, &BundleOptions::service);
    if (at == options_.bundles.end()) {
      return refuse("no bundle has the service '" + service +
                    "'; add one to ParticipantOptions::bundles at all participants" +
                    (options.service == Service::logged ? ", with NodeOptions::state_dir" : ""));
    }
    options.bundle = at->name;
  }
  if (Result<void> valid = definition.validate(); !valid) return valid;
  const std::shared_ptr<Bundle> carrier = bundle(options.bundle);
  if (carrier == nullptr) {
    return refuse("there is no bundle '" + options.bundle +
                  "'; name one of ParticipantOptions::bundles");
  }
  const BundleOptions& bundle = carrier->options();
  if (bundle.service != options.service) {
    return refuse("its service is '" + service + "', but that of bundle '" + bundle.name +
                  "' is '" + std::string(to_string(bundle.service)) + "'");
  }
  if (options.history.kind == History::Kind::keep_all && bundle.delivery != DeliveryThread::own) {
    return refuse(
        "keep_all lets deliveries wait for readers, so it needs a bundle with delivery "
        "own; bundle '" +
        bundle.name + "' has predicate");
  }
  if (!carrier->is_member()) {
    return refuse("participant '" + name_ + "' is not among the members of bundle '" + bundle.name +
                  "'");
  }
  if (definition.type.alignment > bundle.alignment) {
    return refuse("its type is aligned to " + std::to_string(definition.type.alignment) +
                  " bytes, but bundle '" + bundle.name + "' to " +
                  std::to_string(bundle.alignment) + "; set BundleOptions::alignment");
  }
  const std::uint64_t most =
      std::uint64_t{definition.type.in_place_bytes} +
      payload_offset(definition.type.keyed ? kKeyedFlag : 0, definition.type.alignment);
  if (most > bundle.message_max_bytes) {
    return refuse("a sample takes " + std::to_string(most) + " bytes, but bundle '" + bundle.name +
                  "' carries at most " + std::to_string(bundle.message_max_bytes) +
                  "; set BundleOptions::message_max_bytes");
  }
  Encoder encoded;
  definition.encode(encoded);
  const std::uint64_t record = sizeof(RecordHeader) + encoded.written().size();
  if (carrier->is_ordered() && record > bundle.message_max_bytes) {
    return refuse("its definition with the description of its type takes " +
                  std::to_string(record) + " bytes, but bundle '" + bundle.name +
                  "' carries at most " + std::to_string(bundle.message_max_bytes) +
                  "; set BundleOptions::message_max_bytes");
  }
  return {};
}

Result<Directory::Answer> ParticipantCore::ask(std::span<const std::byte> record,
                                               Deadline deadline) {
  const Result<Ticket> sent = control_->send(record, time_until(deadline));
  if (!sent) return std::unexpected(sent.error());
  return answer_of(*sent, deadline);
}

Result<Directory::Answer> ParticipantCore::answer_of(Ticket ticket, Deadline deadline) {
  if (Result<void> done = control_->wait(ticket, time_until(deadline)); !done) {
    return std::unexpected(std::move(done.error()));
  }
  const std::lock_guard lock(mutex_);
  auto node = answers_.extract(ticket);
  if (node.empty() && overtaken_) {
    return fail(ErrorCode::stopped,
                "the other members have gone on without this one while it read what they had sent; "
                "nothing more is delivered here. Start this member again to join them");
  }
  if (node.empty()) return Directory::Answer{};
  return std::move(node.mapped());
}

Error ParticipantCore::refusal(const Definition& definition,
                               const Directory::Answer& answer) const {
  const std::string topic = "topic '" + definition.name + "': ";
  switch (answer.outcome) {
    case Directory::Outcome::mismatch: {
      const std::lock_guard lock(mutex_);
      const Directory::Entry* had = directory_.find(answer.key);
      const std::optional<Difference> differs =
          had != nullptr ? difference(had->definition, definition) : std::nullopt;
      return {ErrorCode::mismatch,
              topic + "it is there already, and differs: it has " +
                  (differs ? differs->had + ", and was asked for with " + differs->wanted
                           : "other options") +
                  ". Use the same everywhere, or another name"};
    }
    case Directory::Outcome::full:
      return {ErrorCode::invalid_argument,
              topic + "there are " + std::to_string(options_.topics_max) +
                  " topics already; delete some, or set ParticipantOptions::topics_max at all "
                  "participants"};
    case Directory::Outcome::not_yet:
      return {ErrorCode::timed_out,
              topic + "the topics of a log are not known yet; ask again later"};
    default:
      return {ErrorCode::mismatch, topic +
                                       "the participants do not understand each other; give all "
                                       "the same bundles and the same version of Tutti"};
  }
}

Result<std::shared_ptr<TopicCore>> ParticipantCore::create_topic(Definition definition,
                                                                 TopicListener listener) {
  if (Result<void> may = control_->may_wait("Topic::create"); !may) {
    return std::unexpected(std::move(may.error()));
  }
  if (Result<void> good = resolve(definition); !good) return std::unexpected(good.error());
  const Deadline until = deadline();
  if (Result<void> done = await_announcements(until); !done) return std::unexpected(done.error());
  Result<Directory::Answer> answer = ask(Directory::claim(definition, options_.topics_max), until);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const bool won = answer->outcome == Directory::Outcome::created ||
                   answer->outcome == Directory::Outcome::joined;
  if (!won) return std::unexpected(refusal(definition, *answer));
  return join_topic(answer->key, definition, std::move(listener), until);
}

// What this participant knows may be old: others may create or delete the topic before the claim is
// decided. The claim allows no new topic, so the directory answers with the topic that is there, or
// refuses. This participant judges a definition (resolve) only once the claim has joined it.
Result<std::shared_ptr<TopicCore>> ParticipantCore::find_topic(std::string_view name,
                                                               TopicListener listener) {
  if (Result<void> may = control_->may_wait("UntypedTopic::find"); !may) {
    return std::unexpected(std::move(may.error()));
  }
  const Deadline until = deadline();
  if (Result<void> done = await_announcements(until); !done) return std::unexpected(done.error());
  while (true) {
    std::optional<Directory::Entry> known = known_as(name);
    if (!known) {
      if (Result<void> done = catch_up(until); !done) return std::unexpected(done.error());
      known = known_as(name);
    }
    if (!known) return std::unexpected(no_topic(name));
    Definition& definition = known->definition;
    const Result<Directory::Answer> answer = ask(Directory::claim(definition, 0), until);
    if (!answer) return std::unexpected(answer.error());
    switch (answer->outcome) {
      case Directory::Outcome::joined:
        if (Result<void> good = resolve(definition); !good) return std::unexpected(good.error());
        return join_topic(answer->key, definition, std::move(listener), until);
      case Directory::Outcome::full:      // it was deleted meanwhile
      case Directory::Outcome::mismatch:  // and created anew
        break;
      default:
        return std::unexpected(refusal(definition, *answer));
    }
  }
}

std::optional<Directory::Entry> ParticipantCore::known_as(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const Directory::Entry* const there = directory_.find(name);
  return there == nullptr ? std::nullopt : std::optional(*there);
}

// PC7.
Result<void> ParticipantCore::catch_up(Deadline deadline) {
  if (const auto came_back = ask(Directory::mark(), deadline); !came_back) {
    return std::unexpected(came_back.error());
  }
  return {};
}

Result<std::shared_ptr<TopicCore>> ParticipantCore::join_topic(const TopicKey& key,
                                                               const Definition& definition,
                                                               TopicListener listener,
                                                               Deadline deadline) {
  std::shared_ptr<Bundle> carrier = bundle(key.bundle);
  if (carrier == nullptr || !carrier->is_member()) {
    return fail(ErrorCode::invalid_argument, "topic '" + definition.name + "': participant '" +
                                                 name_ + "' is not among the members of bundle '" +
                                                 key.bundle + "'");
  }
  if (!carrier->is_sender() && carrier->find(key.id) == nullptr) define(key);
  Result<std::shared_ptr<TopicState>> topic = carrier->ensure(key.id, definition, deadline);
  if (!topic) return std::unexpected(std::move(topic.error()));
  auto core = std::make_shared<TopicCore>(shared_from_this(), std::move(carrier), std::move(*topic),
                                          key, std::move(listener));
  const std::lock_guard lock(mutex_);
  auto& topics = locals_[key].topics;
  std::erase_if(topics, [](const auto& each) { return each.expired(); });
  topics.push_back(core);
  return core;
}

Result<void> ParticipantCore::delete_topic(std::string_view name) {
  if (Result<void> may = control_->may_wait("DomainParticipant::delete_topic"); !may) return may;
  const Deadline until = deadline();
  if (Result<void> done = await_announcements(until); !done) return done;
  // First: it may have been deleted, and created again.
  if (Result<void> done = catch_up(until); !done) return done;
  const std::optional<Directory::Entry> known = known_as(name);
  if (!known) return std::unexpected(no_topic(name));
  const std::string topic = "topic '" + std::string(name) + "': ";
  const TopicKey& key = known->key;
  const std::shared_ptr<Bundle> carrier = bundle(key.bundle);
  if (carrier->is_ordered() && !carrier->is_sender()) {
    return fail(ErrorCode::invalid_argument, topic + "participant '" + name_ +
                                                 "' is not among the senders of bundle '" +
                                                 key.bundle + "': let one of these delete it");
  }
  const Result<Directory::Answer> answer = ask(Directory::release(key), until);
  if (!answer) return std::unexpected(answer.error());
  if (answer->outcome == Directory::Outcome::in_use) {
    const std::lock_guard lock(mutex_);
    const Directory::Entry* entry = directory_.find(key);
    return fail(ErrorCode::invalid_argument,
                topic + "it has readers or writers: " + (entry != nullptr ? names_of(*entry) : "") +
                    "; destroy these first");
  }
  if (answer->outcome != Directory::Outcome::released) {
    return fail(ErrorCode::invalid_argument, topic + "another participant has deleted it");
  }
  if (!carrier->is_ordered()) return {};
  return carrier->await_deletion(key.id, until);
}

std::string ParticipantCore::names_of(const Directory::Entry& entry) const {
  std::string names;
  for (const auto& [participant, counts] : entry.endpoints) {
    if (!names.empty()) names += ", ";
    names += std::string(control_->name_of(MemberIndex{participant})) + " (" +
             std::to_string(counts.readers) + " readers, " + std::to_string(counts.writers) +
             " writers)";
  }
  return names;
}

}  // namespace tutti::dds
