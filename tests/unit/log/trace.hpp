/// \file trace.hpp
/// A log that lives through a random trace of all that a writer does. Before each operation of the
/// disk it shows its owner the disk and what may be found there, and asks what becomes of it.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"

namespace tutti::log::testing {

/// What may be found: the log before the call that is being made, and after it.
struct Possible {
  Expected before{};
  Expected after{};
};

/// Small segments, so that there are many; salts that the seed says.
inline WriterOptions small_segments(std::uint64_t seed) {
  auto random = std::make_shared<Prng>(seed);
  return {.segment_bytes = 16 << 10,
          .salts = [random]() -> Result<std::uint64_t> { return random->next(); }};
}

class Trace {
 public:
  using AtOperation = std::function<tutti::testing::DiskFate(
      const tutti::testing::SimDisk&, const Possible&, const tutti::testing::DiskOperation&)>;

  Trace(std::uint64_t seed, AtOperation at_operation)
      : random_(seed), seed_(seed), at_operation_(std::move(at_operation)) {
    open();
  }

  /// No call has failed, and each has left what it should.
  [[nodiscard]] bool ok() const { return !error_ && !wrong_; }
  [[nodiscard]] bool wrong() const { return wrong_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const tutti::testing::SimDisk& disk() const { return *disk_; }
  [[nodiscard]] const Possible& possible() const { return possible_; }
  /// Errors of this call are not told.
  [[nodiscard]] bool preparing() const { return preparing_; }
  /// Nothing if it could not be opened.
  [[nodiscard]] Writer* writer() { return writer_.get(); }

  /// One call of the writer, or the process ends and the log is opened again.
  void step() {
    const std::uint64_t kind = random_.below(100);
    if (kind < 60) {
      write();
    } else if (kind < 70) {
      preparing_ = true;
      const Result<bool> more = writer_->prepare(random_.below(8 << 10));
      preparing_ = false;
      done("prepare", more ? Result<void>{} : std::unexpected(more.error()));
    } else if (kind < 80) {
      done("rest", writer_->rest());
    } else if (kind < 87) {
      release();
    } else if (kind < 93) {
      cut();
    } else if (kind < 95) {
      begin();
    } else {
      reopen();
    }
  }

 private:
  void watch() {
    disk_->on_operation([this](const tutti::testing::DiskOperation& operation) {
      return asking_ ? at_operation_(*disk_, possible_, operation) : tutti::testing::DiskFate::done;
    });
  }

  void open() {
    watch();
    auto opened = Writer::open(*disk_, kDirectory, some_identity(), small_segments(random_.next()));
    if (opened) writer_ = std::move(*opened);
    done("open", opened ? Result<void>() : std::unexpected(opened.error()));
  }

  /// The call that leads to possible_.after is over.
  void done(const char* what, const Result<void>& result) {
    if (!result) {
      error_ = result.error();
      return;
    }
    SCOPED_TRACE(std::string(what) + ", seed " + std::to_string(seed_));
    possible_.before = possible_.after;
    EXPECT_EQ(writer_->next(), possible_.after.next);
    EXPECT_EQ(writer_->digest(), possible_.after.digest);
    asking_ = false;
    const Result<Contents> found = read_contents(*disk_);
    asking_ = true;
    const std::string why =
        found ? difference(*found, possible_.after) : std::string(found.error().message);
    EXPECT_EQ(why, "");
    wrong_ = !why.empty() || writer_->next() != possible_.after.next ||
             writer_->digest() != possible_.after.digest;
  }

  void write() {
    std::vector<Entry> entries;
    const std::uint64_t records = 1 + random_.below(6);
    const std::uint64_t most = random_.one_in(8) ? 1800 : 300;
    for (std::uint64_t i = 0; i < records; ++i) {
      view_ += random_.one_in(20) ? 1 : 0;
      entries.push_back(
          make_entry(writer_->next() + i, random_.below(most), random_.next(), view_));
    }
    Batch batch;
    add_all(batch, entries);
    possible_.after.append(entries);
    done("write", writer_->write(batch));
  }

  [[nodiscard]] std::uint64_t some_number() {
    return writer_->first() + random_.below(writer_->next() - writer_->first() + 1);
  }

  void release() {
    const std::uint64_t seq = some_number();
    possible_.after.needed = std::max(possible_.after.needed, seq);
    possible_.before.needed = possible_.after.needed;
    done("release_before", writer_->release_before(seq));
  }

  void cut() {
    // Mostly a short tail, so that the log grows.
    const std::uint64_t tail = std::min<std::uint64_t>(writer_->next() - writer_->first(), 8);
    const std::uint64_t seq =
        random_.one_in(6) ? some_number() : writer_->next() - random_.below(tail + 1);
    possible_.after.cut_to(seq);
    done("cut_to", writer_->cut_to(seq));
  }

  void begin() {
    possible_.after.begin_at(writer_->next() + 1 + random_.below(9));
    done("begin_at", writer_->begin_at(possible_.after.next));
  }

  /// The process ends, as it should or not, or the power is lost.
  void reopen() {
    const std::uint64_t how = random_.below(3);
    if (how == 0) done("close", writer_->close());
    if (!ok()) return;
    writer_.reset();
    if (how == 2) disk_ = disk_->after_power_loss(random_.next());
    open();
  }

  Prng random_;
  const std::uint64_t seed_;
  const AtOperation at_operation_;
  std::unique_ptr<tutti::testing::SimDisk> disk_ = std::make_unique<tutti::testing::SimDisk>();
  Possible possible_{};
  std::uint64_t view_ = 1;
  bool asking_ = true;
  bool preparing_ = false;
  bool wrong_ = false;
  std::optional<Error> error_{};
  std::unique_ptr<Writer> writer_;
};

}  // namespace tutti::log::testing
