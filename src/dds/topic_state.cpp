#include "dds/topic_state.hpp"

namespace tutti::dds {

namespace {

constexpr std::uint32_t kDepthUnlessStored = 1024;

}  // namespace

StoreLimits store_limits(const Definition& definition) {
  const TopicOptions& options = definition.options;
  StoreLimits limits;
  limits.max_samples = options.max_samples;
  limits.max_bytes = options.max_bytes;
  limits.max_age_ns = static_cast<std::uint64_t>(options.max_age.count());
  limits.alignment = definition.type.alignment;
  limits.keyed = definition.type.keyed;
  const bool stored = options.service == Service::volatile_storage;
  switch (options.history.kind) {
    case History::Kind::of_service:
      if (options.service != Service::logged) limits.depth = stored ? 1 : kDepthUnlessStored;
      break;
    case History::Kind::keep_last:
      limits.depth = options.history.depth;
      break;
    case History::Kind::keep_all:
      limits.waits_for_readers = true;
      break;
  }
  limits.keeps_taken = stored || options.service == Service::logged;
  return limits;
}

}  // namespace tutti::dds
