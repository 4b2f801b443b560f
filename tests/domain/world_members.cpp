// Members that crash, leave, join; and what the cluster tells of them.
#include "domain/world_parts.hpp"

namespace tutti::domain {

namespace {

constexpr std::size_t kAllStopIn = 40;  // steps

}  // namespace

// A member that waits for a state is not left without the last member that could give it.
bool World::may_lose_one() const {
  const auto running = std::ranges::count_if(
      members_, [](const MemberPtr& one) { return one != nullptr && !one->leaves; });
  return running >= 3 && cluster_->all_have_entered();
}

// A member has freed the name of a topic in a bundle whose joiners take over nothing: half of the
// time it crashes before it has deleted the topic; and some time later all may stop.
void World::crash_the_doomed() {
  const MemberPtr member = std::exchange(doomed_, nullptr);
  if (members_[member->slot] != member || !may_lose_one()) return;
  ++counts_.crashes;
  crash(member);
  if (logs_ && numbers_ % 3 == 0) all_stop_in_ = kAllStopIn;
}

void World::fault() {
  const MemberPtr member = members_[random_.below(members_.size())];
  if (member == nullptr || !may_lose_one()) return;
  if (random_.one_in(3)) {
    member->leaves = true;
  } else {
    ++counts_.crashes;
    if (overtaking_.one_in(2)) overtake(*member);
    crash(member);
  }
}

// It was stopped while it read a batch, and the others have removed it.
void World::overtake(Member& member) {
  const std::size_t groups = member.node->groups.size();
  const std::size_t first = overtaking_.below(groups);
  directories_ = {member.model.directory.text(names_)};
  calling_ = true;
  for (std::size_t i = 0; i < groups && !is_overtaken(member); ++i) {
    cluster_->overtake(*member.node, (first + i) % groups, overtaking_);
  }
  calling_ = false;
  directories_.clear();
  if (!is_overtaken(member)) return;
  ++counts_.overtaken;
  note(member.name() + " is overtaken");
  for (const auto& reader : member.readers) {
    if (!reader->live || reader->is_called) continue;
    const Result<dds::LoanedBytes> taken = reader->reader->take(1000);
    if (taken) judge_prefix(member, *reader, *taken);
  }
}

bool World::is_overtaken(const Member& member) {
  return std::ranges::any_of(member.node->groups,
                             [](const auto& group) { return group->overwritten; });
}

// All stop at once, and some of them, enough, come back.
void World::restart() {
  note("all stop");
  ++counts_.restarts;
  for (const MemberPtr& one : std::vector(members_)) {
    if (one != nullptr) crash(one);
  }
  found();
}

void World::found() {
  std::vector<std::shared_ptr<NodeCore>> founders;
  for (std::size_t slot = 0; slot < members_.size(); ++slot) {
    members_[slot] = slot < 2 || random_.one_in(2) ? make(slot) : nullptr;
    if (members_[slot] == nullptr) continue;
    members_[slot]->is_founder = true;
    founders.push_back(members_[slot]->node);
  }
  cluster_->found(founders);
}

void World::crash(const MemberPtr& member) {
  note(member->name() + (member->leaves ? " leaves" : " crashes"));
  member->node->over = true;
  retire(*member);
  members_[member->slot] = nullptr;
}

// What an application had is destroyed in any order, once its calls have returned.
void World::retire(Member& member) {
  member.node->over = true;
  counts_.waits += member.participant->statistics().reader_waits;
  cluster_->go_on(*member.node);
  for (std::size_t group = 0; group < member.node->groups.size(); ++group) {
    while (cluster_->call_handler(*member.node, group)) {
    }
  }
  finish_threads(member);
  const bool first_the_participant = random_.one_in(2);
  if (first_the_participant) member.participant.reset();
  member.readers.clear();
  member.writers.clear();
  member.topics.clear();
  member.participant.reset();
  cluster_->go_on(*member.node);
  for (const auto& group : member.node->groups) {
    holds(!group->is_delivering(), "clean end",
          member.name() + " has ended, and a delivery of it waits for a reader");
  }
  member.handle.reset();
  for (const auto& group : member.node->groups) {
    group->log.reset();
    // What a node's callbacks keep goes with it.
    group->options.on_delivery = nullptr;
    group->options.save_state = nullptr;
    group->options.load_state = nullptr;
  }
  member.node->watcher = nullptr;
}

// Without those that are gone, and with some that come.
void World::change_view() {
  for (const MemberPtr& one : members_) {
    if (one == nullptr || !one->leaves || !one->node->is_in_view()) continue;
    bool has_sent_all = true;
    for (const auto& group : one->node->groups) {
      has_sent_all &= group->outbox.empty() && !group->is_delivering();
      for (const auto& placed : group->unreleased) {
        has_sent_all &= group->is_delivered(Ticket{placed.ticket});
      }
    }
    if (!has_sent_all || !cluster_->all_have_entered()) continue;
    ++counts_.leaves;
    crash(one);
    break;
  }
  if (!cluster_->all_have_entered() && !random_.one_in(20)) return;
  std::vector<std::shared_ptr<NodeCore>> joining;
  if (cluster_->all_have_entered()) {
    for (std::size_t slot = 0; slot < members_.size(); ++slot) {
      const bool was_there = std::ranges::any_of(cluster_->members(), [&](const auto& one) {
        return one->name == names_[slot] && !cluster_->needs_view();
      });
      if (members_[slot] != nullptr || was_there || !random_.one_in(calm_ ? 1 : 12)) continue;
      if (random_.one_in(6)) ++disks_[slot];  // it comes with an empty disk
      members_[slot] = make(slot);
      joining.push_back(members_[slot]->node);
      note(names_[slot] + " joins");
      ++counts_.joins;
    }
  }
  if (joining.empty() && !cluster_->needs_view()) return;
  if (joining.empty() && std::ranges::any_of(cluster_->members(), [](const auto& one) {
        return one->runs() && one->entered == 0;
      })) {
    return;
  }
  cluster_->change_view(joining);
}

void World::delivering(NodeCore& node, GroupCore& group, const Message& message) {
  const MemberPtr member = members_[node.own.value];
  if (group.number == 0) {
    const Outcome outcome = member->model.directory.apply(message.sender.value, message.bytes());
    if (!directories_.empty()) directories_.push_back(member->model.directory.text(names_));
    if (message.ticket != Ticket{}) answers_[{node.incarnation, message.ticket.value}] = outcome;
    if (outcome.answer != Answer::created && outcome.answer != Answer::released) return;
    if (message.ticket != Ticket{}) {
      note(node.name + (outcome.answer == Answer::created ? " created " : " released ") +
           outcome.key.first + " " + std::to_string(outcome.key.second));
    }
    ModelBundle& bundle = member->model.bundle(outcome.key.first);
    const bool is_own = message.ticket != Ticket{} && outcome.answer == Answer::released;
    if (is_own && !bundle.has_state && bundle.ordered && numbers_ % 2 == 0) doomed_ = member;
    if (bundle.ordered) return;  // defined by its own sequence
    if (outcome.answer == Answer::released) return bundle.remove(outcome.key.second);
    for (const auto& [name, entry] : member->model.directory.topics) {
      if (entry.key == outcome.key) bundle.define(outcome.key.second, entry.definition, 0);
    }
    return;
  }
  ModelBundle& bundle = member->model.bundles[group.number - 1];
  if (!bundle.apply(message)) return;
  const auto record = dds::read_record(message.bytes());
  const Key key{bundle.name, record->header.topic};
  const ModelTopic& topic = *member->find(key);
  const bool is_kept =
      topic.is_logged() || record->payload.size() <= topic.definition.options.max_bytes;
  if (is_kept) member->fresh.insert(key);
}

void World::delivered(NodeCore& node, GroupCore& group) {
  const MemberPtr member = members_[node.own.value];
  if (group.overwritten) {
    const std::string seen = seen_by(*member);
    const bool was_there = std::ranges::find(directories_, seen) != directories_.end();
    return holds(group.number != 0 || was_there, "a prefix", member->name() + " sees\n" + seen);
  }
  if (group.number == 0) return entered(node);
  const std::string& bundle = member->model.bundles[group.number - 1].name;
  for (const auto& reader : member->readers) {
    const Key& key = reader->topic->key;
    if (key.first != bundle) continue;
    const bool was_told = reader->told > std::exchange(reader->told_before, reader->told);
    judge_unread(*member, *reader);
    if (!member->fresh.contains(key)) continue;
    const ModelTopic* topic = member->find(key);
    // Of a batch in which it came there may be nothing for it.
    const bool has_none = reader->amid && !has_something(*member, *reader, member->position(key));
    holds(reader->is_called || was_told || topic == nullptr || has_none, "told",
          member->name() + " was not told of " + reader->topic->definition.name);
    if (!reader->is_called || topic == nullptr) continue;
    const std::uint64_t newest = topic->samples.back().position;
    holds(reader->last == newest || newest < reader->begin, "exactly once",
          member->name() + " was not called with all of " + reader->topic->definition.name);
  }
  std::erase_if(member->fresh, [&](const Key& key) { return key.first == bundle; });
}

void World::entering(NodeCore& node, const View& view, bool joins) {
  const MemberPtr member = members_[node.own.value];
  const std::uint64_t number = view.change.view;
  if (joins) {
    member->model = given_.at(number);
    for (ModelBundle& bundle : member->model.bundles) {
      bundle = bundle.copy();
      if (!bundle.has_state) bundle = {.name = bundle.name, .has_state = false};
      if (bundle.ordered) continue;
      bundle = {.name = bundle.name, .ordered = false};
      for (const auto& [name, entry] : member->model.directory.topics) {
        if (entry.key.first == bundle.name) bundle.define(entry.key.second, entry.definition, 0);
      }
    }
  } else if (!given_.contains(number)) {
    Model& model = given_[number] = member->model;
    for (ModelBundle& bundle : model.bundles) bundle = bundle.copy();
  }
  member->model.directory.view(names_, view.change);
}

void World::entered(NodeCore& node) {
  const MemberPtr member = members_[node.own.value];
  const std::string seen = seen_by(*member);
  const std::string ought = member->model.directory.text(names_);
  holds(seen == ought, "one directory", member->name() + " sees\n" + seen + "not\n" + ought);
}

// As everybody may see it: by the public interface.
std::string World::seen_by(const Member& member) const {
  std::string seen;
  for (const dds::TopicDescription& one : member.participant->topics()) {
    seen +=
        one.name + " " + one.type.name + " " + one.options.to_text() + " " + std::to_string(one.id);
    for (const dds::TopicEndpoints& each : one.endpoints) {
      seen += " " + each.participant + ":" + std::to_string(each.readers) + "," +
              std::to_string(each.writers);
    }
    seen += "\n";
  }
  return seen;
}

}  // namespace tutti::domain
