#include "tutti/dds/options.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace tutti::dds {

namespace {

constexpr std::uint32_t kDepthMax = 1'000'000;
constexpr std::uint32_t kSamplesMax = 10'000'000;
constexpr std::uint64_t kBytesMin = 1024;
constexpr std::uint64_t kBytesMax = 1ULL << 40;
constexpr std::chrono::nanoseconds kAgeMin = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kAgeMax = std::chrono::hours(24) * 1000;

std::unexpected<Error> out_of_range(const std::string& field, const std::string& value,
                                    const std::string& legal) {
  return fail(ErrorCode::invalid_argument, field + " is " + value + "; " + legal);
}

}  // namespace

std::string_view to_string(Service service) {
  switch (service) {
    case Service::unordered:
      return "unordered";
    case Service::atomic:
      return "atomic";
    case Service::volatile_storage:
      return "stored";
    case Service::logged:
      return "logged";
  }
  return "?";
}

Result<Service> service_from(std::string_view word) {
  for (const Service service :
       {Service::unordered, Service::atomic, Service::volatile_storage, Service::logged}) {
    if (word == to_string(service)) return service;
  }
  if (word == "volatile") {
    return fail(ErrorCode::invalid_argument,
                "'volatile' means two things: DDS says VOLATILE where nothing is kept for late "
                "readers, which is 'atomic' (or 'unordered') here; in other systems volatile "
                "storage keeps samples in memory, which is 'stored' here. Say which");
  }
  return fail(ErrorCode::invalid_argument, "'" + std::string(word) +
                                               "' is no service; take one of: unordered, atomic, "
                                               "stored, logged");
}

Result<void> TopicOptions::validate() const {
  if (service > Service::logged) {
    return out_of_range("service", std::to_string(static_cast<int>(service)),
                        "take one of the enumeration's values");
  }
  if (history.kind == History::Kind::keep_last &&
      (history.depth == 0 || history.depth > kDepthMax)) {
    return out_of_range("the depth of keep_last", std::to_string(history.depth),
                        "take 1 .. 1000000");
  }
  if (history.kind != History::Kind::keep_last && history.depth != 0) {
    return out_of_range("the depth", std::to_string(history.depth),
                        "only keep_last has one: leave it 0");
  }
  if (service == Service::logged && history.kind != History::Kind::of_service) {
    return fail(ErrorCode::invalid_argument,
                "history is set, but the log of a logged topic keeps everything; leave it out, or "
                "take the service stored");
  }
  if (max_samples == 0 || max_samples > kSamplesMax) {
    return out_of_range("max_samples", std::to_string(max_samples), "take 1 .. 10000000");
  }
  if (max_bytes < kBytesMin || max_bytes > kBytesMax) {
    return out_of_range("max_bytes", std::to_string(max_bytes), "take 1 KiB .. 1 TiB");
  }
  if (max_age.count() != 0 && (max_age < kAgeMin || max_age > kAgeMax)) {
    return out_of_range("max_age", std::to_string(max_age.count()) + " ns",
                        "take 0 (no limit), or 1 ms .. 1000 days");
  }
  return {};
}

Result<void> ParticipantOptions::validate() const {
  if (topics_max == 0 || topics_max > 1'000'000) {
    return out_of_range("topics_max", std::to_string(topics_max), "take 1 .. 1000000");
  }
  if (timeout < std::chrono::milliseconds(1) || timeout > std::chrono::hours(24)) {
    return out_of_range("timeout", std::to_string(timeout.count()) + " ns", "take 1 ms .. 1 day");
  }
  std::set<std::string_view> names;
  for (const BundleOptions& bundle : bundles) {
    const std::string field = "bundle '" + bundle.name + "': ";
    if (!names.insert(bundle.name).second) {
      return fail(ErrorCode::invalid_argument, field + "two bundles have this name");
    }
    if (bundle.name.empty() || bundle.name.size() > 240) {
      return out_of_range(field + "the length of its name", std::to_string(bundle.name.size()),
                          "take 1 .. 240 bytes");
    }
    if (bundle.service > Service::logged) {
      return out_of_range(field + "service", std::to_string(static_cast<int>(bundle.service)),
                          "take one of the enumeration's values");
    }
    if (bundle.delivery == DeliveryThread::application) {
      return fail(
          ErrorCode::invalid_argument,
          field +
              "delivery is application; take predicate or own. To take samples on a "
              "thread of the application, give the reader neither on_sample nor on_samples");
    }
    if (bundle.order == Order::none && bundle.service != Service::unordered) {
      return fail(ErrorCode::invalid_argument,
                  field + "order is none, but its service has an order; take another one");
    }
    if (bundle.message_max_bytes < 1024) {
      return out_of_range(field + "message_max_bytes", std::to_string(bundle.message_max_bytes),
                          "take 1024 or more");
    }
  }
  return {};
}

std::vector<BundleOptions> default_bundles(bool with_log) {
  std::vector<BundleOptions> bundles;
  bundles.push_back({.name = "unordered", .service = Service::unordered});
  bundles.push_back({.name = "atomic", .service = Service::atomic});
  bundles.push_back(
      {.name = "stored", .service = Service::volatile_storage, .delivery = DeliveryThread::own});
  if (with_log) {
    bundles.push_back(
        {.name = "logged", .service = Service::logged, .delivery = DeliveryThread::own});
  }
  return bundles;
}

}  // namespace tutti::dds
