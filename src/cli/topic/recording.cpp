#include "cli/topic/recording.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
// No sample is as deep (dds::parse_json), and what is deeper may not cost the stack.
constexpr int kDepthMax = 64;

std::string json_text(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::unexpected<Error> no_recording(const std::string& what) {
  return fail(ErrorCode::invalid_argument,
              what + "; give a file that `tutti topic record` has written");
}

/// The value of a member, if it is there and of that type.
template <class T>
std::optional<T> member(const json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return {};
  if constexpr (std::is_same_v<T, std::string>) {
    if (!at->is_string()) return {};
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!at->is_boolean()) return {};
  } else {
    if (!at->is_number_unsigned()) return {};
  }
  return at->get<T>();
}

Result<TopicRow> topic_from(const json& object) {
  const auto version = member<std::uint64_t>(object, "recording");
  if (version != std::uint64_t{kVersion}) {
    return no_recording("its format is none that this version of tutti reads");
  }
  TopicRow row;
  const auto name = member<std::string>(object, "name");
  const auto type = member<std::string>(object, "type");
  const auto hash = member<std::uint64_t>(object, "type_hash");
  const auto description = member<std::string>(object, "type_description");
  const auto in_place = member<std::uint64_t>(object, "in_place_bytes");
  const auto alignment = member<std::uint64_t>(object, "alignment");
  const auto keyed = member<bool>(object, "keyed");
  const auto options = member<std::string>(object, "options");
  const auto bytes = from_hex(description.value_or("x"));
  if (!name || !type || !hash || !bytes || !in_place || !alignment || !keyed) {
    return no_recording("the description of a topic lacks something");
  }
  row.name = *name;
  row.type = {.name = *type,
              .hash = *hash,
              .description = *bytes,
              .in_place_bytes = static_cast<std::uint32_t>(*in_place),
              .alignment = static_cast<std::uint32_t>(*alignment),
              .keyed = *keyed};
  if (options) {
    Result<dds::TopicOptions> understood = dds::TopicOptions::from_text(*options);
    if (!understood) return std::unexpected(std::move(understood.error()));
    row.options = std::move(*understood);
  }
  return row;
}

}  // namespace

std::string recorded_topic(const TopicRow& row) {
  json object = {{"recording", kVersion},
                 {"name", row.name},
                 {"service", row.service},
                 {"options", nullptr},
                 {"type", row.type.name},
                 {"type_hash", row.type.hash},
                 {"type_description", hex(row.type.description)},
                 {"in_place_bytes", row.type.in_place_bytes},
                 {"alignment", row.type.alignment},
                 {"keyed", row.type.keyed}};
  if (row.options) object["options"] = row.options->to_text();
  return json_text(object) + "\n";
}

std::string recorded_sample(const std::string& topic, const SampleText& samples,
                            const TopicSample& sample) {
  const auto same_bytes = [&](const std::string& text) {
    const auto again = samples.parse(text);
    return again && std::ranges::equal(*again, sample.bytes);
  };
  const Result<std::string> text = samples.print(sample.bytes);
  const std::string value =
      text && same_bytes(*text) ? "\"data\":" + *text : "\"hex\":\"" + hex(sample.bytes) + "\"";
  return "{\"topic\":" + json_text(topic) + ",\"position\":" + std::to_string(sample.position) +
         ",\"sender\":" + json_text(sample.sender) +
         ",\"timestamp\":" + std::to_string(sample.timestamp_ns) +
         ",\"lost\":" + std::to_string(sample.lost_before) + "," + value + "}\n";
}

Result<std::optional<RecordingReader::Recorded>> RecordingReader::read(std::string_view line) {
  const auto is_shallow = [](int depth, json::parse_event_t, json&) { return depth < kDepthMax; };
  const json object = json::parse(line, is_shallow, false);
  if (!object.is_object()) return no_recording("it is no JSON object");
  if (object.contains("recording")) {
    Result<TopicRow> row = topic_from(object);
    if (!row) return std::unexpected(std::move(row.error()));
    Result<SampleText> samples = SampleText::of(row->type);
    if (!samples) return std::unexpected(std::move(samples.error()));
    const std::string name = row->name;
    topics_[name] = {std::make_shared<const TopicRow>(std::move(*row)), std::move(*samples)};
    return std::nullopt;
  }
  const auto topic = member<std::string>(object, "topic");
  const auto known = topics_.find(topic.value_or(""));
  if (known == topics_.end()) return no_recording("its topic was not described before it");
  Recorded sample{.topic = *topic,
                  .timestamp_ns = member<std::uint64_t>(object, "timestamp").value_or(0)};
  if (object.contains("data")) {
    // A dump may write numbers in another way, but parse() makes the same values of them.
    auto bytes = known->second.samples.parse(object["data"].dump());
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    sample.bytes = std::move(*bytes);
    return sample;
  }
  auto bytes = from_hex(member<std::string>(object, "hex").value_or("x"));
  if (!bytes) return no_recording("it has neither data nor hex");
  sample.bytes = std::move(*bytes);
  return sample;
}

}  // namespace tutti::cli
