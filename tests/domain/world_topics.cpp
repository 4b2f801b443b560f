// Topics: created, found, deleted.
#include "domain/world_parts.hpp"

namespace tutti::domain {

namespace {

bool says_none(const Error& error) { return error.message.starts_with("there is no topic"); }

}  // namespace

void World::create_topic(Member& member, std::size_t name, std::size_t variant) {
  const dds::Definition& wanted = definitions_[name][variant];
  Result<dds::UntypedTopic> topic =
      dds::UntypedTopic::create(*member.participant, wanted.name, wanted.type, wanted.options);
  judge_topic(member, name, topic);
  const std::optional<Outcome> said = answer(member);
  if (!topic) return;
  const bool same = topic->type() == wanted.type && topic->options() == wanted.options;
  holds(same, "true answers", member.name() + " got another topic than it asked for");
  if (said) {
    member.topics.push_back(
        std::make_shared<WorldTopic>(WorldTopic{std::move(*topic), name, said->key, wanted}));
  }
}

void World::find_topic(Member& member, std::size_t name) {
  const std::optional<Key> before = newest(name);
  Result<dds::UntypedTopic> topic =
      dds::UntypedTopic::find(*member.participant, topic_names_[name]);
  judge_topic(member, name, topic);
  if (!topic) {
    const ErrorCode code = topic.error().code;
    const bool in_vain = code == ErrorCode::timed_out || code == ErrorCode::stopped;
    // What it asks for is looked at once the claim is decided, whatever was known here before.
    holds(answer(member) || in_vain || says_none(topic.error()), "true answers",
          member.name() + " asked nobody: " + topic.error().message);
    return judge_none(member, name, before, topic.error());
  }
  const std::optional<Outcome> said = answer(member);
  if (!said) return;
  holds(said->answer == Answer::joined, "true answers",
        member.name() + " found what was not there");
  const dds::Definition found{topic_names_[name], topic->type(), topic->options()};
  member.topics.push_back(
      std::make_shared<WorldTopic>(WorldTopic{std::move(*topic), name, said->key, found}));
}

// The topic of that name at the participant that has come farthest, of those that know one.
std::optional<Key> World::newest(std::size_t name) const {
  std::optional<Key> key;
  std::uint64_t most = 0;
  for (const MemberPtr& member : members_) {
    if (member == nullptr || member->node->entered == 0) continue;
    std::uint64_t given = 0;
    for (const auto& [bundle, last] : member->model.directory.next) given += last;
    if (given < most) continue;
    const auto there = member->model.directory.topics.find(topic_names_[name]);
    if (there == member->model.directory.topics.end()) continue;
    most = given;
    key = there->second.key;
  }
  return key;
}

// A participant that says that there is no topic has delivered the creation of the one that another
// participant knew when the call began, and its deletion.
void World::judge_none(const Member& member, std::size_t name, const std::optional<Key>& before,
                       const Error& error) {
  if (!before || !says_none(error)) return;
  const ModelDirectory& directory = member.model.directory;
  const auto there = directory.topics.find(topic_names_[name]);
  const bool is_there = there != directory.topics.end() && there->second.key == *before;
  holds(directory.has_come_to(*before) && !is_there, "true answers",
        member.name() + " does not know of " + topic_names_[name]);
}

void World::judge_topic(Member& member, std::size_t name, const Result<dds::UntypedTopic>& topic) {
  const std::optional<Outcome> said = answer(member);
  const std::string what = member.name() + " and " + topic_names_[name] +
                           (topic ? std::string() : ": " + topic.error().message);
  if (!topic) note(what);
  if (!said) return holds(!topic, "true answers", what + " without a claim");
  const bool is_there = said->answer == Answer::created || said->answer == Answer::joined;
  if (topic) {
    ++(said->answer == Answer::created ? counts_.created : counts_.joined);
    return holds(is_there, "true answers", what + " was refused in the sequence");
  }
  const ErrorCode code = topic.error().code;
  if (said->answer == Answer::mismatch) {
    ++counts_.refused;
    return holds(
        code == ErrorCode::mismatch || code == ErrorCode::stopped || code == ErrorCode::timed_out,
        "true answers", what);
  }
  if (code == ErrorCode::timed_out) ++counts_.timed_out;
  const bool in_vain = code == ErrorCode::timed_out || code == ErrorCode::stopped;
  // What is found may be in a bundle of which this participant is no member.
  const bool refused =
      code == ErrorCode::invalid_argument && (!is_there || !member.group_of(said->key).is_member());
  holds(in_vain || refused, "true answers", what);
}

void World::delete_topic(Member& member, std::size_t name) {
  const std::optional<Key> before = newest(name);
  const Result<void> deleted = member.participant->delete_topic(topic_names_[name]);
  if (!deleted) judge_none(member, name, before, deleted.error());
  const std::optional<Outcome> said = answer(member);
  const std::string what = member.name() + " and " + topic_names_[name] +
                           (deleted ? std::string() : ": " + deleted.error().message);
  if (!said) return holds(!deleted, "true answers", what + " deleted without a record");
  if (deleted) {
    ++counts_.deleted;
    return holds(said->answer == Answer::released, "true answers", what + " deleted, but was not");
  }
  const ErrorCode code = deleted.error().code;
  if (said->answer == Answer::unknown && before && code == ErrorCode::invalid_argument) {
    const auto there = member.model.directory.topics.find(topic_names_[name]);
    const bool lasts = there != member.model.directory.topics.end() && there->second.key == *before;
    holds(!lasts, "true answers", what + ", which was there all the time");
  }
  if (said->answer == Answer::in_use) ++counts_.in_use;
  const bool in_vain = code == ErrorCode::timed_out || code == ErrorCode::stopped;
  holds(in_vain || (code == ErrorCode::invalid_argument && said->answer != Answer::released),
        "true answers", what);
}

}  // namespace tutti::domain
