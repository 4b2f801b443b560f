#include "dds/definition.hpp"

#include <bit>
#include <chrono>
#include <cstdio>

namespace tutti::dds {

namespace {

constexpr std::size_t kBundleNameMax = 255;

std::string type_text(const TopicTypeInfo& type) {
  char rest[96];
  std::snprintf(rest, sizeof rest, " (hash %016llx, %s%u bytes, aligned to %u%s)",
                static_cast<unsigned long long>(type.hash),
                type.in_place_bytes != 0 ? "in place, " : "encoded, ", type.in_place_bytes,
                type.alignment, type.keyed ? ", keyed" : "");
  return "type " + type.name + rest;
}

}  // namespace

Result<void> Definition::validate() const {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument, "topic '" + name + "': " + what);
  };
  if (name.empty() || name.size() > kTopicNameMax) {
    return refuse("its name has " + std::to_string(name.size()) + " bytes; take 1 .. 255");
  }
  if (type.name.empty() || type.name.size() > kTopicNameMax) {
    return refuse("the name of its type has " + std::to_string(type.name.size()) +
                  " bytes; take 1 .. 255");
  }
  if (type.description.size() > kTypeDescriptionMax) {
    return refuse("the description of its type has " + std::to_string(type.description.size()) +
                  " bytes; at most " + std::to_string(kTypeDescriptionMax) + " are allowed");
  }
  if (!std::has_single_bit(type.alignment) || type.alignment > 4096) {
    return refuse("its type has an alignment of " + std::to_string(type.alignment) +
                  "; take a power of two, 1 .. 4096");
  }
  if (Result<void> valid = options.validate(); !valid) return refuse(valid.error().message);
  return {};
}

void Definition::encode(Encoder& out) const {
  out.text(name);
  out.text(type.name);
  out.number(type.hash);
  out.blob(type.description);
  out.number(type.in_place_bytes);
  out.number(type.alignment);
  out.number(static_cast<std::uint8_t>(type.keyed));
  out.number(static_cast<std::uint8_t>(options.service));
  out.text(options.bundle);
  out.number(static_cast<std::uint8_t>(options.history.kind));
  out.number(options.history.depth);
  out.number(options.max_samples);
  out.number(options.max_bytes);
  out.number(static_cast<std::int64_t>(options.max_age.count()));
}

std::optional<Definition> decode_definition(Decoder& in) {
  Definition out;
  out.name = in.text(kTopicNameMax);
  out.type.name = in.text(kTopicNameMax);
  out.type.hash = in.number<std::uint64_t>();
  const std::span<const std::byte> description = in.blob(kTypeDescriptionMax);
  out.type.description.assign(description.begin(), description.end());
  out.type.in_place_bytes = in.number<std::uint32_t>();
  out.type.alignment = in.number<std::uint32_t>();
  out.type.keyed = in.number<std::uint8_t>() != 0;
  const auto service = in.number<std::uint8_t>();
  out.options.bundle = in.text(kBundleNameMax);
  const auto kind = in.number<std::uint8_t>();
  out.options.history.depth = in.number<std::uint32_t>();
  out.options.max_samples = in.number<std::uint32_t>();
  out.options.max_bytes = in.number<std::uint64_t>();
  out.options.max_age = std::chrono::nanoseconds(in.number<std::int64_t>());
  if (!in.good() || service > static_cast<std::uint8_t>(Service::logged) ||
      kind > static_cast<std::uint8_t>(History::Kind::keep_all)) {
    return {};
  }
  out.options.service = static_cast<Service>(service);
  out.options.history.kind = static_cast<History::Kind>(kind);
  if (!out.validate()) return {};
  return out;
}

std::optional<Definition> decode_definition(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  std::optional<Definition> out = decode_definition(in);
  if (!in.done()) return {};
  return out;
}

std::optional<Difference> difference(const Definition& had, const Definition& wanted) {
  const auto same_but_description = [](TopicTypeInfo a, const TopicTypeInfo& b) {
    a.description = b.description;
    return a == b;
  };
  if (!same_but_description(had.type, wanted.type)) {
    return Difference{true, type_text(had.type), type_text(wanted.type)};
  }
  if (had.options == wanted.options) return {};
  return Difference{false, had.options.to_text(), wanted.options.to_text()};
}

}  // namespace tutti::dds
