#include "restart/views.hpp"

#include <functional>
#include <iterator>

namespace tutti::restart {

std::optional<std::uint64_t> ViewRecord::first_of(std::string_view group) const {
  const auto found = std::ranges::find(first, group, &GroupFirst::group);
  if (found == first.end()) return {};
  return found->first;
}

void confirm(std::vector<ViewRecord>& chain, std::uint64_t id) {
  const auto found = std::ranges::find(chain, id, &ViewRecord::id);
  if (found != chain.end()) chain.erase(chain.begin(), found);
}

void encode(Encoder& out, const ViewRecord& view) {
  out.number(view.id);
  out.list(view.members, [](Encoder& to, std::uint32_t slot) { to.number(slot); });
  out.list(view.first, [](Encoder& to, const GroupFirst& group) {
    to.text(group.group);
    to.number(group.first);
  });
}

ViewRecord decode_view(Decoder& in) {
  ViewRecord view{.id = in.number<std::uint64_t>()};
  view.members = in.list([](Decoder& from) { return from.number<std::uint32_t>(); });
  view.first = in.list([](Decoder& from) {
    GroupFirst group{.group = from.text()};
    group.first = from.number<std::uint64_t>();
    return group;
  });
  std::vector<std::uint32_t> slots = view.members;
  std::ranges::sort(slots);
  const auto not_above = std::ranges::greater_equal{};
  in.check(view.id != 0 && !slots.empty());
  in.check(std::ranges::adjacent_find(slots) == slots.end());
  in.check(std::ranges::adjacent_find(view.first, not_above, &GroupFirst::group) ==
           view.first.end());
  return view;
}

void encode(Encoder& out, const std::vector<ViewRecord>& chain) {
  out.list(chain, [](Encoder& to, const ViewRecord& view) { encode(to, view); });
}

std::vector<ViewRecord> decode_chain(Decoder& in) {
  std::vector<ViewRecord> chain = in.list(decode_view);
  in.check(!chain.empty());  // NV1
  in.check(std::ranges::adjacent_find(chain, std::ranges::greater_equal{}, &ViewRecord::id) ==
           chain.end());
  if (!in.good()) return {ViewRecord{}};
  return chain;
}

void encode(Encoder& out, const Proposed& proposal) {
  out.number(proposal.follows);
  encode(out, proposal.next);
  out.number(static_cast<std::uint8_t>(proposal.restart));
}

Proposed decode_proposed(Decoder& in) {
  Proposed proposal{.follows = in.number<std::uint64_t>()};
  proposal.next = decode_view(in);
  proposal.restart = in.flag();
  in.check(proposal.next.id > proposal.follows);
  return proposal;
}

namespace {

void encode(Encoder& out, const Edition& edition) {
  out.number(edition.directory);
  out.number(edition.saves);
}

Edition decode_edition(Decoder& in) {
  Edition edition{.directory = in.number<std::uint64_t>()};
  edition.saves = in.number<std::uint64_t>();
  return edition;
}

std::vector<HeardOf> decode_heard(Decoder& in) {
  std::vector<HeardOf> heard = in.list([](Decoder& from) {
    HeardOf one{.slot = from.number<std::uint32_t>()};
    one.editions = from.list(decode_edition);
    return one;
  });
  in.check(std::ranges::adjacent_find(heard, std::ranges::greater_equal{}, &HeardOf::slot) ==
           heard.end());
  return heard;
}

}  // namespace

void encode(Encoder& out, const Views& views) {
  out.text(views.node);
  out.list(views.nodes, [](Encoder& to, const std::string& name) { to.text(name); });
  out.number(views.origin);
  out.number(views.since);
  encode(out, views.chain);
  out.number(views.promised.view);
  out.number(views.promised.ballot);
  encode(out, views.edition);
  out.list(views.heard, [](Encoder& to, const HeardOf& one) {
    to.number(one.slot);
    to.list(one.editions, [](Encoder& item, const Edition& edition) { encode(item, edition); });
  });
  out.number(static_cast<std::uint8_t>(views.accepted.has_value()));
  if (!views.accepted) return;
  out.number(views.accepted->ballot);
  encode(out, views.accepted->proposal);
}

Views decode_views(Decoder& in) {
  Views views{.node = in.text()};
  views.nodes = in.list([](Decoder& from) { return from.text(); });
  views.origin = in.number<std::uint64_t>();
  views.since = in.number<std::uint64_t>();
  views.chain = decode_chain(in);
  views.promised.view = in.number<std::uint64_t>();
  views.promised.ballot = in.number<std::uint64_t>();
  views.edition = decode_edition(in);
  views.heard = decode_heard(in);
  if (in.flag()) {
    views.accepted.emplace();
    views.accepted->ballot = in.number<std::uint64_t>();
    views.accepted->proposal = decode_proposed(in);
  }
  return views;
}

}  // namespace tutti::restart
