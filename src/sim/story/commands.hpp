/// \file commands.hpp
/// The commands of a story, and the world that they control. Threads: one.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan.hpp"
#include "sim/rounds.hpp"
#include "sim/story/scripted_world.hpp"
#include "sim/story/teller.hpp"
#include "tutti/error.hpp"

namespace tutti::sim {

class Commands {
 public:
  /// A block begins: its times count from here.
  void begin();
  [[nodiscard]] Result<void> obey(const std::string& line);
  /// What was told since.
  [[nodiscard]] std::string told();
  [[nodiscard]] static std::string_view about();

 private:
  using Words = std::vector<std::string>;
  struct Command {
    std::string_view name;
    std::string_view usage;
    std::size_t least;  // words after the name
    Result<void> (Commands::*obey)(const Words& words);
  };
  [[nodiscard]] static const std::vector<Command>& all();

  // Before the first start.
  Result<void> nodes(const Words& words);
  Result<void> group(const Words& words);
  // At any time.
  Result<void> tell(const Words& words);
  Result<void> start(const Words& words);
  Result<void> found(const Words& words);
  Result<void> quietly(const Words& words);
  Result<void> run(const Words& words);
  Result<void> send(const Words& words);
  Result<void> kill(const Words& words);
  Result<void> pause(const Words& words);
  Result<void> stick(const Words& words);
  Result<void> cut(const Words& words);
  Result<void> mend(const Words& words);
  Result<void> leave(const Words& words);
  Result<void> stop(const Words& words);
  Result<void> end(const Words& words, Ending how, const std::string& said);

  [[nodiscard]] Result<void> make_world(const Words& founders);
  [[nodiscard]] Result<std::uint32_t> slot(const std::string& name) const;
  [[nodiscard]] Result<Member*> member(const std::string& name) const;
  [[nodiscard]] Result<void> hold(const Words& words, bool held);
  void run_until_quiet();
  void run_for(std::uint64_t delays);

  Words names_;
  GroupOptions group_{.window_messages = 16, .accelerated_window = 0};
  bool shared_ = false;
  bool stateless_ = true;
  Telling telling_;
  bool founded_ = false;            // after the first start: later ones only join
  std::unique_ptr<Rounds> rounds_;  // these four are made by the first start
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Teller> teller_;
  std::unique_ptr<ScriptedWorld> world_;
};

}  // namespace tutti::sim
