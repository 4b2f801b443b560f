/// \file domain.hpp
/// Several participants in this process, over shared memory, each started in a thread of its own:
/// for tests of topics on real nodes.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/dds.hpp"

namespace tutti::dds {

using namespace std::chrono_literals;

/// Long enough for any machine; only a failing test waits for it.
inline constexpr std::chrono::seconds kPatience{60};

/// Looks until it holds. False, and the test fails, if that takes too long.
[[nodiscard]] bool until(const std::function<bool()>& holds);

/// The value, or the test fails with the error and the program ends.
template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct DomainOptions {
  std::size_t participants = 3;
  std::uint32_t founders = 0;
  ParticipantOptions participant{};
  std::function<void(std::size_t participant, NodeOptions&)> adjust_node{};
};

class TestDomain {
 public:
  explicit TestDomain(DomainOptions options);
  ~TestDomain();
  TestDomain(const TestDomain&) = delete;
  TestDomain& operator=(const TestDomain&) = delete;

  /// Starts all, or these; fails the test if one does not.
  void start();
  void start(const std::vector<std::size_t>& which);
  /// A new node and participant in the place of one that was killed.
  void renew(std::size_t which);
  /// Destroys it, node first; it says nothing to the others.
  void kill(std::size_t which);
  [[nodiscard]] bool are_in_view_of(std::size_t members) const;

  [[nodiscard]] Node& node(std::size_t which) { return *members_[which].node; }
  [[nodiscard]] DomainParticipant& operator[](std::size_t which) {
    return *members_[which].participant;
  }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

 private:
  struct Member {
    std::optional<Node> node{};
    std::optional<DomainParticipant> participant{};
  };
  void make(std::size_t which);

  const DomainOptions options_;
  std::vector<MemberAddress> addresses_;
  std::vector<Member> members_;
};

}  // namespace tutti::dds
