/// \file file_header.hpp
/// The header of a history file: kHeaderSlots slots of 64 bytes, little-endian. The events follow
/// it, one in each slot, up to the end of the file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "history/event.hpp"

namespace tutti::history {

inline constexpr char kFileMagic[8] = {'T', 'U', 'T', 'T', 'I', 'H', 'S', 'T'};
inline constexpr std::uint32_t kFileVersion = 1;
inline constexpr std::size_t kNameBytesMax = 255;

/// The incarnation that recorded the history.
struct Identity {
  std::string name{};             ///< at most 255 bytes, the rest is cut off
  std::uint16_t node = 0;         ///< the same number in all histories of a run
  std::uint64_t incarnation = 0;  ///< different each time the node starts
  std::uint64_t boot_time_ns = 0;
};

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t incarnation;
  std::uint64_t boot_time_ns;
  std::uint64_t closed_events;  ///< number of events that follow, once closed
  std::uint64_t lost_events;    ///< events that could not be written: the history has gaps
  std::uint16_t node;
  std::uint8_t closed;  ///< 1 once closed properly; 0 after a crash
  std::uint8_t name_bytes;
  std::uint32_t unused;
  char name[264];
};
inline constexpr std::size_t kHeaderSlots = 5;
static_assert(sizeof(FileHeader) == kHeaderSlots * sizeof(Event));
static_assert(std::is_trivially_copyable_v<FileHeader>);

[[nodiscard]] inline FileHeader make_header(const Identity& identity) {
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof kFileMagic);
  header.version = kFileVersion;
  header.header_bytes = sizeof(FileHeader);
  header.incarnation = identity.incarnation;
  header.boot_time_ns = identity.boot_time_ns;
  header.node = identity.node;
  const std::string_view name = std::string_view(identity.name).substr(0, kNameBytesMax);
  header.name_bytes = static_cast<std::uint8_t>(name.size());
  std::memcpy(header.name, name.data(), name.size());
  return header;
}

}  // namespace tutti::history
