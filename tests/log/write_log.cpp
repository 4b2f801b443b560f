/// \file write_log.cpp
/// Writes a log as it is told on standard input, for tests of the command: one word a line with its
/// numbers, and an answer, `next N`, once it is done:
///   add VIEW SENDER HEX    a record for the next batch; HEX are its bytes
///   tick VIEW SENDER NS    a tick for the next batch
///   write                  writes and syncs the batch
///   rest, cut SEQ, begin SEQ, release SEQ, close    as in log/writer.hpp
/// Usage: write_log DIR NODE GROUP SEGMENT_BYTES. It ends at the end of its input, without closing
/// the log; with status 1 and a message after an error.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "log/writer.hpp"

namespace {

using tutti::Result;
using namespace tutti::log;

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

class Session {
 public:
  explicit Session(Writer& writer) : writer_(writer) {}

  Result<void> obey(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "add" || word == "tick") return add(word == "tick", words);
    if (word == "write") return writer_.write(batch_);
    if (word == "rest") return writer_.rest();
    if (word == "close") return writer_.close();
    std::uint64_t seq = 0;
    words >> seq;
    if (word == "cut") return writer_.cut_to(seq);
    if (word == "begin") return writer_.begin_at(seq);
    if (word == "release") return writer_.release_before(seq);
    return tutti::fail(tutti::ErrorCode::invalid_argument, "not understood: " + line);
  }

 private:
  Result<void> add(bool tick, std::istringstream& words) {
    Record record{.seq = batch_.empty() ? writer_.next() : batch_.next(), .tick = tick};
    words >> record.view >> record.sender;
    std::uint64_t time_ns = 0;
    std::string hex;
    if (tick) {
      words >> time_ns;
    } else {
      words >> hex;
    }
    const std::vector<std::byte> bytes = bytes_of(hex);
    record.data = tick ? std::as_bytes(std::span(&time_ns, 1)) : std::span(bytes);
    batch_.add(record);
    return {};
  }

  Writer& writer_;
  Batch batch_;
};

int complain(const std::string& message) {
  std::fprintf(stderr, "write_log: %s\n", message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return complain("usage: write_log DIR NODE GROUP SEGMENT_BYTES");
  const auto disk = posix_disk();
  const auto writer = Writer::open(*disk, argv[1], {.node = argv[2], .group = argv[3]},
                                   {.segment_bytes = std::stoull(argv[4])});
  if (!writer) return complain(writer.error().message);
  Session session(**writer);
  for (std::string line; std::getline(std::cin, line);) {
    if (const Result<void> done = session.obey(line); !done) return complain(done.error().message);
    std::printf("next %llu\n", static_cast<unsigned long long>((*writer)->next()));
    std::fflush(stdout);
  }
  return 0;
}
