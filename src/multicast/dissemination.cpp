#include "multicast/dissemination.hpp"

#include <array>
#include <cstddef>
#include <span>

#include "base/assert.hpp"
#include "smc/record.hpp"
#include "sst/pass_words.hpp"
#include "sst/token_words.hpp"

namespace tutti {

std::uint64_t Dissemination::push(const Outbox& out, Effects& effects) const {
  TUTTI_ASSERT(
      out.pieces == 0 || out.data[0].begin_granule + out.data[0].granules <= shape_.ring_granules,
      out.data[0].begin_granule, out.data[0].granules, shape_.view);
  std::array<Extent, 2> data;
  for (std::uint32_t i = 0; i < out.pieces; ++i) {
    const Outbox::Piece& piece = out.data[i];
    data[i] = {place_.ring_offset + piece.begin_granule * kGranule,
               static_cast<std::uint32_t>(piece.granules * kGranule)};
  }
  const Effects::Words control{place_.control_offset,
                               {shape_.own_control, control_bytes(shape_.order, shape_.senders())}};
  effects.push(place_.peers, {data.data(), out.pieces}, {&control, 1});
  return place_.peers.size();
}

void Dissemination::pass_on(const PassedPosts& posts, const std::vector<bool>& suspected,
                            Effects& effects) const {
  const Extent area{place_.area_offset, static_cast<std::uint32_t>(posts.area_granules * kGranule)};
  // What we received of a piece goes with the word that we saw it: its owner asks for both (I8).
  const std::size_t bytes = control_bytes(shape_.order, shape_.senders()) +
                            PassWords::bytes(shape_.senders(), shape_.members());
  const Effects::Words words{place_.control_offset, {shape_.own_control, bytes}};
  std::size_t peer = 0;
  for (std::uint32_t m = 0; m < shape_.members(); ++m) {
    if (m == shape_.self) continue;
    const std::span<const Slot> to{&place_.peers[peer++], 1};
    if (suspected[m]) continue;
    effects.push(to, {&area, posts.area_granules != 0 ? 1U : 0U}, {&words, 1});
  }
}

}  // namespace tutti
