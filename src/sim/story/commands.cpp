#include "sim/story/commands.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <utility>

#include "membership/quorum.hpp"

namespace tutti::sim {
namespace {

// After so much time without anything to tell, nothing more is to come: a suspicion takes one
// kSuspectAfterNs, giving up another.
constexpr std::uint64_t kQuietNs = 3 * ScriptedWorld::kSuspectAfterNs;
constexpr std::size_t kStateRingBytes = 256;
constexpr std::size_t kNodesMax = 16;
constexpr std::uint64_t kNumberMax = 100'000;

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::invalid_argument, std::move(why));
}

Result<std::uint64_t> number(const std::string& word) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  const bool whole = error == std::errc{} && end == word.data() + word.size();
  if (whole && out <= kNumberMax) return out;
  return refuse("'" + word + "' is no number from 0 to " + std::to_string(kNumberMax));
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<Commands::Command>& Commands::all() {
  static const std::vector<Command> all{
      {"nodes", "nodes a b c: which nodes there may be, the first thing in a story", 2,
       &Commands::nodes},
      {"group", "group level agreed | order token_ring | accelerated 2 | window 4 | shared | state",
       1, &Commands::group},
      {"tell", "tell sees | heartbeats | sleep: what else is told", 1, &Commands::tell},
      {"start", "start a b c: they start; those of the first start found the group", 1,
       &Commands::start},
      {"found", "found a b c: start and run, without a word", 2, &Commands::found},
      {"quietly", "quietly run: another command, without a word", 1, &Commands::quietly},
      {"run", "run [30]: until nothing more happens, or for so many one-way delays", 0,
       &Commands::run},
      {"send", "send a [3] [safe]: a's application sends so many messages", 1, &Commands::send},
      {"kill", "kill a [silently | when proposed]: a dies; others hear it two delays later", 1,
       &Commands::kill},
      {"pause", "pause a 50: a stands still for so many delays", 2, &Commands::pause},
      {"stick", "stick a 50: a's application does not return from its next callback so long", 2,
       &Commands::stick},
      {"cut", "cut a b: what a posts to b is held up", 2, &Commands::cut},
      {"mend", "mend a b: and no more", 2, &Commands::mend},
      {"leave", "leave a: a leaves once all that it sent is delivered", 1, &Commands::leave},
      {"stop", "stop a b c: they send nothing more, and end once all is delivered", 1,
       &Commands::stop},
  };
  return all;
}

std::string_view Commands::about() {
  static const std::string text = [] {
    std::string out;
    for (const Command& command : all()) out += "  " + std::string(command.usage) + "\n";
    return out;
  }();
  return text;
}

void Commands::begin() {
  if (teller_) teller_->begin();
}

std::string Commands::told() { return teller_ ? teller_->take() : std::string(); }

Result<void> Commands::obey(const std::string& line) {
  std::istringstream in(line);
  std::string name;
  in >> name;
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  const auto found = std::ranges::find(all(), name, &Command::name);
  if (found == all().end()) return refuse("no such command; there are\n" + std::string(about()));
  if (words.size() < found->least) return refuse("more is needed: " + std::string(found->usage));
  return (this->*found->obey)(words);
}

Result<std::uint32_t> Commands::slot(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) return refuse("there is no node " + name);
  return static_cast<std::uint32_t>(found - names_.begin());
}

Result<Member*> Commands::member(const std::string& name) const {
  const Result<std::uint32_t> at = slot(name);
  if (!at) return std::unexpected(at.error());
  Member* const found = world_ ? world_->member(*at) : nullptr;
  if (found == nullptr) return refuse(name + " does not run");
  return found;
}

Result<void> Commands::nodes(const Words& words) {
  if (world_) return refuse("the group is there already");
  if (words.size() > kNodesMax) return refuse("at most " + std::to_string(kNodesMax) + " nodes");
  if (std::set(words.begin(), words.end()).size() != words.size()) return refuse("a name twice");
  names_ = words;
  return {};
}

Result<void> Commands::group(const Words& words) {
  if (world_) return refuse("the group is there already");
  const std::string& what = words.front();
  if (what == "shared") {
    shared_ = true;
  } else if (what == "state") {
    stateless_ = false;
  } else if (what == "window" && words.size() == 2) {
    const Result<std::uint64_t> size = number(words[1]);
    if (!size) return std::unexpected(size.error());
    group_.window_messages = static_cast<std::uint32_t>(*size);
  } else if (what == "level" && words.size() == 2) {
    const Result<Level> level = level_from(words[1]);
    if (!level) return std::unexpected(level.error());
    group_.level = *level;
    if (*level == Level::unordered) group_.order = Order::none;
    if (*level == Level::agreed && group_.order == Order::lcr) {
      return refuse("order lcr is atomic");
    }
  } else if (what == "order" && words.size() == 2) {
    const Result<Order> order = order_from(words[1]);
    if (!order) return std::unexpected(order.error());
    group_.order = *order;
    if (*order == Order::lcr) group_.level = Level::atomic;
  } else if (what == "accelerated" && words.size() == 2) {
    const Result<std::uint64_t> size = number(words[1]);
    if (!size) return std::unexpected(size.error());
    group_.accelerated_window = static_cast<std::uint32_t>(*size);
  } else {
    return refuse("no such property of a group");
  }
  return {};
}

Result<void> Commands::tell(const Words& words) {
  for (const std::string& what : words) {
    if (what == "sees") {
      telling_.sees = true;
    } else if (what == "heartbeats") {
      telling_.heartbeats = true;
    } else if (what == "sleep") {
      telling_.sleep = true;
    } else {
      return refuse("no such thing to tell");
    }
  }
  if (teller_) teller_->telling() = telling_;
  return {};
}

Result<void> Commands::make_world(const Words& founders) {
  if (names_.empty()) return refuse("say first which nodes there may be: nodes a b c");
  for (const std::string& name : founders) {
    if (Result<std::uint32_t> at = slot(name); !at) return std::unexpected(at.error());
    if (std::ranges::count(founders, name) != 1) return refuse(name + " is named twice");
  }
  const auto nodes = static_cast<std::uint32_t>(names_.size());
  if (founders.size() < PrimaryQuorum::founders_min(nodes)) {
    return refuse("a group is founded by more than half of all nodes");
  }
  group_.name = "g";
  group_.members = names_;
  group_.senders = names_;
  group_.window_bytes = 4096;
  group_.message_max_bytes = 200;
  if (Result<void> valid = group_.validate(); !valid) return valid;
  plan_ =
      std::make_unique<Plan>(Plan{.rows = RowPlan(names_, {group_}, kStateRingBytes, false, 0)});
  rounds_ = std::make_unique<Rounds>(plan_->rows.nodes());
  plan_->rounds = rounds_.get();
  plan_->heartbeat_ns = ScriptedWorld::kHeartbeatNs;
  plan_->suspect_after_ns = ScriptedWorld::kSuspectAfterNs;
  plan_->founders = static_cast<std::uint32_t>(founders.size());
  plan_->create_after_ns = 2 * ScriptedWorld::kHeartbeatNs;
  plan_->large_one_in = 1000;
  plan_->stateless = stateless_;
  teller_ = std::make_unique<Teller>(plan_->rows);
  world_ = std::make_unique<ScriptedWorld>(*plan_, shared_, *teller_);
  teller_->follow(*world_, shared_);
  teller_->telling() = telling_;
  teller_->begin();
  return {};
}

Result<void> Commands::start(const Words& words) {
  if (!world_) {
    if (Result<void> made = make_world(words); !made) return made;
  }
  for (const std::string& name : words) {
    const Result<std::uint32_t> at = slot(name);
    if (!at) return std::unexpected(at.error());
    if (world_->member(*at) != nullptr) return refuse(name + " runs already");
    if (!world_->start(*at, !founded_)) {
      return refuse("the others have not let go of the last " + name + " yet");
    }
  }
  founded_ = true;
  return {};
}

Result<void> Commands::found(const Words& words) {
  if (world_) return refuse("the group is there already");
  if (Result<void> made = make_world(words); !made) return made;
  teller_->telling().hushed = true;
  if (Result<void> started = start(words); !started) return started;
  run_until_quiet();
  run_for(ScriptedWorld::kHeartbeatNs / ScriptedWorld::kDelayNs / 2);  // between two heartbeats
  teller_->telling().hushed = false;
  teller_->begin();
  return {};
}

Result<void> Commands::quietly(const Words& words) {
  if (!world_) return refuse("nothing was started yet");
  if (words.front() == "quietly") return refuse("it is quiet already");
  std::string line;
  for (const std::string& word : words) line += word + " ";
  teller_->telling().hushed = true;
  Result<void> done = obey(line);
  teller_->telling().hushed = false;
  teller_->begin();
  return done;
}

void Commands::run_until_quiet() {
  world_->run([this](std::uint64_t next) { return next > teller_->last_ns() + kQuietNs; });
}

void Commands::run_for(std::uint64_t delays) {
  world_->run_to(world_->now_ns() + delays * ScriptedWorld::kDelayNs);
}

Result<void> Commands::run(const Words& words) {
  if (!world_) return refuse("nothing was started yet");
  if (words.empty() && (telling_.heartbeats || telling_.sleep)) {
    return refuse("say for how long: heartbeats are told, and go on for ever");
  }
  if (words.empty()) {
    run_until_quiet();
  } else {
    const Result<std::uint64_t> delays = number(words.front());
    if (!delays) return std::unexpected(delays.error());
    run_for(*delays);
  }
  const std::string finding = world_->finding();
  if (!finding.empty()) return refuse("something went wrong in it: " + finding);
  return {};
}

Result<void> Commands::send(const Words& words) {
  const Result<Member*> sender = member(words.front());
  const bool safe = words.size() > 1 && words.back() == "safe";
  const std::size_t rest = words.size() - (safe ? 1 : 0);
  const Result<std::uint64_t> count = rest > 1 ? number(words[1]) : 1;
  if (!sender) return std::unexpected(sender.error());
  if (!count) return std::unexpected(count.error());
  if ((*sender)->told_view().id == 0) return refuse(words.front() + " is in no view yet");
  if ((*sender)->finished()) return refuse(words.front() + " has stopped sending");
  if (rest > 2) return refuse("after the name comes a number, 'safe', or both");
  if (safe && (group_.order != Order::token_ring || group_.level != Level::agreed)) {
    return refuse("only in a token_ring group at agreed a message may be safe by itself");
  }
  const std::uint32_t at = (*sender)->number();
  const std::uint64_t before = (*sender)->last_sent(0);
  for (std::uint64_t n = 0; n < *count; ++n) (*sender)->send(safe);
  teller_->look_at(at);
  const std::uint64_t sent = (*sender)->last_sent(0) - before;
  if (sent < *count) {
    teller_->tell(at, "finds no space for " + counted(*count - sent, "more message") +
                          ": its window is full");
  }
  world_->poke(at);
  return {};
}

Result<void> Commands::kill(const Words& words) {
  const Result<Member*> victim = member(words.front());
  if (!victim) return std::unexpected(victim.error());
  const std::uint32_t at = (*victim)->number();
  if (words.size() == 3 && words[1] == "when") {
    const auto* const point =
        std::ranges::find(kFailpoints, words[2], &std::pair<Failpoint, std::string_view>::second);
    if (point == kFailpoints.end()) return refuse("there is no failpoint '" + words[2] + "'");
    world_->kill_at(at, point->first);
    return {};
  }
  const bool silently = words.size() == 2 && words[1] == "silently";
  if (words.size() > 1 && !silently) {
    return refuse("after the name comes nothing, 'silently', or 'when FAILPOINT'");
  }
  world_->kill(at, silently);
  return {};
}

Result<void> Commands::pause(const Words& words) {
  const Result<Member*> one = member(words.front());
  const Result<std::uint64_t> delays = number(words[1]);
  if (!one) return std::unexpected(one.error());
  if (!delays) return std::unexpected(delays.error());
  world_->pause((*one)->number(), *delays * ScriptedWorld::kDelayNs);
  return {};
}

Result<void> Commands::stick(const Words& words) {
  const Result<Member*> one = member(words.front());
  const Result<std::uint64_t> delays = number(words[1]);
  if (!one) return std::unexpected(one.error());
  if (!delays) return std::unexpected(delays.error());
  (*one)->get_stuck(world_->now_ns() + *delays * ScriptedWorld::kDelayNs, false);
  return {};
}

Result<void> Commands::hold(const Words& words, bool held) {
  const Result<std::uint32_t> from = slot(words[0]);
  const Result<std::uint32_t> to = slot(words[1]);
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  if (!world_) return refuse("nothing was started yet");
  if (*from == *to) return refuse("nobody posts to itself");
  world_->cut(*from, *to, held);
  return {};
}

Result<void> Commands::cut(const Words& words) { return hold(words, true); }

Result<void> Commands::mend(const Words& words) { return hold(words, false); }

// In order, as by Node::leave and Node::stop: it finishes its group first.
Result<void> Commands::end(const Words& words, Ending how, const std::string& said) {
  for (const std::string& name : words) {
    const Result<Member*> one = member(name);
    if (!one) return std::unexpected(one.error());
    (*one)->end(how);
    teller_->tell((*one)->number(), said);
    world_->poke((*one)->number());
  }
  return {};
}

Result<void> Commands::leave(const Words& words) {
  return end(words, Ending::leaves, "'s application wants to leave, and sends nothing more");
}

Result<void> Commands::stop(const Words& words) {
  return end(words, Ending::stops, "'s application stops, and sends nothing more");
}

}  // namespace tutti::sim
