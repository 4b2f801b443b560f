/// \file checker_bench.cpp
/// Question: how fast are histories recorded and checked, and how much memory does checking take?
/// Set-up: 3 members that all send in turn, one view, no violation; a send and 3 deliveries per
/// message, in files of the temporary folder. `Append`: recording, one thread. `Check`: all files,
/// in one thread, mapped and read from the page cache. Unit: events per second; the counter
/// peak_rss_mib is how much resident memory grew at most meanwhile, pages of the files included.
/// Command: build/release/bin/checker_bench, with --full also for 10 million events (640 MB of
/// files)
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "history/checker/check.hpp"
#include "history/make_event.hpp"
#include "history/reader.hpp"
#include "history/recorder.hpp"

namespace tutti::history {
namespace {

constexpr std::uint16_t kMembers = 3;
constexpr std::uint64_t kWindow = 300;  // messages between sending and delivering

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path file(std::uint16_t node) const {
    return path_ / std::to_string(node);
  }

 private:
  std::filesystem::path path_;
};

std::uint64_t incarnation(std::uint16_t node) { return 1000 + node; }

std::unique_ptr<Recorder> recorder(const Folder& folder, std::uint16_t node) {
  auto made = Recorder::to_file(
      folder.file(node),
      {.name = "m" + std::to_string(node), .node = node, .incarnation = incarnation(node)});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    std::exit(1);
  }
  return std::move(*made);
}

At at(std::uint64_t message) { return {.view = 1, .time_ns = message * 1000, .group = 0}; }

Event delivery(std::uint64_t message) {
  const auto sender = static_cast<std::uint16_t>(message % kMembers);
  return make_deliver(at(message), {.sender = {sender, incarnation(sender)},
                                    .ticket = Ticket{message / kMembers + 1},
                                    .ordinal = SeqNo{message},
                                    .length = 64,
                                    .crc = static_cast<std::uint32_t>(message * 7),
                                    .level = Level::atomic,
                                    .send_view = 1,
                                    .round = message / kMembers});
}

void record(const Folder& folder, std::uint16_t node, std::uint64_t messages) {
  const std::unique_ptr<Recorder> to = recorder(folder, node);
  to->append(make_install(at(0), 77, kMembers, 0));
  for (std::uint16_t member = 0; member < kMembers; ++member) {
    to->append(make_view_member(at(0), {member, incarnation(member)}, member,
                                kMemberJoined | kMemberSends));
  }
  for (std::uint64_t i = 0; i < messages + kWindow; ++i) {
    if (i < messages && i % kMembers == node) {
      to->append(make_send(at(i), Ticket{i / kMembers + 1}, 64, static_cast<std::uint32_t>(i * 7)));
    }
    if (i >= kWindow) to->append(delivery(i - kWindow));
  }
  if (!to->close()) std::exit(1);
}

double status_mib(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) {
      return std::strtod(line.c_str() + std::strlen(field) + 1, nullptr) / 1024;
    }
  }
  return 0;
}

void check_files(benchmark::State& state) {
  const auto messages = static_cast<std::uint64_t>(state.range(0)) / (kMembers + 1);
  const Folder folder;
  for (std::uint16_t node = 0; node < kMembers; ++node) record(folder, node, messages);
  std::uint64_t events = 0;
  double grown = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double before = status_mib("VmRSS");
    state.ResumeTiming();
    std::vector<HistoryFile> files;
    std::vector<History> histories;
    for (std::uint16_t node = 0; node < kMembers; ++node) {
      auto file = HistoryFile::open(folder.file(node));
      if (!file) return state.SkipWithError(file.error().message.c_str());
      histories.push_back(file->history());
      files.push_back(std::move(*file));
    }
    const auto report = check(histories, {.other_groups = {.round_robin = true}});
    if (!report || !report->good()) {
      return state.SkipWithError(report ? to_string(*report).c_str() : "not one run");
    }
    events += report->events;
    state.PauseTiming();
    grown = std::max(grown, status_mib("VmHWM") - before);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["peak_rss_mib"] = grown;
}

void append(benchmark::State& state) {
  const Folder folder;
  const std::unique_ptr<Recorder> to = recorder(folder, 0);
  std::uint64_t message = 0;
  for (auto _ : state) to->append(delivery(++message));
  state.SetItemsProcessed(state.iterations());
}

}  // namespace
}  // namespace tutti::history

int main(int argc, char** argv) {
  bool full = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--full") != 0) continue;
    full = true;
    std::move(argv + i + 1, argv + argc, argv + i);
    --argc;
  }
  using tutti::history::append;
  using tutti::history::check_files;
  benchmark::RegisterBenchmark("Append", append)->Iterations(1'000'000);
  auto* check = benchmark::RegisterBenchmark("Check", check_files)->Unit(benchmark::kMillisecond);
  check->Arg(full ? 10'000'000 : 1'000'000);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
