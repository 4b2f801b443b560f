/// \file append.cpp
/// Question: how many records and bytes per second can the durable log take, all of them on disk,
/// and how long does one batch take?
///
/// Set-up: a new log in a temporary directory in `--dir`, which is removed at the end. One thread
/// copies records of `--size` bytes into batches of `--records`, one ahead; another writes each
/// batch, which waits for its sync. With `--release yes` segments that are full are released and
/// used again, as behind an application that takes snapshots: without it each one is filled with
/// zeros first. The first fifth of the time is warm-up; with `--release yes` it goes on until a
/// segment was used again, which takes long where batches are small.
///
/// Unit: bytes of the records, without what the log adds, records and batches per second; the time
/// of Writer::write.
///
/// Command: log_append --size 1K --records 1024 --seconds 2. Beside it, in the same run of
/// perf/bench.py: limit_append --bytes 1M, a plain program that writes as many bytes a sync.
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "limits/arguments.hpp"
#include "limits/json.hpp"
#include "limits/processes.hpp"
#include "limits/samples.hpp"
#include "log/writer.hpp"

namespace {

using limits::now_ns;
using tutti::Result;
using tutti::log::Batch;
using tutti::log::bytes_of_record;
using tutti::log::kRecordBytesMax;
using tutti::log::posix_disk;
using tutti::log::Writer;

constexpr std::size_t kMostBatches = 1 << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;  // of the disk, if none is released

volatile sig_atomic_t ended_by = 0;

struct Options {
  std::size_t size;
  std::uint64_t records;  // of a batch
  bool release;
  double seconds;
};

/// Removed with all that is in it.
class Folder {
 public:
  explicit Folder(const std::string& parent) : path_(parent + "/log_append.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) limits::die(path_.c_str());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Batches that another thread fills, one ahead.
class Filler {
 public:
  explicit Filler(const Options& options)
      : options_(options), data_(options.size, std::byte{'x'}), thread_([this] { fill_all(); }) {}
  ~Filler() {
    {
      const std::lock_guard lock(mutex_);
      enough_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  /// The next one, for an empty batch.
  void swap(Batch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_; });
    std::swap(batch, ready_);
    full_ = false;
    lock.unlock();
    changed_.notify_all();
  }

 private:
  void fill_all() {
    Batch batch;
    for (std::uint64_t seq = 0;;) {
      for (const std::uint64_t end = seq + options_.records; seq < end; ++seq) {
        batch.add({.seq = seq, .view = 1, .sender = 0, .data = data_});
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !full_ || enough_; });
      if (enough_) return;
      std::swap(batch, ready_);
      full_ = true;
      lock.unlock();
      changed_.notify_all();
    }
  }

  const Options& options_;
  const std::vector<std::byte> data_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Batch ready_;
  bool full_ = false;
  bool enough_ = false;
  std::thread thread_;
};

struct Measured {
  limits::Samples samples{kMostBatches};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t batches = 0;
};

Result<void> measure(const Options& options, Writer& writer, Measured& measured) {
  Filler filler(options);
  Batch batch;
  const std::uint64_t bytes = options.records * bytes_of_record(options.size);
  const auto all_ns = static_cast<std::int64_t>(options.seconds * limits::kNsPerSecond);
  std::int64_t turn_ns = now_ns();
  const std::int64_t start_ns = turn_ns;
  std::uint64_t written = 0;
  while (ended_by == 0 && written < kMostBytes) {
    filler.swap(batch);
    const std::int64_t write_ns = now_ns();
    if (Result<void> done = writer.write(batch); !done) return done;
    const std::int64_t written_ns = now_ns();
    written += bytes;
    if (options.release) {
      if (Result<void> done = writer.release_before(writer.next()); !done) return done;
    }
    if (const Result<bool> more = writer.prepare(2 * bytes); !more) {
      return std::unexpected(more.error());
    }
    turn_ns = now_ns();
    if (measured.begin_ns == 0) {
      const bool used_again = !options.release || writer.first() > 0;
      if (used_again && turn_ns - start_ns >= all_ns / 5) measured.begin_ns = turn_ns;
      continue;
    }
    measured.samples.add(written_ns - write_ns);
    measured.end_ns = turn_ns;
    ++measured.batches;
    if (turn_ns - measured.begin_ns >= all_ns - all_ns / 5) break;
  }
  return {};
}

int run(int argc, char** argv) {
  limits::Arguments arguments(
      argc, argv,
      {{"size", "1K", "bytes of a record"},
       {"records", "1024", "records of a batch"},
       {"release", "yes", "yes or no: segments that are full are used again"},
       {"segment", "64M", "bytes of a segment"},
       {"dir", ".", "where the temporary directory is made"},
       {"seconds", "2", "a fifth of it warm-up, the rest measured"}});
  const Options options{
      .size = static_cast<std::size_t>(arguments.integer("size", 1, kRecordBytesMax)),
      .records = static_cast<std::uint64_t>(arguments.integer("records", 1, 1 << 24)),
      .release = arguments.choice("release", {"yes", "no"}) == "yes",
      .seconds = arguments.real("seconds", 0.01, 600)};
  const auto segment =
      static_cast<std::uint64_t>(arguments.integer("segment", 1 << 16, std::int64_t{1} << 32));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, [](int number) { ended_by = number; });
  }
  const Folder folder(arguments.text("dir"));
  const auto disk = posix_disk();
  const auto writer = Writer::open(*disk, folder.path() + "/log",
                                   {.node = "bench", .group = "bench"}, {.segment_bytes = segment});
  Measured measured;
  const Result<void> done =
      writer ? measure(options, **writer, measured) : Result<void>(std::unexpected(writer.error()));
  if (!done) return std::fprintf(stderr, "error: %s\n", done.error().message.c_str()), 1;
  if (ended_by != 0) return 128 + ended_by;
  if (measured.batches == 0) {
    return std::fprintf(stderr, "error: no batch was measured; give more --seconds\n"), 1;
  }
  measured.samples.sort();
  const double per_second = static_cast<double>(measured.batches) * limits::kNsPerSecond /
                            static_cast<double>(measured.end_ns - measured.begin_ns);
  const double records = per_second * static_cast<double>(options.records);
  return limits::Json()
      .add("bytes_per_second", records * static_cast<double>(options.size))
      .add("records_per_second", records)
      .add("syncs_per_second", per_second)
      .add("write_ns_p50", measured.samples.quantile(0.5))
      .add("write_ns_p99", measured.samples.quantile(0.99))
      .add("batches", static_cast<std::int64_t>(measured.batches))
      .add("size", static_cast<std::int64_t>(options.size))
      .add("records", static_cast<std::int64_t>(options.records))
      .print();
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
