// The options of a topic as text.
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tutti/dds/options.hpp"

namespace tutti::dds {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Policies that users of DDS look for, and what does their work here.
constexpr std::array<Pair, 18> kNotOffered = {{
    {"deadline",
     "let the reader compare SampleInfo::source_timestamp with its clock, or use ticks "
     "(docs/ticks.md)"},
    {"lifespan", "use max_age, which says how long samples are kept"},
    {"latency_budget", "leave it out: samples are sent at once, and batched under load"},
    {"time_based_filter", "use history=keep_last(1) and take when you need a value"},
    {"partition", "put the partition into the topic's name"},
    {"presentation", "put topics whose samples must stay in order into one bundle"},
    {"content_filter", "filter in the reader"},
    {"dispose", "send a sample that says so: there is no life cycle of instances"},
    {"unregister", "send a sample that says so: there is no life cycle of instances"},
    {"ownership", "leave it out: all writers share a topic, in one order"},
    {"ownership_strength", "leave it out: all writers share a topic, in one order"},
    {"liveliness", "use NodeOptions::suspect_after"},
    {"reliability", "leave it out: every service is reliable"},
    {"durability", "use service: atomic is VOLATILE, stored is TRANSIENT, logged is PERSISTENT"},
    {"destination_order", "leave it out: all participants have one order, but unordered topics"},
    {"resource_limits", "use max_samples and max_bytes"},
    {"transport_priority", "give the topic a bundle of its own"},
    {"user_data", "write it to a stored topic"},
}};

template <class T>
Result<T> number_in(std::string_view field, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return fail(ErrorCode::invalid_argument,
              std::string(field) + "=" + std::string(text) + ": take a number");
}

Result<History> history_from(std::string_view text) {
  constexpr std::string_view kKeepLast = "keep_last(";
  if (text == "keep_all") return keep_all();
  if (text == "of_service") return History{};
  if (text.starts_with(kKeepLast) && text.ends_with(')')) {
    const Result<std::uint32_t> depth = number_in<std::uint32_t>(
        "history", text.substr(kKeepLast.size(), text.size() - kKeepLast.size() - 1));
    if (!depth) return std::unexpected(depth.error());
    return keep_last(*depth);
  }
  return fail(ErrorCode::invalid_argument,
              "history=" + std::string(text) + ": take keep_last(DEPTH), keep_all or of_service");
}

Result<std::chrono::nanoseconds> age_from(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
      {{"ms", 1'000'000},
       {"ns", 1},
       {"us", 1'000},
       {"h", 3'600'000'000'000},
       {"s", 1'000'000'000}}};
  for (const auto& [unit, ns] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const std::string_view digits = text.substr(0, text.size() - unit.size());
    const Result<std::int64_t> count = number_in<std::int64_t>("max_age", digits);
    if (!count) return std::unexpected(count.error());
    std::int64_t age = 0;
    if (__builtin_mul_overflow(*count, ns, &age)) break;
    return std::chrono::nanoseconds(age);
  }
  if (text == "0") return std::chrono::nanoseconds(0);
  return fail(ErrorCode::invalid_argument,
              "max_age=" + std::string(text) + ": take a number and its unit: ns, us, ms, s or h");
}

template <class T>
Result<void> set(T& field, Result<T> value) {
  if (!value) return std::unexpected(std::move(value.error()));
  field = std::move(*value);
  return {};
}

Result<void> set_field(TopicOptions& options, std::string_view name, std::string_view value) {
  if (name == "service") return set(options.service, service_from(value));
  if (name == "history") return set(options.history, history_from(value));
  if (name == "bundle") return set(options.bundle, Result<std::string>(std::string(value)));
  if (name == "max_samples") return set(options.max_samples, number_in<std::uint32_t>(name, value));
  if (name == "max_bytes") return set(options.max_bytes, number_in<std::uint64_t>(name, value));
  if (name == "max_age") return set(options.max_age, age_from(value));
  for (const auto& [policy, instead] : kNotOffered) {
    if (name == policy) {
      return fail(
          ErrorCode::invalid_argument,
          "the policy '" + std::string(name) + "' has no meaning here: " + std::string(instead));
    }
  }
  return fail(ErrorCode::invalid_argument,
              "'" + std::string(name) +
                  "' is no option of a topic; take service, bundle, history, max_samples, "
                  "max_bytes or max_age");
}

}  // namespace

Result<TopicOptions> TopicOptions::from_text(std::string_view text) {
  TopicOptions options;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(field.size() < text.size() ? field.size() + 1 : field.size());
    const std::size_t equals = field.find('=');
    const bool has_value = equals != std::string_view::npos;
    const std::string_view value = has_value ? field.substr(equals + 1) : std::string_view();
    if (Result<void> done = set_field(options, field.substr(0, equals), value); !done) {
      return std::unexpected(std::move(done.error()));
    }
    if (!has_value) {
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(field) + "' has no value; write it as NAME=VALUE");
    }
  }
  if (Result<void> valid = options.validate(); !valid) return std::unexpected(valid.error());
  return options;
}

std::string TopicOptions::to_text() const {
  std::string text = "service=" + std::string(to_string(service));
  if (!bundle.empty()) text += ",bundle=" + bundle;
  text += ",history=";
  switch (history.kind) {
    case History::Kind::of_service:
      text += "of_service";
      break;
    case History::Kind::keep_last:
      text += "keep_last(" + std::to_string(history.depth) + ")";
      break;
    case History::Kind::keep_all:
      text += "keep_all";
      break;
  }
  text += ",max_samples=" + std::to_string(max_samples);
  text += ",max_bytes=" + std::to_string(max_bytes);
  text += ",max_age=";
  text += max_age.count() == 0 ? "0" : std::to_string(max_age.count()) + "ns";
  return text;
}

}  // namespace tutti::dds
