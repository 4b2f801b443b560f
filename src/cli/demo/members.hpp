/// \file members.hpp
/// The member processes of a demo: starts them, follows their outputs, says which failed and why.
/// Every wait has a deadline: members that print nothing for a minute are stopped.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "cli/common_options.hpp"
#include "cli/demo/held_input.hpp"
#include "cli/demo/text.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

class DemoMembers {
 public:
  /// Starts `tutti run` for each part of the text, on free ports of 127.0.0.1.
  /// With `kill`, one of them is killed on the way and started again, to join the others.
  [[nodiscard]] static Result<DemoMembers> start(const Text& text, const FabricAndLevel& words,
                                                 bool kill, const std::filesystem::path& folder);

  /// Waits until all have ended, and shows progress. An error names the members that failed, with
  /// their messages; ErrorCode::stopped if a signal came (signals.hpp).
  [[nodiscard]] Result<void> wait();

  struct Member {
    std::string name;
    std::filesystem::path input;
    std::filesystem::path output;
    std::filesystem::path error;
    std::filesystem::path report;
    std::filesystem::path state;  ///< the folder in which it logs, at Level::durable
    std::optional<Child> child;   ///< once started
    bool killed = false;
  };
  /// The last one is the killed member's second start, if one was killed.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

 private:
  DemoMembers() = default;
  /// `held`: what it reads instead of its file.
  [[nodiscard]] Result<void> start_one(Member& member,
                                       const std::vector<std::string>& shared_arguments,
                                       HeldInput* held = nullptr);
  [[nodiscard]] Result<void> kill_and_start_again();
  [[nodiscard]] bool is_time_to_kill(std::uint64_t printed) const;
  [[nodiscard]] bool killed_has_joined() const;
  void wait_for_an_end(std::int64_t deadline_ns) const;
  [[nodiscard]] std::uint64_t printed_bytes() const;
  [[nodiscard]] Error failures();

  std::vector<Member> members_;
  std::vector<std::string> arguments_;  // that all of them get
  bool will_kill_ = false;
  std::uint64_t killed_at_bytes_ = 0;  // that all have printed together
  std::unique_ptr<HeldInput> held_;    // its last line waits for the killed one
  std::uint64_t expected_bytes_ = 0;   // of all outputs together
  std::uint64_t expected_lines_ = 0;
};

}  // namespace tutti::cli
