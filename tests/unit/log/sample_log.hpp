/// \file sample_log.hpp
/// A log with everything in it that a log can have, for tests that spoil it.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "log/read.hpp"
#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "unit/log/expected.hpp"
#include "unit/log/trace.hpp"

namespace tutti::log::testing {

/// Four segments of 16 KiB, with marks, a cut, a gap, and the remains of older segments. Its last
/// batch has three records, and nothing says that it was synced.
struct SampleLog {
  tutti::testing::SimDisk disk{};
  Expected expected{};
  std::unique_ptr<Writer> writer{};

  SampleLog() {
    writer = open_writer(disk, small_segments(1));
    Prng random(1);
    while (writer->first() < 30 && !::testing::Test::HasFailure()) {
      write(random);
      EXPECT_TRUE(writer->prepare(4 << 10));
      if (random.one_in(2)) {
        EXPECT_TRUE(writer->rest());
      }
      if (writer->next() > 80) {
        expected.needed = writer->next() - 40;
        EXPECT_TRUE(writer->release_before(expected.needed));
      }
    }
    EXPECT_TRUE(writer->cut_to(writer->next() - 9));
    expected.cut_to(writer->next());
    write(random);
    expected.begin_at(writer->next() + 5);
    EXPECT_TRUE(writer->begin_at(expected.next));
    while (segments().size() < 4 && !::testing::Test::HasFailure()) write(random);
    write(random);
  }

  void write(Prng& random) {
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < 3; ++i) {
      entries.push_back(make_entry(writer->next() + i, random.below(700), random.next()));
    }
    Batch batch;
    add_all(batch, entries);
    EXPECT_TRUE(writer->write(batch));
    expected.append(entries);
  }

  [[nodiscard]] std::vector<std::string> segments() const {
    std::vector<std::string> paths;
    const auto names = disk.list(kDirectory);
    for (const std::string& name : *names) {
      if (first_of_name(name)) paths.push_back(kDirectory + "/" + name);
    }
    return paths;
  }
};

}  // namespace tutti::log::testing
