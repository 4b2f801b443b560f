#include "domain/cluster.hpp"

#include <algorithm>
#include <utility>

#include "domain/group_log.hpp"

namespace tutti::domain {

namespace {

Cluster* here = nullptr;

}  // namespace

Cluster::Cluster(std::vector<std::string> names, Prng& random, ClusterEvents& told)
    : events(told), names_(std::move(names)), random_(random) {
  here = this;
}

Cluster::~Cluster() { here = nullptr; }

Cluster* Cluster::current() { return here; }

std::shared_ptr<NodeCore> Cluster::make(const std::string& name) {
  const auto at = std::ranges::find(names_, name) - names_.begin();
  auto node = std::make_shared<NodeCore>(*this, MemberIndex{static_cast<std::uint32_t>(at)});
  node->name = name;
  node->incarnation = ++incarnations_;
  newest_ = node;
  return node;
}

std::shared_ptr<GroupCore> Cluster::join(NodeCore& node, GroupOptions options) {
  const std::size_t number = node.groups.size();
  IndexedBy<MemberIndex, std::string> all(options.members.empty() ? names_ : options.members);
  node.groups.push_back(
      std::make_shared<GroupCore>(node, number, std::move(options), std::move(all)));
  if (streams_.size() <= number) {
    streams_.emplace_back();
    if (node.groups.back()->is_ordered()) streams_.back().emplace_back();
  }
  return node.groups.back();
}

void Cluster::found(const std::vector<std::shared_ptr<NodeCore>>& members) {
  View view;
  view.founds = true;
  view.cuts.resize(streams_.size());
  for (std::size_t group = 0; group < streams_.size(); ++group) {
    const GroupCore& any = *members.front()->groups[group];
    if (any.options.logged) {
      cut(view, group);
      continue;
    }
    streams_[group].clear();  // nobody has it any more
    if (any.is_ordered()) streams_[group].emplace_back();
    view.cuts[group].resize(streams_[group].size());
  }
  members_.clear();
  begin(std::move(view), members);
}

bool Cluster::all_have_entered() const {
  return std::ranges::all_of(
      members_, [&](const auto& one) { return one->over || one->entered == views_.size(); });
}

bool Cluster::needs_view() const {
  return std::ranges::any_of(members_, [](const auto& one) { return one->over; });
}

void Cluster::change_view(const std::vector<std::shared_ptr<NodeCore>>& joining) {
  View view;
  std::vector<std::shared_ptr<NodeCore>> stay;
  for (const auto& one : members_) {
    if (!one->over) {
      stay.push_back(one);
    } else {
      view.change.left.push_back({one->name, one->incarnation, LeftReason::suspected});
      for (auto& streams : streams_) {
        for (Stream& stream : streams) {
          if (stream.incarnation == one->incarnation) stream.ended = true;
        }
      }
    }
  }
  view.cuts.resize(streams_.size());
  for (std::size_t group = 0; group < streams_.size(); ++group) cut(view, group);
  members_ = std::move(stay);
  begin(std::move(view), joining);
}

void Cluster::begin(View view, const std::vector<std::shared_ptr<NodeCore>>& joining) {
  view.change.view = views_.size() + 1;
  view.states.resize(streams_.size());
  for (const auto& one : joining) {
    members_.push_back(one);
    view.change.joined.push_back(one->name);
    place(*one, view);
  }
  for (const auto& one : members_) {
    view.change.members.push_back(one->name);
    view.change.incarnations.push_back(one->incarnation);
  }
  views_.push_back(std::move(view));
}

// A group that is logged hands on its log first.
void Cluster::place(NodeCore& joiner, const View& view) {
  joiner.started = true;
  for (const auto& group : joiner.groups) {
    group->at.clear();
    const std::vector<Stream>& streams = streams_[group->number];
    for (std::size_t stream = 0; stream < streams.size(); ++stream) {
      const std::uint64_t cut_at = view.cuts[group->number][stream];
      group->at.push_back(cut_at == View::kEnded ? streams[stream].entries.size() : cut_at);
    }
    if (!group->options.logged) continue;
    group->log = std::make_unique<GroupLog>(disk_, salts_, joiner, *group);
    group->log->append(streams.front().entries, std::exchange(group->at.front(), 0), events);
  }
}

// Of a group with order: somewhere behind what anybody has delivered, also who is gone.
void Cluster::cut(View& view, std::size_t group) {
  std::vector<Stream>& streams = streams_[group];
  std::vector<std::uint64_t>& cuts = view.cuts[group];
  for (const Stream& stream : streams) {
    cuts.push_back(stream.ended ? View::kEnded : stream.entries.size());
  }
  if (members_.empty() || !members_.front()->groups[group]->is_ordered()) return;
  std::uint64_t least = views_.empty() ? 0 : views_.back().cuts[group].front();
  for (const auto& one : members_) {
    if (one->groups[group]->is_member()) {
      least = std::max(least, one->groups[group]->at.front());
    }
  }
  std::vector<Entry>& entries = streams.front().entries;
  cuts.front() = least + random_.below(entries.size() - least + 1);
  take_back(group, cuts.front());
  for (auto entry = entries.rbegin(); entry != entries.rend() && entry->view == 0; ++entry) {
    entry->view = views_.size();
  }
}

// What the old view does not deliver is sent again by whoever stays.
void Cluster::take_back(std::size_t group, std::uint64_t cut_at) {
  std::vector<Entry>& entries = streams_[group].front().entries;
  while (entries.size() > cut_at) {
    Entry& last = entries.back();
    const auto sender = std::ranges::find(members_, last.incarnation, &NodeCore::incarnation);
    if (sender != members_.end() && !(*sender)->over) {
      GroupCore& core = *(*sender)->groups[group];
      while (core.first_in_outbox > last.ticket.value + 1) {  // tickets that were abandoned
        core.outbox.push_front({{}, GroupCore::SlotState::abandoned});
        --core.first_in_outbox;
      }
      core.outbox.push_front({std::move(last.bytes), GroupCore::SlotState::committed});
      core.first_in_outbox = last.ticket.value;
      core.unreleased.pop_back();
    }
    entries.pop_back();
  }
}

std::size_t Cluster::stream_of(const GroupCore& group) {
  if (group.is_ordered()) return 0;
  std::vector<Stream>& streams = streams_[group.number];
  const auto found = std::ranges::find(streams, group.node.incarnation, &Stream::incarnation);
  if (found == streams.end()) {
    streams.push_back({.sender = group.own, .incarnation = group.node.incarnation});
    return streams.size() - 1;
  }
  return static_cast<std::size_t>(found - streams.begin());
}

bool Cluster::place_one(NodeCore& node, std::size_t number) {
  GroupCore& group = *node.groups[number];
  if (!node.is_in_view()) return false;
  if (group.outbox.empty() || group.outbox.front().state == GroupCore::SlotState::open)
    return false;
  const Ticket ticket{group.first_in_outbox++};
  GroupCore::Slot slot = std::move(group.outbox.front());
  group.outbox.pop_front();
  if (slot.state == GroupCore::SlotState::abandoned) return true;
  const std::size_t stream = stream_of(group);
  std::vector<Entry>& entries = streams_[number][stream].entries;
  group.unreleased.push_back({ticket.value, stream, entries.size()});
  entries.push_back({group.own, node.incarnation, ticket, std::move(slot.bytes)});
  return true;
}

std::uint64_t Cluster::delivered_by_all(std::size_t group, std::size_t stream) const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& one : members_) {
    const GroupCore& core = *one->groups[group];
    if (one->over || !core.is_member()) continue;
    least = std::min(least, core.delivered_of(stream));
  }
  return least;
}

std::uint64_t Cluster::limit(const NodeCore& node, std::size_t group, std::size_t stream) const {
  const std::uint64_t all = streams_[group][stream].entries.size();
  if (node.entered == views_.size()) return all;
  const std::vector<std::uint64_t>& cuts = views_[node.entered].cuts[group];
  if (stream >= cuts.size()) return 0;  // of the next view
  return std::min(all, cuts[stream]);
}

bool Cluster::is_ready_for(const NodeCore& node, const View& view) const {
  for (const auto& group : node.groups) {
    if (!group->is_member()) continue;
    if (group->is_delivering()) return false;
    const std::vector<std::uint64_t>& cuts = view.cuts[group->number];
    for (std::size_t stream = 0; stream < cuts.size(); ++stream) {
      if (cuts[stream] == View::kEnded) continue;
      if ((stream < group->at.size() ? group->at[stream] : 0) < cuts[stream]) return false;
    }
  }
  return true;
}

bool Cluster::enter_view(NodeCore& node) {
  if (!node.runs() || node.entered == views_.size()) return false;
  if (node.entered == 0) {
    const auto own = [&](const View& one) {
      return std::ranges::find(one.change.incarnations, node.incarnation) !=
             one.change.incarnations.end();
    };
    const auto first = std::ranges::find_if(views_, own);
    if (!first->founds && !first->states.front()) return false;  // nobody has saved yet
    node.entered = first->change.view;
    join_view(node, *first);
    return true;
  }
  View& view = views_[node.entered];
  if (!is_ready_for(node, view)) return false;
  save_all(node, view, true);
  for (const auto& group : node.groups) {  // what the gone have sent and did not come in time
    group->at.resize(std::max(group->at.size(), view.cuts[group->number].size()));
    for (std::size_t stream = 0; stream < view.cuts[group->number].size(); ++stream) {
      if (view.cuts[group->number][stream] != View::kEnded) continue;
      group->at[stream] = streams_[group->number][stream].entries.size();
    }
  }
  ++node.entered;
  events.entering(node, view, false);
  node.watcher(view.change);
  events.entered(node);
  return true;
}

// The first that comes to the view gives its states; the others must have the same.
void Cluster::save_all(NodeCore& node, View& view, bool gives) {
  for (const auto& group : node.groups) {
    if (!group->options.stateful) continue;
    State state = save(*group);
    std::optional<State>& first = view.states[group->number];
    if (gives && !first) {
      first = std::move(state);
    } else if (*first != state && (compares_stored_ || !gives || group->number == 0)) {
      events.wrong("same state", group->options.name + " at " + node.name + " in view " +
                                     std::to_string(view.change.view));
    }
  }
}

void Cluster::join_view(NodeCore& node, const View& view) {
  const bool loads = !view.founds;
  if (loads) {
    for (const auto& group : node.groups) {
      if (group->options.stateful) load(*group, *view.states[group->number]);
    }
    save_all(node, views_[node.entered - 1], false);
  }
  events.entering(node, view, loads);
  node.watcher(view.change);
  events.entered(node);
}

State Cluster::save(GroupCore& group) {
  State all;
  const Result<void> saved = group.options.save_state(
      [&](std::span<const std::byte> piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  if (!saved) events.wrong("same state", saved.error().message);
  return all;
}

// In pieces; sometimes its giver crashes in the middle, and another one begins again.
void Cluster::load(GroupCore& group, const State& state) {
  std::size_t at = 0;
  bool first = true;
  bool may_begin_again = random_.one_in(4);
  while (first || at < state.size()) {
    const std::size_t size = std::min<std::size_t>(state.size() - at, 1 + random_.below(200));
    const StatePiece piece{{state.data() + at, size}, first, at + size == state.size()};
    if (const Result<void> taken = group.options.load_state(piece); !taken) {
      return events.wrong("same state", taken.error().message);
    }
    first = false;
    at += size;
    if (at >= state.size() || !may_begin_again || !random_.one_in(3)) continue;
    may_begin_again = false;
    at = 0;
    first = true;
  }
}

bool Cluster::call_handler(NodeCore& node, std::size_t group) {
  return node.started && node.groups[group]->call_handler();
}

bool Cluster::is_quiet() const {
  for (const auto& one : members_) {
    if (one->over || one->entered != views_.size()) return false;
    for (const auto& group : one->groups) {
      if (!group->outbox.empty() || !group->wait_for_space.empty()) return false;
      if (!group->wait_for_delivery.empty()) return false;
      if (!group->is_member()) continue;
      if (group->is_delivering()) return false;
      for (std::size_t stream = 0; stream < streams_[group->number].size(); ++stream) {
        const std::uint64_t at = stream < group->at.size() ? group->at[stream] : 0;
        if (at < streams_[group->number][stream].entries.size()) return false;
      }
    }
  }
  return true;
}

}  // namespace tutti::domain
