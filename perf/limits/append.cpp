/// \file append.cpp
/// Question: how many bytes per second can one thread append to a growing file so that they are on
/// the disk, and how long does one append take?
///
/// Set-up: a new file in `--dir`; each turn writes `--bytes` bytes at its end, in one call, and
/// waits for fdatasync. A fifth of the time is warm-up. The file has no name, so nothing remains.
///
/// Unit: bytes and turns per second; the time of a turn, write and sync together.
///
/// Command: limit_append --bytes 1M --seconds 2
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "json.hpp"
#include "processes.hpp"
#include "samples.hpp"

namespace limits {
namespace {

constexpr size_t kMostTurns = 1 << 20;
constexpr uint64_t kMostBytes = uint64_t{16} << 30;  // what a run may take of the disk

int open_nameless(const std::string& folder) {
  std::string path = folder + "/limit_append.XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) die(path.c_str());
  if (unlink(path.c_str()) != 0) die(path.c_str());
  return file;
}

void append(int file, const std::vector<char>& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0) die("write");
    done += static_cast<size_t>(written);
  }
  if (fdatasync(file) != 0) die("fdatasync");
}

int run(int argc, char** argv) {
  Arguments arguments(argc, argv,
                      {{"bytes", "1M", "bytes of each write and sync"},
                       {"dir", ".", "the folder of the file"},
                       {"seconds", "2", "a fifth of it warm-up, the rest measured"}});
  const std::vector<char> bytes(static_cast<size_t>(arguments.integer("bytes", 1, 1 << 28)), 'x');
  const auto all_ns = static_cast<int64_t>(arguments.real("seconds", 0.01, 600) * kNsPerSecond);
  const int file = open_nameless(arguments.text("dir"));
  Samples samples(kMostTurns);
  const int64_t begin_ns = now_ns();
  int64_t measured_ns = 0;
  uint64_t written = 0;
  for (int64_t turn_ns = begin_ns; turn_ns - begin_ns < all_ns && written < kMostBytes;) {
    append(file, bytes);
    written += bytes.size();
    const int64_t end_ns = now_ns();
    if (turn_ns - begin_ns >= all_ns / 5 && samples.count() < kMostTurns) {
      samples.add(end_ns - turn_ns);
      measured_ns += end_ns - turn_ns;
    }
    turn_ns = end_ns;
  }
  if (samples.count() == 0) {
    std::fprintf(stderr, "error: no write ended in time; give more --seconds\n");
    return 1;
  }
  samples.sort();
  const double turns = static_cast<double>(samples.count());
  const double per_second = turns * kNsPerSecond / static_cast<double>(measured_ns);
  return Json()
      .add("bytes_per_second", per_second * static_cast<double>(bytes.size()))
      .add("syncs_per_second", per_second)
      .add("turn_ns_p50", samples.quantile(0.5))
      .add("turn_ns_p99", samples.quantile(0.99))
      .add("turns", static_cast<int64_t>(samples.count()))
      .add("bytes", static_cast<int64_t>(bytes.size()))
      .print();
}

}  // namespace
}  // namespace limits

int main(int argc, char** argv) { return limits::run(argc, argv); }
