#include "clients/member.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <thread>

#include "support/loopback.hpp"
#include "tutti/dds.hpp"
#include "tutti/dds/relay.hpp"

namespace tutti::perf {
namespace {

using namespace std::chrono_literals;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "clients: a member: %s\n", result.error().message.c_str());
    std::_Exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::uint64_t processor_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Until it is killed.
[[noreturn]] void run(const std::vector<MemberAddress>& addresses, std::size_t index,
                      Shared& shared) {
  Node node = must(Node::create({.name = addresses[index].name,
                                 .members = addresses,
                                 .suspect_after = std::chrono::seconds(20)}));
  dds::DomainParticipant participant = must(dds::DomainParticipant::create(node));
  must(node.start());
  const auto topic = must(dds::UntypedTopic::create(
      participant, kTopic, {.name = "bytes", .hash = 1},
      {.service = dds::Service::volatile_storage, .history = dds::keep_last(100'000)}));
  const auto inside = must(dds::Topic<std::uint64_t>::create(participant, "inside"));
  const auto reader = must(dds::DataReader<std::uint64_t>::create(
      inside, {}, {.on_sample = [&shared](const std::uint64_t&, const dds::SampleInfo&) {
        shared.delivered.fetch_add(1, std::memory_order_relaxed);
      }}));
  auto writer = must(dds::DataWriter<std::uint64_t>::create(inside, {.max_blocking_time = 60s}));
  const auto relay = must(dds::Relay::create(
      participant, {.listen = "127.0.0.1:0", .clients_max = 100'000, .half_open_max = 100'000}));
  const std::string& address = relay.address();
  shared.port = static_cast<std::uint32_t>(std::atoi(address.c_str() + address.rfind(':') + 1));
  for (;;) {
    for (int i = 0; i < 1000 && shared.writes.load(std::memory_order_relaxed); ++i) {
      static_cast<void>(must(writer.write(7)));
    }
    shared.processor_ns.store(processor_ns(), std::memory_order_relaxed);
    if (!shared.writes.load(std::memory_order_relaxed)) std::this_thread::sleep_for(5ms);
  }
}

}  // namespace

Members::Members() {
  void* const memory = ::mmap(nullptr, kMembers * sizeof(Shared), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::perror("clients: mmap"), std::_Exit(1);
  shared_ = static_cast<Shared*>(memory);
  const std::vector<MemberAddress> addresses = loopback_members(kMembers);
  for (std::size_t i = 0; i < kMembers; ++i) {
    new (&shared_[i]) Shared;
    const pid_t process = ::fork();
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      run(addresses, i, shared_[i]);
    }
    processes_.push_back(process);
  }
}

Members::~Members() {
  for (std::size_t i = 0; i < processes_.size(); ++i) kill(i);
  ::munmap(shared_, kMembers * sizeof(Shared));
}

void Members::await_relays() {
  for (std::size_t i = 0; i < kMembers; ++i) {
    while (shared_[i].port == 0) {
      if (::waitpid(processes_[i], nullptr, WNOHANG) != 0) std::_Exit(1);  // it said why
      std::this_thread::sleep_for(1ms);
    }
  }
}

std::string Members::address(std::size_t member) const {
  return "127.0.0.1:" + std::to_string(shared_[member].port.load());
}

void Members::kill(std::size_t member) {
  if (processes_[member] <= 0) return;
  ::kill(processes_[member], SIGKILL);
  ::waitpid(processes_[member], nullptr, 0);
  processes_[member] = 0;
}

}  // namespace tutti::perf
