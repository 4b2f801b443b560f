/// \file sample.hpp
/// What the processes of `tutti demo --topics` have in common: who writes, to which topics, what a
/// sample is.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tutti/dds/fields.hpp"
#include "tutti/dds/options.hpp"

namespace tutti::cli {

/// Each writer numbers its samples on each topic from 0.
struct DemoSample {
  std::uint32_t writer = 0;  ///< index in kDemoWriters
  std::uint32_t number = 0;
  std::uint32_t is_last = 0;  ///< 1: this writer writes no more to this topic
};
TUTTI_FIELDS(DemoSample, writer, number, is_last);

/// Three participants from the start, one that comes later, and one that is no participant.
inline constexpr std::array<std::string_view, 5> kDemoWriters = {"a", "b", "c", "late", "client"};
inline constexpr std::size_t kDemoFounders = 3;
inline constexpr std::size_t kDemoKilled = 1;  ///< b: its relay has the client
inline constexpr std::size_t kDemoLate = 3;
inline constexpr std::size_t kDemoClient = 4;

struct DemoTopic {
  std::string_view name;  ///< and the word for its service
  dds::Service service;
  dds::History history;
};
/// A reader that is slow on a busy machine shall not lose samples: the depths are for many seconds.
inline constexpr std::array<DemoTopic, 4> kDemoTopics = {{
    {"unordered", dds::Service::unordered, dds::keep_last(50'000)},
    {"atomic", dds::Service::atomic, dds::keep_last(50'000)},
    {"stored", dds::Service::volatile_storage, dds::keep_last(10'000)},
    {"logged", dds::Service::logged, {}},
}};
inline constexpr std::size_t kDemoUnordered = 0;
inline constexpr std::size_t kDemoStored = 2;
inline constexpr std::size_t kDemoLogged = 3;

/// A number for each topic.
using DemoCounts = std::array<std::uint64_t, kDemoTopics.size()>;

}  // namespace tutti::cli
