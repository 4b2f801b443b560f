// What the network notes of who cannot hear whom.
#include "sim/net.hpp"

namespace tutti::sim {

// Where no order is promised, words wait to hear that what they guard has landed.
void Net::note_held(const Link& way) {
  const bool none = options_.ordering == Ordering::none;
  const bool held = way.held || (none && link(way.reader, way.poster).held);
  troubles_.hold(way.poster, way.reader, held);
  if (none) troubles_.hold(way.reader, way.poster, held);
}

void Net::note_late(const Link& way, std::uint64_t at_ns) {
  if (at_ns > now_ns_ + options_.delay_ns + options_.jitter_ns) {
    troubles_.late(way.poster, way.reader, at_ns + options_.landing_ns);
  }
}

}  // namespace tutti::sim
