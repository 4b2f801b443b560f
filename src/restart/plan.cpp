#include "restart/plan.hpp"

#include <algorithm>

namespace tutti::restart {
namespace {

bool has_vote(const Present& present, std::uint32_t slot, const ViewRecord& view) {
  const auto found = present.find(slot);
  return found != present.end() && found->second.views.since <= view.id;
}

std::string listed(const std::vector<std::uint32_t>& slots, const Names& names,
                   const std::string& between) {
  std::string out;
  for (const std::uint32_t slot : slots) {
    out += (out.empty() ? "" : between) + name_of(slot, names);
  }
  return out;
}

}  // namespace

std::string name_of(std::uint32_t slot, const Names& names) {
  return slot < names.size() ? names[slot] : "slot " + std::to_string(slot);
}

std::vector<ViewRecord> chain_of(const Present& present) {
  const Views* newest = nullptr;
  std::uint64_t confirmed = 0;
  for (const auto& [slot, told] : present) {
    const Views& views = told.views;
    if (newest == nullptr || views.installed().id > newest->installed().id) newest = &views;
    confirmed = std::max(confirmed, views.confirmed());
  }
  if (newest == nullptr) return {};
  std::vector<ViewRecord> chain = newest->chain;
  confirm(chain, confirmed);
  return chain;
}

std::vector<Awaited> awaited(const std::vector<ViewRecord>& chain, const Present& present) {
  std::vector<Awaited> all;
  for (const ViewRecord& view : chain) {
    Awaited one{.view = view.id, .members = view.members};
    for (const std::uint32_t slot : view.members) {
      if (!has_vote(present, slot, view)) one.away.push_back(slot);
    }
    const std::size_t votes = view.members.size() - one.away.size();
    if (is_majority(votes, view)) continue;
    one.lacking = view.members.size() / 2 + 1 - votes;
    all.push_back(std::move(one));
  }
  return all;
}

std::string to_string(const std::vector<Awaited>& awaited, const Names& names) {
  std::string out;
  for (const Awaited& one : awaited) {
    out += (out.empty() ? "view " : "; view ") + std::to_string(one.view) + " of " +
           listed(one.members, names, ", ") + ": waits for ";
    if (one.lacking == one.away.size()) {
      out += listed(one.away, names, " and ");
    } else {
      if (one.lacking > 1) out += std::to_string(one.lacking) + " of ";
      out += listed(one.away, names, one.lacking > 1 ? ", " : " or ");
    }
  }
  return out;
}

std::optional<Proposed> may_be_decided(const ViewRecord& view, const Present& present) {
  const auto accepted = [&](std::uint32_t slot) -> const Accepted* {
    if (!has_vote(present, slot, view)) return nullptr;
    const std::optional<Accepted>& found = present.at(slot).views.accepted;
    return found && found->proposal.follows == view.id ? &*found : nullptr;
  };
  const Accepted* highest = nullptr;
  for (const std::uint32_t slot : view.members) {
    const Accepted* found = accepted(slot);
    if (found != nullptr && (highest == nullptr || found->ballot > highest->ballot)) {
      highest = found;
    }
  }
  if (highest == nullptr) return {};
  std::size_t votes = 0;  // those that accepted it in any ballot, and those that are not back
  for (const std::uint32_t slot : view.members) {
    const Accepted* found = accepted(slot);
    if (found == nullptr ? !has_vote(present, slot, view) : found->proposal == highest->proposal) {
      ++votes;
    }
  }
  if (!is_majority(votes, view)) return {};
  return highest->proposal;
}

void encode(Encoder& out, const Told& told) {
  encode(out, told.views);
  out.list(told.logs, [](Encoder& to, const LogSummary& log) { encode(to, log); });
}

Told decode_told(Decoder& in) {
  Told told{.views = decode_views(in)};
  told.logs = in.list(decode_summary);
  return told;
}

void encode(Encoder& out, const GroupPlan& plan) {
  out.number(plan.cut);
  out.number(plan.base_slot);
  encode(out, plan.base);
  out.list(plan.sources, [](Encoder& to, const Source& source) {
    to.number(source.slot);
    to.number(source.from);
    to.number(source.until);
    to.number(source.snapshot);
  });
}

GroupPlan decode_plan(Decoder& in) {
  GroupPlan plan{.cut = in.number<std::uint64_t>()};
  plan.base_slot = in.number<std::uint32_t>();
  plan.base = decode_summary(in);
  plan.sources = in.list([](Decoder& from) {
    Source source{.slot = from.number<std::uint32_t>()};
    source.from = from.number<std::uint64_t>();
    source.until = from.number<std::uint64_t>();
    source.snapshot = from.number<std::uint64_t>();
    return source;
  });
  in.check(plan.base.next >= plan.cut);
  return plan;
}

}  // namespace tutti::restart
