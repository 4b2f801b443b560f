#include "membership/quorum.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti {
namespace {

bool is_majority(std::size_t some, std::size_t all) { return 2 * some > all; }

}  // namespace

bool PrimaryQuorum::may_create(std::size_t here, std::size_t nodes, std::size_t founders) const {
  TUTTI_ASSERT(here <= nodes && founders <= nodes, here, nodes, founders);
  return here >= (founders == 0 ? nodes : founders);
}

bool PrimaryQuorum::may_go_on(std::size_t trusted, std::size_t members) const {
  return is_majority(trusted, members);
}

bool PrimaryQuorum::is_decided(const IndexedBy<Rank, bool>& accepted, const View& view,
                               const View& /*next*/) const {
  TUTTI_ASSERT(accepted.size() == view.members.size(), accepted.size(), view.members.size(),
               view.id);
  const auto votes = static_cast<std::size_t>(std::ranges::count(accepted, true));
  return is_majority(votes, view.members.size());
}

std::size_t PrimaryQuorum::may_leave(std::size_t leavers, std::size_t trusted,
                                     std::size_t members) const {
  TUTTI_ASSERT(leavers <= trusted && trusted <= members, leavers, trusted, members);
  while (leavers != 0 && !is_majority(trusted - leavers, members - leavers)) --leavers;
  return leavers;
}

}  // namespace tutti
