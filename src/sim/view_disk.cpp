#include "sim/view_disk.hpp"

#include <utility>

#include "sim/refs.hpp"

namespace tutti::sim {

void ViewDisk::write(ViewsOnDisk next) {
  const std::uint64_t synced = syncs_.synced();
  for (; base_ < synced; ++base_) versions_.pop_front();
  versions_.push_back(std::move(next));
  syncs_.write(newest());
}

bool ViewDisk::has_accepted(std::uint64_t view, const Proposal& proposal, std::uint64_t ballot) {
  const AcceptedOnDisk asked{
      .incarnation = incarnation_, .view = view, .ballot = ballot, .digest = digest_of(proposal)};
  if (versions_.back().accepted != asked) {
    ViewsOnDisk next = versions_.back();
    next.accepted = asked;
    write(std::move(next));
    accepted_in_ = newest();
  }
  return accepted_in_ <= syncs_.synced();
}

bool ViewDisk::has_installed(const View& view, const std::vector<std::uint64_t>& firsts) {
  InstalledOnDisk asked{.incarnation = incarnation_, .view = view, .firsts = firsts};
  if (versions_.back().installed != asked) {
    told_.installs(versions_.back().installed.value_or(InstalledOnDisk{}), asked);
    ViewsOnDisk next = versions_.back();
    next.installed = std::move(asked);
    write(std::move(next));
    installed_in_ = newest();
  }
  return installed_in_ <= syncs_.synced();
}

void ViewDisk::crash() {
  syncs_.drop();
  while (newest() > syncs_.synced()) versions_.pop_back();
}

}  // namespace tutti::sim
