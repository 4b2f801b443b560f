// Two participants in one process and a topic of each service. Run it twice with the same folder:
// the samples of the logged topic are still there.
//
//   example_topics /tmp/topics
//
// A real cluster runs one Node per process, on one host or many: only the addresses differ.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tutti/dds.hpp"
#include "tutti/dds/fields.hpp"

using namespace std::chrono_literals;
using tutti::Result;
using tutti::dds::DataReader;
using tutti::dds::DataWriter;
using tutti::dds::DomainParticipant;
using tutti::dds::kFromStored;
using tutti::dds::SampleInfo;
using tutti::dds::Service;
using tutti::dds::Topic;
using tutti::dds::TopicOptions;
using tutti::dds::WaitSet;

// Trivially copyable: built and read in place.
struct Reading {
  std::uint32_t sensor;
  double celsius;
};
TUTTI_FIELDS(Reading, sensor, celsius);
TUTTI_OPTIONS(Reading, .keys = {"sensor"});

// Not trivially copyable: encoded by XCDR2.
struct Order {
  std::string customer;
  std::vector<std::uint32_t> articles;
};
TUTTI_FIELDS(Order, customer, articles);

template <class T>
static T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

static tutti::Node make_node(const std::string& name, const std::string& folder, int port) {
  const std::string state_dir = folder + "/" + name;
  return must(
      tutti::Node::create({.name = name,
                           .members = {{"a", "127.0.0.1:" + std::to_string(port)},
                                       {"b", "127.0.0.1:" + std::to_string(port + 1)}},
                           .suspect_after = std::chrono::seconds(20),  // a busy host
                           .state_dir = state_dir,
                           .bootstrap = name == "a" && !std::filesystem::exists(state_dir)}));
}

// unordered, atomic: b is called with each sample as it comes.
static void show_calls(DomainParticipant& a, DomainParticipant& b, Service service) {
  const std::string name = "readings." + std::string(to_string(service));
  auto topic = must(Topic<Reading>::create(a, name, {.service = service}));
  auto theirs = must(Topic<Reading>::create(b, name, {.service = service}));
  std::atomic<int> calls{0};
  auto reader = must(DataReader<Reading>::create(
      theirs, {}, {.on_sample = [&](const Reading& reading, const SampleInfo&) {
        std::printf("%s: sensor %u has %.1f\n", name.c_str(), reading.sensor, reading.celsius);
        calls.fetch_add(1);
        calls.notify_one();
      }}));
  auto writer = must(DataWriter<Reading>::create(topic));
  auto loan = must(writer.loan());  // built where b reads it
  *loan = {.sensor = 1, .celsius = 20.5};
  must(writer.wait(must(writer.write(std::move(loan))), 10s));
  calls.wait(0);
}

// stored: a late reader gets the newest sample of each key, though their writer is gone.
static void show_history(DomainParticipant& a, DomainParticipant& b) {
  const TopicOptions options{.service = Service::volatile_storage};
  auto topic = must(Topic<Reading>::create(a, "readings.stored", options));
  {
    auto writer = must(DataWriter<Reading>::create(topic));
    for (std::uint32_t i = 0; i < 6; ++i) {
      must(writer.write({.sensor = i % 2, .celsius = 20.0 + i}));
    }
    must(writer.wait_for_acknowledgments(10s));
  }
  auto theirs = must(Topic<Reading>::create(b, "readings.stored", options));
  auto reader = must(DataReader<Reading>::create(theirs, {.from = kFromStored}));
  for (int seen = 0; seen < 2;) {
    must(reader.wait(10s));
    for (const auto& sample : must(reader.take())) {
      std::printf("%s: sensor %u has %.1f\n", theirs.name().c_str(), sample.data().sensor,
                  sample.data().celsius);
      ++seen;
    }
  }
}

// logged: on the disks of both; a reader has all of it, of earlier runs as well.
static void show_log(DomainParticipant& a, DomainParticipant& b) {
  const TopicOptions options{.service = Service::logged};
  auto topic = must(Topic<Order>::create(a, "orders", options));
  auto writer = must(DataWriter<Order>::create(topic));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto begun = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  const tutti::Ticket ticket = must(writer.write({"Ada", {4711, 4712}}));
  must(writer.wait(ticket, 10s));
  auto theirs = must(Topic<Order>::create(b, "orders", options));
  auto reader = must(DataReader<Order>::create(theirs, {.from = kFromStored}));
  WaitSet any_of_them(reader);  // of one, or of several readers
  for (bool has_come_to_this_run = false; !has_come_to_this_run;) {
    must(any_of_them.wait(10s));
    for (const auto& sample : must(reader.take())) {
      std::printf("orders: %s ordered %zu articles\n", sample.data().customer.c_str(),
                  sample.data().articles.size());
      has_come_to_this_run |= sample.info().source_timestamp >= begun;
    }
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FOLDER [PORT]\n", argv[0]), 2;
  const int port = argc > 2 ? std::atoi(argv[2]) : 7131;  // and the next one
  std::filesystem::create_directories(argv[1]);
  tutti::Node node_a = make_node("a", argv[1], port);
  tutti::Node node_b = make_node("b", argv[1], port);
  DomainParticipant a = must(DomainParticipant::create(node_a));
  DomainParticipant b = must(DomainParticipant::create(node_b));
  {
    const std::jthread other([&] { must(node_b.start()); });
    must(node_a.start());
  }
  show_calls(a, b, Service::unordered);
  show_calls(a, b, Service::atomic);
  show_history(a, b);
  show_log(a, b);
}
