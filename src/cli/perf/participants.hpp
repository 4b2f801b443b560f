/// \file participants.hpp
/// The processes that take part in a measurement, and the ways to get them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "cli/perf/channel.hpp"
#include "cli/perf/hello.hpp"
#include "cli/perf/places.hpp"
#include "tutti/error.hpp"

namespace tutti::cli {

struct Participant {
  std::string name{};            ///< for people
  std::optional<Child> child{};  ///< of this process; nothing: started elsewhere
  Channel channel;
  std::string address{};         ///< where its node listens
  std::optional<Hello> hello{};  ///< once it has said it
};

using Participants = std::vector<Participant>;

/// Children of this process, on ports of 127.0.0.1.
[[nodiscard]] Result<Participants> start_here(std::uint32_t count);

/// Children too, of which each runs a member on another host (PerfPlaces::hosts). If that child or
/// this process ends, so does the member, whose input ends.
[[nodiscard]] Result<Participants> start_by_ssh(const PerfPlaces& places);

/// Waits at PerfPlaces::listen until so many have come, at most until that time (now_ns). Each gets
/// the rank that it asks for; the others get the remaining ranks in order of arrival. A process
/// that is no member is told so and disconnected.
[[nodiscard]] Result<Participants> await_joiners(const std::string& listen, std::uint32_t count,
                                                 std::int64_t deadline_ns);

}  // namespace tutti::cli
