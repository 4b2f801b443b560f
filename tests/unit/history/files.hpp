/// \file files.hpp
/// A folder of its own for a test's files, and events to put in them.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "history/make_event.hpp"
#include "history/recorder.hpp"

namespace tutti::history::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-history-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline Identity some_identity() {
  return {.name = "alpha", .node = 7, .incarnation = 0x123456789abcdef0, .boot_time_ns = 99};
}

inline std::unique_ptr<Recorder> recorder_to(const std::filesystem::path& path) {
  auto recorder = Recorder::to_file(path, some_identity());
  if (!recorder) {
    ADD_FAILURE() << recorder.error().message;
    return nullptr;
  }
  return std::move(*recorder);
}

/// Any event, of some_identity().
inline Event random_event(Prng& random) {
  Event event;
  event.kind = static_cast<EventKind>(1 + random.below(kEventKinds - 1));
  event.detail = static_cast<std::uint8_t>(random.next());
  event.node = some_identity().node;
  event.group = static_cast<std::uint16_t>(random.next());
  event.peer = static_cast<std::uint16_t>(random.next());
  event.incarnation = some_identity().incarnation;
  event.view = random.next();
  event.time_ns = random.next();
  event.number = random.next();
  event.position = random.next();
  event.peer_incarnation = static_cast<std::uint32_t>(random.next());
  event.length = static_cast<std::uint32_t>(random.next());
  event.crc = static_cast<std::uint32_t>(random.next());
  event.extra = static_cast<std::uint32_t>(random.next());
  return event;
}

inline std::vector<Event> random_events(std::size_t count, std::uint64_t seed) {
  Prng random(seed);
  std::vector<Event> events;
  events.reserve(count);
  for (std::size_t i = 0; i < count; ++i) events.push_back(random_event(random));
  return events;
}

}  // namespace tutti::history::testing
