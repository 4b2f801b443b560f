#include "restart/views_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/crc32c.hpp"
#include "log/read.hpp"

namespace tutti::restart {
namespace {

// A larger file is not one of ours.
constexpr std::uint64_t kViewsBytesMax = 16U << 20;
constexpr std::array<char, 8> kViewsMagic{'T', 'U', 'T', 'T', 'I', 'V', 'W', 'S'};
constexpr std::uint32_t kViewsVersion = 2;
constexpr std::size_t kViewsHead = 20;
constexpr const char* kViewsName = "views";

}  // namespace

std::vector<std::byte> encode_views_file(const Views& views) {
  Encoder content;
  encode(content, views);
  const std::vector<std::byte> bytes = content.take();
  Encoder out;
  out.raw(std::as_bytes(std::span(kViewsMagic)));
  out.number(kViewsVersion);
  out.number(static_cast<std::uint32_t>(bytes.size()));
  out.number(crc32c(bytes));
  out.raw(bytes);
  return out.take();
}

Result<Views> decode_views_file(std::span<const std::byte> bytes) {
  constexpr auto kWrong = ErrorCode::damaged;
  if (bytes.size() < kViewsHead) return fail(kWrong, "it is too short");
  if (std::memcmp(bytes.data(), kViewsMagic.data(), kViewsMagic.size()) != 0) {
    return fail(kWrong, "it does not begin as such a file does");
  }
  Decoder head(bytes.subspan(kViewsMagic.size(), kViewsHead - kViewsMagic.size()));
  const auto version = head.number<std::uint32_t>();
  const auto size = head.number<std::uint32_t>();
  const auto crc = head.number<std::uint32_t>();
  if (version != kViewsVersion) {
    return fail(ErrorCode::mismatch, "it has version " + std::to_string(version) +
                                         " of the format, and this program reads version " +
                                         std::to_string(kViewsVersion) +
                                         "; use the version of tutti that wrote it");
  }
  const auto content = bytes.subspan(kViewsHead);
  if (content.size() != size) {
    return fail(kWrong, "it has " + std::to_string(content.size()) + " bytes of content, not " +
                            std::to_string(size));
  }
  if (crc32c(content) != crc) return fail(kWrong, "its checksum is wrong");
  Decoder in(content);
  Views views = decode_views(in);
  if (!in.done()) return fail(kWrong, "what it says contradicts itself");
  return views;
}

Result<std::optional<Views>> ViewsFile::load() const {
  const Result<std::vector<std::string>> names = disk_.list(directory_);
  if (!names) return std::unexpected(names.error());
  if (!std::ranges::binary_search(*names, std::string(kViewsName))) return std::optional<Views>{};
  const Result<std::vector<std::byte>> bytes = log::read_file(disk_, path(), kViewsBytesMax);
  if (!bytes) return std::unexpected(bytes.error());
  Result<Views> views = decode_views_file(*bytes);
  if (views) return std::optional<Views>(std::move(*views));
  return fail(views.error().code,
              path() + ": " + views.error().message +
                  (views.error().code == ErrorCode::damaged
                       ? "; this node has no vote in a restart: move the whole directory " +
                             directory_ + " away, and the node joins once the others run"
                       : ""));
}

// VF1: the new file is whole on disk before it gets the name.
Result<void> ViewsFile::save(const Views& views) {
  const std::string fresh = path() + ".new";
  const Result<std::unique_ptr<log::File>> file = disk_.create(fresh);
  if (!file) return std::unexpected(file.error());
  if (Result<void> done = (*file)->write(0, encode_views_file(views)); !done) return done;
  if (Result<void> done = (*file)->sync(); !done) return done;
  if (Result<void> done = disk_.rename(fresh, path()); !done) return done;
  return disk_.sync_directory(directory_);
}

}  // namespace tutti::restart
