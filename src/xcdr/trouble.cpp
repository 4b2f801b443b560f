/// \file trouble.cpp
/// Words for what went wrong in a sample, and where.
#include "tutti/dds/detail/trouble.hpp"

#include <utility>

namespace tutti::dds::detail {

bool Trouble::because(ErrorCode code, std::string what) {
  if (what_.empty()) {
    code_ = code;
    what_ = std::move(what);
  }
  return false;
}

bool Trouble::too_deep() {
  return because(ErrorCode::invalid_argument,
                 "values lie more than " + std::to_string(kDepthMax) +
                     " deep in each other; make the tree flatter, or send it as a list");
}

bool Trouble::too_long(std::size_t length, std::size_t bound) {
  return because(ErrorCode::invalid_argument, "its length is " + std::to_string(length) +
                                                  ", at most " + std::to_string(bound) +
                                                  " are allowed; send less, or raise its bound on "
                                                  "both sides");
}

bool Trouble::no_room(std::size_t bytes) {
  return because(ErrorCode::no_space, "the given memory is too small by " + std::to_string(bytes) +
                                          " bytes or more; encoded_size() says what it takes");
}

bool Trouble::no_alternative() {
  return because(ErrorCode::invalid_argument,
                 "the std::variant has no value, as an exception was thrown while it was assigned; "
                 "assign it again");
}

bool Trouble::at_field(std::string_view name) {
  const bool dot = !path_.empty() && path_.front() != '[';
  path_.insert(0, dot ? "." : "").insert(0, name);
  return false;
}

bool Trouble::at_index(std::size_t index) {
  const bool dot = !path_.empty() && path_.front() != '[';
  path_.insert(0, "[" + std::to_string(index) + (dot ? "]." : "]"));
  return false;
}

Error Trouble::error(std::string_view type, std::string_view doing) const {
  std::string message = "cannot ";
  message.append(doing).append(" a ").append(type);
  if (!path_.empty()) message.append(", ").append(path_);
  return {code_, message.append(": ").append(what_)};
}

}  // namespace tutti::dds::detail
