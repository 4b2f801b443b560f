/// \file hello_compare.cpp
/// What must agree between two members. Both ends run this with the roles swapped and reach the
/// same verdict.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/carriers.hpp"

namespace tutti {
namespace {

std::unexpected<Error> differs(const std::string& what) { return fail(ErrorCode::mismatch, what); }

std::string quoted_printable(std::string_view text) { return "'" + printable(text) + "'"; }

std::string show(const std::string& text) { return quoted_printable(text); }
std::string show(Order order) { return quoted_printable(to_string(order)); }
std::string show(Level level) { return quoted_printable(to_string(level)); }
std::string show(std::uint64_t number) { return std::to_string(number); }

std::string show(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return quoted_printable(text);
}

/// The two hellos, for error texts.
struct Pair {
  const Hello& mine;
  const Hello& theirs;

  template <class Value>
  [[nodiscard]] Result<void> same(const std::string& field, const Value& here,
                                  const Value& there) const {
    if (here == there) return {};
    return differs(field + " is " + show(here) + " at " + printable(mine.name) + " but " +
                   show(there) + " at " + printable(theirs.name) +
                   "; it must be the same at all members");
  }
};

Result<void> check_identity(const Hello& mine, const Hello& theirs) {
  const std::string peer = printable(theirs.name);
  if (mine.incarnation == theirs.incarnation) {
    return differs("the address of " +
                   (mine.to.empty() ? quoted_printable(theirs.to) : quoted_printable(mine.to)) +
                   " leads back to " + quoted_printable(mine.name) +
                   " itself; check the members' addresses");
  }
  if (mine.name == theirs.name) {
    return differs("two processes were started as member " + quoted_printable(mine.name) +
                   "; each name may run once");
  }
  if (!mine.to.empty() && mine.to != theirs.name) {
    return differs("wrong peer: " + quoted_printable(mine.name) + " called the address of " +
                   quoted_printable(mine.to) + " but " + quoted_printable(peer) +
                   " answered there");
  }
  if (!theirs.to.empty() && theirs.to != mine.name) {
    return differs("wrong peer: " + quoted_printable(peer) + " called the address of " +
                   quoted_printable(theirs.to) + " but " + quoted_printable(mine.name) +
                   " answered there");
  }
  return {};
}

Result<void> check_members(const Pair& pair) {
  const auto& here = pair.mine.members;
  const auto& there = pair.theirs.members;
  const std::size_t common = std::min(here.size(), there.size());
  for (std::size_t i = 0; i < common; ++i) {
    const std::string field = "member list: name at place " + std::to_string(i);
    if (Result<void> r = pair.same(field, here[i].name, there[i].name); !r) return r;
    if (Result<void> r =
            pair.same("member list: address of " + here[i].name, here[i].address, there[i].address);
        !r) {
      return r;
    }
  }
  return pair.same<std::uint64_t>("member list: number of members", here.size(), there.size());
}

const GroupOptions* find_group(const Hello& hello, const std::string& name) {
  const auto at = std::ranges::find(hello.groups, name, &GroupOptions::name);
  return at == hello.groups.end() ? nullptr : &*at;
}

Result<void> check_group(const Pair& pair, const GroupOptions& here, const GroupOptions& there) {
  const std::string group = "group " + quoted_printable(here.name) + ": ";
  Result<void> r = pair.same(group + "members", here.members, there.members);
  if (r) r = pair.same(group + "senders", here.senders, there.senders);
  if (r) r = pair.same(group + "order", here.order, there.order);
  if (r) r = pair.same(group + "level", here.level, there.level);
  if (r) {
    r = pair.same<std::uint64_t>(group + "message_max_bytes", here.message_max_bytes,
                                 there.message_max_bytes);
  }
  if (r) r = pair.same(group + "window_bytes", here.window_bytes, there.window_bytes);
  if (r) {
    r = pair.same<std::uint64_t>(group + "window_messages", here.window_messages,
                                 there.window_messages);
  }
  const auto same_window = [&](const char* field, std::uint64_t mine, std::uint64_t other) {
    if (r) r = pair.same(group + field, mine, other);
  };
  same_window("alignment", here.alignment, there.alignment);
  same_window("tick_every", static_cast<std::uint64_t>(here.tick_every.count()),
              static_cast<std::uint64_t>(there.tick_every.count()));
  same_window("personal_window", here.personal_window, there.personal_window);
  same_window("accelerated_window", here.accelerated_window, there.accelerated_window);
  same_window("global_window", here.global_window, there.global_window);
  same_window("maximum_gap", here.maximum_gap, there.maximum_gap);
  if (r) r = pair.same<std::uint64_t>(group + "logged", here.logged, there.logged);
  if (r) {
    r = pair.same<std::uint64_t>(group + "durable_quorum", here.durable_quorum,
                                 there.durable_quorum);
  }
  if (r) r = pair.same<std::uint64_t>(group + "stateful", here.stateful, there.stateful);
  return r;
}

Result<void> joined(const Hello& declares, const Hello& other) {
  for (const GroupOptions& group : declares.groups) {
    if (find_group(other, group.name) != nullptr) continue;
    return differs("group " + quoted_printable(group.name) + ": " + printable(declares.name) +
                   " has joined it, but " + printable(other.name) +
                   " has not joined it; every member joins all groups before start");
  }
  return {};
}

Result<void> check_groups(const Pair& pair) {
  for (const GroupOptions& here : pair.mine.groups) {
    const GroupOptions* there = find_group(pair.theirs, here.name);
    if (there == nullptr) continue;
    if (Result<void> r = check_group(pair, here, *there); !r) return r;
  }
  if (Result<void> r = joined(pair.mine, pair.theirs); !r) return r;
  return joined(pair.theirs, pair.mine);
}

// The hello's node, as carriers look at it.
CarrierEnd end_of(const Hello& hello, std::string_view carrier) {
  CarrierEnd end{
      .name = printable(hello.name), .fabric = printable(hello.fabric), .host = hello.host};
  const auto member = std::ranges::find(hello.members, hello.name, &MemberAddress::name);
  if (member != hello.members.end()) end.address = printable(member->address);
  const auto offer = hello.carriers.find(std::string(carrier));
  if (offer != hello.carriers.end()) end.offer = offer->second;
  return end;
}

}  // namespace

Result<void> same_options(const GroupOptions& here, const std::string& at_here,
                          const GroupOptions& there, const std::string& at_there) {
  Hello mine;
  mine.name = at_here;
  Hello theirs;
  theirs.name = at_there;
  return check_group({mine, theirs}, here, there);
}

Result<void> compatible(const Hello& mine, const Hello& theirs) {
  const Pair pair{mine, theirs};
  if (Result<void> r = check_identity(mine, theirs); !r) return r;
  Result<void> r = pair.same<std::uint64_t>("protocol version", mine.protocol, theirs.protocol);
  if (r) r = pair.same("version of Tutti", mine.library_version, theirs.library_version);
  if (r) r = check_members(pair);
  if (!r) return r;
  if (std::ranges::find(mine.members, theirs.name, &MemberAddress::name) == mine.members.end()) {
    return differs(quoted_printable(theirs.name) + " is not in the member list");
  }
  std::set<std::string_view> seen;
  for (const GroupOptions& group : theirs.groups) {
    if (!seen.insert(group.name).second) {
      return differs("group " + quoted_printable(group.name) + " stands twice in the hello of " +
                     printable(theirs.name));
    }
  }
  if (r = check_groups(pair); !r) return r;
  r = pair.same<std::uint64_t>("litmus_rounds", mine.litmus_rounds, theirs.litmus_rounds);
  if (r) {
    r = pair.same<std::uint64_t>("request_max_bytes", mine.request_max_bytes,
                                 theirs.request_max_bytes);
  }
  if (!r) return r;
  if (const auto carrier = choose_carrier(mine, theirs); !carrier) {
    return std::unexpected(carrier.error());
  }
  return {};
}

Result<const CarrierKind*> choose_carrier(const Hello& mine, const Hello& theirs,
                                          const CarrierKind* without) {
  std::string why_not;
  for (const CarrierKind* kind : carrier_kinds()) {
    if (kind == without) continue;
    const Fit fit = kind->fit(end_of(mine, kind->name), end_of(theirs, kind->name));
    if (fit.fits) return kind;
    if (why_not.empty()) why_not = fit.why_not;
  }
  if (!why_not.empty()) return differs(why_not);
  return differs(both_fabrics(end_of(mine, {}), end_of(theirs, {})) +
                 ": they have none in common; 'auto' takes what both can");
}

}  // namespace tutti
