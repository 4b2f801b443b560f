/// \file input.hpp
/// Multicasts each line of standard input, until its end or until the output or the node fails.
/// Threads: the main thread. Waits in slices, so that a failure is noticed within one.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "cli/line_splitter.hpp"
#include "cli/stamps.hpp"
#include "tutti/group.hpp"

namespace tutti::cli {

enum class InputEnd {
  end_of_input,
  bad_input,  ///< a line is too long, or reading failed; Input::error() says what and where
  given_up,   ///< the output or the node failed
};

class Input {
 public:
  /// `stamps` may be null. `broken()` says that the output or the node has failed.
  Input(const Group& group, std::uint32_t message_max_bytes, Stamps* stamps,
        std::function<bool()> broken);

  [[nodiscard]] InputEnd send_all();

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint64_t lines() const { return sent_; }

 private:
  enum class Ready { readable, given_up };
  Ready wait_readable() const;
  bool send_lines();
  bool send(const Line& line);
  Claim wait_for_space(std::uint32_t size);
  void note_too_long(std::uint64_t number, std::uint64_t size, bool whole);

  Group group_;
  const std::uint32_t message_max_;
  Stamps* const stamps_;
  const std::function<bool()> broken_;
  LineSplitter splitter_;
  std::uint64_t sent_ = 0;
  std::string error_;
};

}  // namespace tutti::cli
