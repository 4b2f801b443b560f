/// \file endpoint.hpp
/// One topic of `tutti demo --topics` at one participant: a writer that numbers its samples, and a
/// reader that takes.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <utility>

#include "cli/demo_topics/sample.hpp"
#include "cli/demo_topics/seen.hpp"
#include "cli/output.hpp"
#include "tutti/dds.hpp"

namespace tutti::cli {

class DemoEndpoint {
 public:
  using Reader = dds::DataReader<DemoSample>;

  [[nodiscard]] static Result<DemoEndpoint> create(const dds::DomainParticipant& participant,
                                                   std::size_t topic, std::size_t self);

  /// Writes one sample, unless there is no space or too many are not acknowledged yet.
  [[nodiscard]] Result<void> write(bool is_last);
  /// Notes which of its samples were acknowledged since the last time.
  void note_acknowledged(Output& output);
  /// Takes what is there.
  [[nodiscard]] Result<void> take(Output& output);

  [[nodiscard]] Reader& reader() { return reader_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] bool has_written_last() const { return has_written_last_; }
  /// That writer's last sample was seen here.
  [[nodiscard]] bool has_ended(std::size_t writer) const { return ended_[writer]; }
  [[nodiscard]] bool all_acknowledged() const { return waiting_.empty(); }

 private:
  DemoEndpoint(std::size_t topic, std::size_t self, dds::DataWriter<DemoSample> writer,
               Reader reader)
      : topic_(topic), self_(self), writer_(std::move(writer)), reader_(std::move(reader)) {}

  std::size_t topic_;
  std::size_t self_;
  dds::DataWriter<DemoSample> writer_;
  Reader reader_;
  std::uint32_t next_ = 0;
  bool has_written_last_ = false;
  std::deque<std::pair<Ticket, std::uint32_t>> waiting_;  // not acknowledged yet
  std::uint64_t seen_ = 0;
  std::array<bool, kDemoWriters.size()> ended_{};
};

}  // namespace tutti::cli
