// Records a topic of any type into a file, and plays the file into another topic at twice the
// speed.
//
//   example_record_and_replay FILE [PORT]
//
// Two participants in one process: "plane" writes, "recorder" knows no types. Of each sample the
// file has when it was written (u64, ns), its size (u32) and its bytes. `tutti topic record` and
// `tutti topic play` do the same for any topic.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tutti/dds.hpp"

using namespace std::chrono_literals;
namespace dds = tutti::dds;

struct Fix {
  double latitude, longitude;
};
TUTTI_FIELDS(Fix, latitude, longitude);

/// The value, or the program ends and says why.
template <class T>
static T must(tutti::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

constexpr int kSamples = 20;

static void record(dds::UntypedReader& reader, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  for (int left = kSamples; left > 0;) {
    must(reader.wait(10s));
    for (const auto& sample : must(reader.take(static_cast<std::size_t>(left)))) {
      const std::uint64_t when = sample.info.source_timestamp;
      file.write(reinterpret_cast<const char*>(&when), sizeof when);
      file.write(reinterpret_cast<const char*>(&sample.size), sizeof sample.size);
      file.write(reinterpret_cast<const char*>(sample.data), sample.size);
      --left;
    }
  }
}

static void replay(const std::string& path, dds::UntypedWriter& writer, double speed) {
  std::ifstream file(path, std::ios::binary);
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t first = 0, when = 0;
  std::uint32_t size = 0;
  while (file.read(reinterpret_cast<char*>(&when), sizeof when) &&
         file.read(reinterpret_cast<char*>(&size), sizeof size)) {
    std::vector<std::byte> bytes(size);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), size)) break;
    if (first == 0) first = when;
    const auto after = std::chrono::nanoseconds(when - first);
    std::this_thread::sleep_until(
        began + std::chrono::duration_cast<std::chrono::nanoseconds>(after / speed));
    must(writer.write(bytes));
  }
  must(writer.wait_for_acknowledgments(10s));
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FILE [PORT]\n", argv[0]), 2;
  const int port = argc > 2 ? std::atoi(argv[2]) : 7101;
  const std::vector<tutti::MemberAddress> members = {
      {"plane", "127.0.0.1:" + std::to_string(port)},
      {"recorder", "127.0.0.1:" + std::to_string(port + 1)}};
  const auto patience = std::chrono::seconds(20);  // a busy host may hold one up
  auto plane =
      must(tutti::Node::create({.name = "plane", .members = members, .suspect_after = patience}));
  auto recorder = must(
      tutti::Node::create({.name = "recorder", .members = members, .suspect_after = patience}));
  auto planes = must(dds::DomainParticipant::create(plane));
  auto recorders = must(dds::DomainParticipant::create(recorder));
  std::thread other([&] { must(plane.start()); });
  must(recorder.start());
  other.join();

  const auto fixes = must(dds::Topic<Fix>::create(planes, "fixes"));
  auto writer = must(dds::DataWriter<Fix>::create(fixes));
  // A recorder takes a topic as it is. DomainParticipant::topics lists them.
  const auto found = must(dds::UntypedTopic::find(recorders, "fixes"));
  auto reader = must(dds::UntypedReader::create(found));
  std::thread flight([&] {
    for (int i = 0; i < kSamples; ++i) {
      must(writer.write({.latitude = 47.0 + i, .longitude = 11.0}));
      std::this_thread::sleep_for(10ms);
    }
  });
  record(reader, argv[1]);
  flight.join();

  const auto again = must(dds::UntypedTopic::create(recorders, "fixes/again", found.type()));
  auto player = must(dds::UntypedWriter::create(again));
  auto viewer =
      must(dds::DataReader<Fix>::create(must(dds::Topic<Fix>::create(planes, "fixes/again"))));
  replay(argv[1], player, 2);
  int seen = 0;
  while (seen < kSamples) {
    must(viewer.wait(10s));
    for (const auto& sample : must(viewer.take())) {
      std::printf("%.0f %.0f\n", sample.data().latitude, sample.data().longitude);
      ++seen;
    }
  }
}
