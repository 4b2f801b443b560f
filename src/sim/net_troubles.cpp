// What the network tells of itself: who cannot hear whom, and who posts what.
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

void Net::tell(const Link& way, const Post& post) const {
  const bool data = post.bytes.empty();
  const std::byte* const bytes = data ? way.from + post.offset : post.bytes.data();
  watch_({way.poster, way.reader, post.offset, {bytes, std::size_t{8} * post.words}, data});
}

}  // namespace tutti::sim
