/// \file lives.hpp
/// The members of a demo that are killed and started again, all of them, with the same command line
/// each time. One start of all of them is a life.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "cli/common_options.hpp"
#include "cli/demo/numbered_input.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

class Lives {
 public:
  /// Founds their group; nobody is started yet. The members' files are in `folder`.
  [[nodiscard]] static Result<Lives> found(const std::vector<std::string>& names,
                                           const FabricAndLevel& words,
                                           const std::filesystem::path& folder);

  struct Member {
    std::string name{};
    std::filesystem::path state{};
    std::filesystem::path output{};  ///< of this life
    std::filesystem::path error{};
    std::unique_ptr<NumberedInput> input{};
    std::optional<Child> child{};
    bool killed = false;
  };

  /// The next life. Each member sends "NAME.LIFE 0", "NAME.LIFE 1", ...: without an end, or so many
  /// lines.
  [[nodiscard]] Result<void> start(std::uint64_t burst, std::uint64_t count = 0);
  /// Looks again and again until it holds. An error if a member ends by itself, if no member prints
  /// anything for a minute, or if a signal came (ErrorCode::stopped).
  [[nodiscard]] Result<void> wait_until(const std::function<bool()>& holds);
  /// Until that time (now_ns), unless a member ends by itself.
  [[nodiscard]] Result<void> let_run(std::int64_t deadline_ns);
  /// Their inputs may end.
  void let_end();
  void kill(std::size_t member);
  /// All of them end by themselves, well.
  [[nodiscard]] Result<void> wait_for_the_end();
  /// What the members have printed in a life that is over can go.
  void forget() const;

  /// Of this life; 1 is the first.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// How many bytes the one that has printed least has.
  [[nodiscard]] std::uint64_t least_printed() const;

 private:
  Lives() = default;
  [[nodiscard]] Result<void> start_one(Member& member, std::uint64_t burst, std::uint64_t count);
  [[nodiscard]] Result<void> check_running();
  void wait_for_an_end(std::int64_t deadline_ns) const;
  [[nodiscard]] std::uint64_t printed() const;
  [[nodiscard]] std::string said() const;

  std::filesystem::path folder_;
  std::vector<std::string> arguments_;  // that all of them get
  std::vector<Member> members_;
  std::uint64_t number_ = 0;
  bool last_ = false;  // the inputs end, and so do the members
};

}  // namespace tutti::cli
