#include "multicast/group_posts.hpp"

#include <array>
#include <cstddef>
#include <span>

#include "base/assert.hpp"
#include "multicast/neighbours.hpp"
#include "smc/record.hpp"
#include "sst/control_bytes.hpp"
#include "sst/pass_words.hpp"

namespace tutti {

Effects::Words GroupPosts::control() const {
  return {in_row_.control_offset,
          {shape_.own_control, control_bytes(shape_.order, shape_.senders(), shape_.logged)}};
}

namespace {

std::array<Extent, 2> extents_of(const Outbox::Pieces& pieces, std::uint64_t offset,
                                 [[maybe_unused]] std::uint32_t area_granules) {
  TUTTI_ASSERT(
      pieces.count == 0 || pieces.at[0].begin_granule + pieces.at[0].granules <= area_granules,
      pieces.at[0].begin_granule, pieces.at[0].granules, area_granules);
  std::array<Extent, 2> out;
  for (std::uint32_t i = 0; i < pieces.count; ++i) {
    out[i] = {offset + pieces.at[i].begin_granule * kGranule,
              static_cast<std::uint32_t>(pieces.at[i].granules * kGranule)};
  }
  return out;
}

}  // namespace

std::uint64_t GroupPosts::push(const Outbox& out, Effects& effects) const {
  const std::array<Extent, 2> data =
      extents_of(out.data, in_row_.ring_offset, shape_.ring_granules);
  const Effects::Words words = control();
  if (shape_.order == Order::lcr) return push_along(out, {data.data(), out.data.count}, effects);
  effects.push(in_row_.peers, {data.data(), out.data.count}, {&words, 1});
  return in_row_.peers.size();
}

// What the frames of the lane tell of is posted before them (W1).
std::uint64_t GroupPosts::push_along(const Outbox& out, std::span<const Extent> data,
                                     Effects& effects) const {
  const std::array<Extent, 2> lane =
      extents_of(out.lane, in_row_.lane_offset, shape_.lane_granules);
  const Effects::Words words = control();
  std::uint64_t pushes = 0;
  const Neighbours ring{shape_.self, shape_.members()};
  for (Rank m = ring.next(); m != shape_.self; m = ring.after(m)) {
    const bool next = m == ring.next();
    if (!out.control && !(next && out.control_to_next) &&
        !(m == ring.last() && out.control_to_last))
      continue;
    const std::span<const Slot> to{&slot_of(m), 1};
    if (next && !data.empty()) effects.push(to, data, {});
    effects.push(to, {lane.data(), next ? out.lane.count : 0}, {&words, 1});
    ++pushes;
  }
  return pushes;
}

void GroupPosts::pass_on(const PassedPosts& posts, const IndexedBy<Rank, bool>& suspected,
                         Effects& effects) const {
  const Extent area{in_row_.area_offset,
                    static_cast<std::uint32_t>(posts.area_granules * kGranule)};
  // What we received of a piece goes with the word that we saw it: its owner asks for both (I8).
  const std::size_t bytes = control_bytes(shape_.order, shape_.senders(), shape_.logged) +
                            PassWords::bytes(shape_.senders(), shape_.members());
  const Effects::Words words{in_row_.control_offset, {shape_.own_control, bytes}};
  for (const Rank m : shape_.ranks()) {
    if (m == shape_.self) continue;
    const std::span<const Slot> to{&slot_of(m), 1};
    if (suspected[m]) continue;
    effects.push(to, {&area, posts.area_granules != 0 ? 1U : 0U}, {&words, 1});
  }
}

void GroupPosts::show(const IndexedBy<Rank, bool>& suspected, Effects& effects) const {
  const Effects::Words words = control();
  for (const Rank m : shape_.ranks()) {
    if (m == shape_.self || suspected[m]) continue;
    effects.push({&slot_of(m), 1}, {}, {&words, 1});
  }
}

}  // namespace tutti
