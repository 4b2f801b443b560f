/// \file clients.cpp
/// Questions: how many samples do 1,000 clients bring in and take out through one relay; what do
/// the members' own topics lose by that; and how long is a client without samples when its relay is
/// killed?
/// Set-up: three members in processes of their own on this machine, each with a relay; all clients
/// at the relay of the first. Load: one thread that has the library's state machine of a client for
/// each (load.hpp); every client publishes 64 bytes to one stored topic, and SUBSCRIBERS of them
/// read all. Beside: the third member writes 8 bytes as fast as it can to an atomic topic of the
/// members; alone, and with the load. Kill: eight clients (tutti/client.hpp) subscribe through the
/// first member, which is killed (SIGKILL), while another publishes every millisecond through the
/// second; for each, from the kill to the first sample that was published after it.
/// Units: samples per second; processor time of the relay's process, in processors; milliseconds.
/// Command: build/release/bin/clients [CLIENTS] [SUBSCRIBERS] [SECONDS] [KILLS] [PER_SECOND],
/// default 1000 5 3 5 0 (as fast as answers come); one JSON object per line.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "client/pauses.hpp"
#include "clients/load.hpp"
#include "clients/member.hpp"
#include "tutti/client.hpp"

namespace tutti::perf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::system_clock;  // that of a sample's timestamp

struct Beside {
  double delivered = 0;   // of the members' topic, in a second
  double processors = 0;  // of the relay's process
};

class Watch {
 public:
  explicit Watch(Members& members) : members_(members) {}
  Beside took() const {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
    const Shared& relay = members_[0];
    return {static_cast<double>(relay.delivered - delivered_) / time.count(),
            static_cast<double>(relay.processor_ns - processor_ns_) * 1e-9 / time.count()};
  }

 private:
  Members& members_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const std::uint64_t delivered_ = members_[0].delivered;
  const std::uint64_t processor_ns_ = members_[0].processor_ns;
};

void measure_load(LoadOptions options, double seconds) {
  const std::chrono::duration<double> time(seconds);
  Members members;
  members.await_relays();
  options.relay = members.address(0);
  Shared& writer = members[kMembers - 1];

  writer.writes = true;
  std::this_thread::sleep_for(time / 4);  // warms up
  const Watch without(members);
  std::this_thread::sleep_for(time);
  const Beside alone = without.took();
  writer.writes = false;

  Load load(options);
  static_cast<void>(load.run(time / 4));
  const Watch of_load(members);
  const LoadCounts counts = load.run(time);
  const Beside loaded = of_load.took();

  writer.writes = true;
  static_cast<void>(load.run(time / 4));
  const Watch with(members);
  const LoadCounts both_counts = load.run(time);
  const Beside both = with.took();
  writer.writes = false;

  std::printf(
      "{\"clients\": %zu, \"subscribers\": %zu, \"bytes\": %zu, \"in_per_s\": %.0f, "
      "\"out_per_s\": %.0f, \"gaps\": %llu, \"relay_processors\": %.2f, "
      "\"members_alone_per_s\": %.0f, \"members_beside_per_s\": %.0f, "
      "\"in_beside_per_s\": %.0f, \"out_beside_per_s\": %.0f, "
      "\"relay_processors_beside\": %.2f}\n",
      options.clients, options.subscribers, options.bytes,
      static_cast<double>(counts.answered) / seconds,
      static_cast<double>(counts.received) / seconds,
      static_cast<unsigned long long>(counts.missed), loaded.processors, alone.delivered,
      both.delivered, static_cast<double>(both_counts.answered) / seconds,
      static_cast<double>(both_counts.received) / seconds, both.processors);
}

client::Client client_of(std::vector<std::string> relays) {
  auto made = client::Client::create({.relays = std::move(relays)});
  if (!made || !made->topic(kTopic, 60s)) std::_Exit(1);
  return std::move(*made);
}

// Milliseconds for each of the clients.
void measure_kill() {
  Members members;
  members.await_relays();
  std::atomic<std::int64_t> killed_ns = 0;
  std::atomic<std::size_t> started = 0;
  std::atomic<std::size_t> back = 0;
  std::mutex mutex;
  std::vector<double> times;  // by mutex
  constexpr std::size_t kClients = 8;
  std::vector<client::Client> clients;
  std::vector<client::Subscription> subscriptions;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(client_of({members.address(0), members.address(1), members.address(2)}));
    auto subscription = clients.back().subscribe(
        kTopic, {.window = 10'000,
                 .on_received = [&, first = true,
                                 is_back = false](const client::Received& received) mutable {
                   const auto* const sample = std::get_if<client::Sample>(&received);
                   if (sample == nullptr) return;
                   if (std::exchange(first, false)) ++started;
                   const std::int64_t killed = killed_ns;
                   const auto at = static_cast<std::int64_t>(sample->timestamp_ns);
                   if (killed == 0 || at <= killed || std::exchange(is_back, true)) return;
                   const std::int64_t now = Clock::now().time_since_epoch().count();
                   const std::scoped_lock lock(mutex);
                   times.push_back(static_cast<double>(now - killed) * 1e-6);
                   ++back;
                 }});
    if (!subscription) std::_Exit(1);
    subscriptions.push_back(std::move(*subscription));
  }
  client::Client publisher = client_of({members.address(1), members.address(2)});
  const std::byte bytes[64]{};
  bool is_killed = false;
  while (back < kClients) {
    static_cast<void>(publisher.publish(kTopic, bytes, [](const client::Published&) {}));
    std::this_thread::sleep_for(1ms);
    if (is_killed || started < kClients) continue;
    is_killed = true;
    // Clients that were welcomed just now wait a moment before the next relay.
    std::this_thread::sleep_for(2 * client::Pauses::kSteady);
    killed_ns = Clock::now().time_since_epoch().count();
    members.kill(0);
  }
  std::ranges::sort(times);
  std::printf(
      "{\"kill\": \"to the next sample\", \"clients\": %zu, \"first_ms\": %.1f, "
      "\"median_ms\": %.1f, \"last_ms\": %.1f}\n",
      kClients, times.front(), times[kClients / 2], times.back());
}

// In a process of its own: it forks members, and has threads then.
template <class Work>
bool apart(Work work) {
  std::fflush(stdout);
  const pid_t process = ::fork();
  if (process == 0) {
    work();
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  return ::waitpid(process, &status, 0) == process && status == 0;
}

}  // namespace
}  // namespace tutti::perf

int main(int argc, char** argv) {
  const auto number = [&](int at, double otherwise) {
    return argc > at ? std::atof(argv[at]) : otherwise;
  };
  tutti::perf::LoadOptions options;
  options.clients = static_cast<std::size_t>(std::clamp(number(1, 1000), 0.0, 60'000.0));
  options.subscribers = static_cast<std::size_t>(std::clamp(number(2, 5), 0.0, 60'000.0));
  const double seconds = number(3, 3);
  const double kills = number(4, 5);
  options.per_second = static_cast<std::uint64_t>(std::clamp(number(5, 0), 0.0, 1e9));
  if (options.clients < 1 || options.subscribers > options.clients || !(seconds > 0) ||
      seconds > 3600 || kills < 0 || kills > 1000) {
    return std::fprintf(stderr,
                        "usage: %s [CLIENTS] [SUBSCRIBERS] [SECONDS] [KILLS] [PER_SECOND]\n",
                        argv[0]),
           2;
  }
  bool good = tutti::perf::apart([&] { tutti::perf::measure_load(options, seconds); });
  for (int i = 0; i < static_cast<int>(kills); ++i) {
    good = tutti::perf::apart([] { tutti::perf::measure_kill(); }) && good;
  }
  return good ? 0 : 1;
}
