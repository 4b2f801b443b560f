/// \file recording.hpp
/// What `tutti topic record` writes and `play` reads: JSON, an object a line. docs/topic-command.md
/// has the format. Of each topic an object describes it, before its first sample.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/topic/domain.hpp"
#include "cli/topic/sample_text.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// The line that describes a topic.
[[nodiscard]] std::string recorded_topic(const TopicRow& row);

/// The line of a sample: as JSON of its type if that makes the same bytes again, else as
/// hexadecimal digits.
[[nodiscard]] std::string recorded_sample(const std::string& topic, const SampleText& samples,
                                          const TopicSample& sample);

/// Understands the lines in turn.
class RecordingReader {
 public:
  struct Recorded {
    std::string topic{};
    std::uint64_t timestamp_ns = 0;
    std::vector<std::byte> bytes{};
  };

  /// A sample; nothing of a line that describes a topic. An error says what is wrong with the line.
  [[nodiscard]] Result<std::optional<Recorded>> read(std::string_view line);

  /// Of a topic that was described.
  [[nodiscard]] const TopicRow& topic(const std::string& name) const {
    return *topics_.at(name).row;
  }

 private:
  struct Known {
    std::shared_ptr<const TopicRow> row{};
    SampleText samples{};
  };
  std::map<std::string, Known> topics_;
};

}  // namespace tutti::cli
