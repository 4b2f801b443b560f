// A flight deck: one participant has the sensors, all others are displays.
//
//   example_flight_deck NAME MEMBERS FOLDER SECONDS [--bootstrap]
//
// MEMBERS is a=HOST:PORT,b=HOST:PORT,...; the first has the sensors. FOLDER is this participant's
// own, for its log. Give --bootstrap to one of them, at the first start alone.
//
//   attitude  100 Hz  unordered  the newest counts: no sample waits for another one
//   engine     20 Hz  stored     a display that comes later knows the newest of each engine at once
//   alarm   sometimes logged     on the disks of all before it is shown, and there for ever
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "tutti/dds.hpp"

using namespace std::chrono_literals;
namespace dds = tutti::dds;

struct Attitude {
  double pitch, roll, heading;  // degrees
};
TUTTI_FIELDS(Attitude, pitch, roll, heading);

struct Engine {
  int number;
  double temperature;  // degrees Celsius
};
TUTTI_FIELDS(Engine, number, temperature);
TUTTI_OPTIONS(Engine, .keys = {"number"});  // the history is kept for each engine

struct Alarm {
  std::string text;
  int engine;
};
TUTTI_FIELDS(Alarm, text, engine);

/// The value, or the program ends and says why.
template <class T>
static T must(tutti::Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

static std::vector<tutti::MemberAddress> members_of(const std::string& text) {
  std::vector<tutti::MemberAddress> members;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equals = part.find('=');
    members.push_back({part.substr(0, equals), part.substr(equals + 1)});
  }
  return members;
}

using Clock = std::chrono::steady_clock;

static void fly(const dds::Topic<Attitude>& attitude, const dds::Topic<Engine>& engine,
                const dds::Topic<Alarm>& alarm, Clock::time_point end) {
  auto attitudes = must(dds::DataWriter<Attitude>::create(attitude));
  auto engines = must(dds::DataWriter<Engine>::create(engine));
  auto alarms = must(dds::DataWriter<Alarm>::create(alarm));
  Clock::time_point next = Clock::now();
  for (int turn = 0; Clock::now() < end; ++turn) {
    auto loan = must(attitudes.loan());  // built where the others read it
    *loan = {.pitch = std::sin(turn / 50.0), .roll = 0, .heading = turn % 360 * 1.0};
    must(attitudes.write(std::move(loan)));
    if (turn % 5 == 0) {
      const Engine now{.number = turn / 5 % 2, .temperature = 600.0 + turn};
      must(engines.write(now));
      if (turn % 50 == 25) {
        must(alarms.write({.text = "engine is hot", .engine = now.number}));
        must(alarms.wait_for_acknowledgments(10s));  // it is on all disks now
      }
    }
    std::this_thread::sleep_until(next += 10ms);
  }
}

static void show(const dds::Topic<Attitude>& attitude, const dds::Topic<Engine>& engine,
                 const dds::Topic<Alarm>& alarm, Clock::time_point end) {
  std::atomic<int> attitudes = 0;  // on_sample is called on the thread that delivers
  const auto count = must(dds::DataReader<Attitude>::create(
      attitude, {}, {.on_sample = [&](const Attitude&, const dds::SampleInfo&) { ++attitudes; }}));
  auto engines = must(dds::DataReader<Engine>::create(engine, {.from = dds::kFromStored}));
  auto alarms = must(dds::DataReader<Alarm>::create(alarm, {.from = dds::kFromStored}));
  dds::WaitSet either(engines, alarms);
  while (Clock::now() < end) {
    static_cast<void>(either.wait(200ms));
    for (const auto& sample : must(alarms.take())) {
      std::printf("alarm %llu: %s: %d\n",
                  static_cast<unsigned long long>(sample.info().position.value),
                  sample.data().text.c_str(), sample.data().engine);
    }
    for (const auto& sample : must(engines.take())) {
      std::printf("engine %d: %.0f (%d attitudes)\n", sample.data().number,
                  sample.data().temperature, attitudes.load());
    }
    std::fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s NAME MEMBERS FOLDER SECONDS [--bootstrap]\n", argv[0]);
    return 2;
  }
  const auto members = members_of(argv[2]);
  const bool is_aircraft = members.front().name == argv[1];
  auto node = must(
      tutti::Node::create({.name = argv[1],
                           .members = members,
                           .suspect_after = 20s,  // a busy host may hold one up
                           .state_dir = argv[3],
                           .bootstrap = argc > 5 && std::string_view(argv[5]) == "--bootstrap"}));
  auto participant = must(dds::DomainParticipant::create(node));
  must(node.start());
  const auto attitude = must(
      dds::Topic<Attitude>::create(participant, "attitude", {.service = dds::Service::unordered}));
  const auto engine = must(dds::Topic<Engine>::create(participant, "engine",
                                                      {.service = dds::Service::volatile_storage}));
  const auto alarm =
      must(dds::Topic<Alarm>::create(participant, "alarm", {.service = dds::Service::logged}));
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(argv[4]));
  (is_aircraft ? fly : show)(attitude, engine, alarm, end);
  must(node.leave(10s));
}
