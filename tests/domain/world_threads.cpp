// The threads of applications, and what they do by chance.
#include "domain/world_parts.hpp"

namespace tutti::domain {

bool World::pause(const std::function<bool()>& condition, std::uint64_t until_ns) {
  Thread& self = *running_;
  while (!condition() && steady_time() < until_ns) {
    self.holds = condition;
    self.until_ns = until_ns;
    running_ = nullptr;
    self.fiber.stop();
    running_ = &self;
  }
  self.holds = nullptr;
  return condition();
}

void World::start(Member& member, std::function<void()> acts, bool makes_reader) {
  const auto idle = std::ranges::find(member.threads, false, &Thread::busy);
  if (idle == member.threads.end()) return;
  Thread& thread = *idle;
  thread.busy = true;
  thread.asked.reset();
  thread.makes_reader = makes_reader;
  running_ = &thread;
  thread.fiber.start([&thread, acts = std::move(acts)] {
    acts();
    thread.busy = false;
  });
  running_ = nullptr;
}

bool World::resume(Member& member, Thread& thread) {
  if (!thread.busy) return false;
  // A reader that is not made in the end waits until no callback of the bundle runs.
  if (thread.makes_reader && Cluster::is_in_callback(*member.node)) return false;
  if (thread.holds && !thread.holds() && steady_time() < thread.until_ns) return false;
  running_ = &thread;
  thread.fiber.resume();
  running_ = nullptr;
  return true;
}

// Of a node that is over: no call waits any more.
void World::finish_threads(Member& member) {
  for (Thread& thread : member.threads) {
    while (thread.busy) {
      if (!resume(member, thread)) pass_time(1'000'000);
    }
  }
}

// Nobody waits for the answer to a question for a definition.
void World::committed(GroupCore& group, Ticket ticket, std::span<const std::byte> bytes) {
  if (group.number != 0 || running_ == nullptr || bytes.front() == std::byte{kWant}) return;
  running_->asked = ticket;
}

void World::end_readers(Member& member) {
  if (Cluster::is_in_callback(*member.node)) return;
  std::erase_if(member.readers, [](const auto& one) { return one->live; });
}

// Somebody waits for them.
void World::take_for_others(Member& member) {
  for (const auto& reader : member.readers) {
    const bool waits =
        reader->topic->definition.options.history.kind == dds::History::Kind::keep_all;
    if (!waits || !reader->live || reader->is_called) continue;
    if (reader->waits_to_be_told && reader->told == reader->heard) continue;
    take(member, *reader, 1 + random_.below(3));
  }
}

// To the newest record that the running thread has sent; empty: it was not delivered here.
std::optional<World::Outcome> World::answer(const Member& member) {
  if (!running_->asked) return {};
  const auto found = answers_.find({member.node->incarnation, running_->asked->value});
  if (found == answers_.end()) return {};
  return found->second;
}

void World::act(const MemberPtr& held) {
  Member& member = *held;
  const std::size_t name = random_.below(topic_names_.size());
  const auto any_of = [&](auto& all) { return all[random_.below(all.size())]; };
  std::uint64_t what = random_.below(24);
  if (member.topics.empty() && what > 3) what = 0;
  if (member.writers.empty() && what > 8) what = 4;
  switch (what) {
    case 0:
    case 1: {
      const std::size_t variant = random_.one_in(5) ? random_.below(definitions_[name].size()) : 0;
      return start(member, [=, this, &member] { create_topic(member, name, variant); });
    }
    case 2:
      return start(member, [=, this, &member] { find_topic(member, name); });
    case 3:
      return start(member, [=, this, &member] { delete_topic(member, name); });
    case 4: {
      if (member.topics.empty() || member.writers.size() > 4) return;
      return start(
          member, [this, &member, topic = any_of(member.topics)] { create_writer(member, topic); });
    }
    case 5:
    case 6: {
      if (member.topics.empty() || member.readers.size() > 6) return;
      const std::shared_ptr<WorldTopic> topic = any_of(member.topics);
      dds::From from{};
      const dds::Service service = topic->definition.options.service;
      const bool is_logged = service == dds::Service::logged;
      const bool has_past = is_logged || service == dds::Service::volatile_storage;
      if (has_past && random_.one_in(2)) from = dds::kFromStored;
      if (has_past && random_.one_in(3)) {
        std::uint64_t at = member.position(topic->key);
        at -= random_.below(std::min<std::uint64_t>(at, 30) + 1);
        // What it has seen elsewhere, or before this participant started again.
        if (random_.one_in(3)) at += random_.below(60);
        from = dds::from_position(SeqNo{at});
      }
      const bool is_called = from.kind == dds::From::Kind::now && random_.one_in(2);
      return start(
          member,
          [=, this, &member] { static_cast<void>(create_reader(member, topic, is_called, from)); },
          true);
    }
    case 7:  // these calls do not wait, but the end of a reader for a callback that runs
      if (!member.readers.empty() && !Cluster::is_in_callback(*member.node)) {
        const std::size_t which = random_.below(member.readers.size());
        if (member.readers[which]->live)
          member.readers.erase(member.readers.begin() + static_cast<std::ptrdiff_t>(which));
      }
      return;
    case 8:
      if (!member.writers.empty() && random_.one_in(2)) {
        member.writers.erase(member.writers.begin() +
                             static_cast<std::ptrdiff_t>(random_.below(member.writers.size())));
      }
      if (!member.topics.empty()) {
        member.topics.erase(member.topics.begin() +
                            static_cast<std::ptrdiff_t>(random_.below(member.topics.size())));
      }
      return;
    case 9:
      if (member.writers.empty()) return;
      return start(member, [this, &member, writer = any_of(member.writers)] {
        acknowledge(member, writer);
      });
    case 10:
      if (member.writers.empty()) return;
      return start(member, [this, &member, writer = any_of(member.writers)] {
        post_of_client(member, writer);
      });
    case 11:
    case 12:
    case 13: {
      if (member.readers.empty()) return;
      const std::shared_ptr<WorldReader> reader = any_of(member.readers);
      if (!reader->live || reader->is_called || reader->is_dead) return;
      if (reader->waits_to_be_told && reader->told == reader->heard) return;
      return take(member, *reader, random_.one_in(2) ? 1000 : 1 + random_.below(3));
    }
    default:
      if (member.writers.empty()) return;
      return start(member,
                   [this, &member, writer = any_of(member.writers)] { write(member, writer); });
  }
}

}  // namespace tutti::domain
