/// \file process.hpp
/// One process of `tutti demo --topics`, as its parent sees it: told what to do, heard what it
/// reports.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "cli/demo_topics/sample.hpp"
#include "cli/perf/channel.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

/// What a process said last.
struct DemoReport {
  std::string state = "starts";
  std::string view{};
  DemoCounts seen{};
};

class DemoProcess {
 public:
  /// Starts this program with these arguments. What it says on standard error goes to a file.
  [[nodiscard]] static Result<DemoProcess> start(std::string name,
                                                 const std::vector<std::string>& arguments,
                                                 const std::filesystem::path& error_file);

  [[nodiscard]] Result<void> tell(const nlohmann::json& order);
  /// Takes what it has reported. An error: it has ended, or says what is no report.
  [[nodiscard]] Result<void> hear();
  /// kill -9.
  void kill();
  [[nodiscard]] bool running() { return child_.running(); }
  /// Waits until it has ended; at most until that time (now_ns) or a signal.
  void wait_for_end(std::int64_t deadline_ns) const;
  [[nodiscard]] bool succeeded() const { return child_.succeeded(); }
  /// That it ended, and what it said; also if it still runs.
  [[nodiscard]] std::string failure() const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const DemoReport& report() const { return report_; }
  [[nodiscard]] bool was_killed() const { return was_killed_; }
  [[nodiscard]] int input_fd() const { return channel_.input_fd(); }

 private:
  DemoProcess(std::string name, Child child, Channel channel, std::filesystem::path error_file)
      : name_(std::move(name)),
        child_(std::move(child)),
        channel_(std::move(channel)),
        error_file_(std::move(error_file)) {}

  std::string name_;
  Child child_;
  Channel channel_;
  std::filesystem::path error_file_;
  DemoReport report_;
  bool was_killed_ = false;
};

}  // namespace tutti::cli
