/// \file state_sites.hpp
/// Members of a transfer of states over shared rows. Tests do the members' passes and the
/// applications' work by hand.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "membership/state_transfer.hpp"
#include "sst/memory.hpp"
#include "support/aligned_row.hpp"
#include "support/shared_fabric.hpp"

namespace tutti::testing {

inline constexpr StateWords kWords{.offset = 128, .ring_bytes = 256};
inline constexpr std::size_t kPiece = 40;
inline constexpr std::uint64_t kPatienceNs = 1'000;

inline std::string text_of(std::size_t bytes, char first = 'a') {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>(first + static_cast<char>(i * 7 / 3 % 23)));
  }
  return text;
}

struct Application {
  std::vector<std::string> states;  // by group
  std::vector<bool> snapshots;      // by group: else it saves at once
  std::vector<std::string> loaded;  // by group, the states that were begun, after each other: "|"
  std::vector<std::uint64_t> offsets;  // where it was read
  std::size_t read_bytes = 0, loaded_bytes = 0;
  std::shared_ptr<int> held = std::make_shared<int>();  // one use for each snapshot there is
  bool save_fails = false, read_fails = false, load_fails = false;
};

class Site {
 public:
  Site(Slot slot, std::vector<AlignedRow>& rows, std::vector<std::string> states,
       std::vector<bool> snapshots)
      : fabric(rows), slot_(slot) {
    application.states = std::move(states);
    application.snapshots = std::move(snapshots);
    application.loaded.resize(application.states.size());
    std::vector<GroupState> groups;
    for (std::size_t g = 0; g < application.states.size(); ++g) groups.push_back(state(g));
    jobs = std::make_unique<StateJobs>(std::move(groups), kWords.piece_bytes());
    const RowOf row_of = [&rows](Slot peer) { return rows[peer.value].data(); };
    transfer = std::make_unique<StateTransfer<NativeMemory>>(kWords, *jobs, rows[slot.value].data(),
                                                             row_of, kPatienceNs);
  }

  bool begin(const View& view) {
    transfer->expect(view, slot_);
    return transfer->begin(view, slot_);
  }
  bool pass() {
    const bool moved = transfer->step(effects);
    effects.carry_out();
    return moved;
  }
  bool work() { return jobs->work(); }

  Application application;
  SharedFabric fabric;
  Effects effects{fabric};
  std::unique_ptr<StateJobs> jobs;
  std::unique_ptr<StateTransfer<NativeMemory>> transfer;

 private:
  GroupState state(std::size_t g) {
    GroupState out{.name = "g" + std::to_string(g)};
    Application& app = application;
    if (app.snapshots[g]) {
      out.snapshot = [&app, g]() -> Result<ReadSnapshot> {
        if (app.save_fails) return fail(ErrorCode::system, "no ink");
        return [&app, held = app.held, state = app.states[g]](
                   std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
          if (app.read_fails) return fail(ErrorCode::system, "no light");
          app.offsets.push_back(offset);
          const std::string part = offset < state.size() ? state.substr(offset, into.size()) : "";
          std::ranges::copy(std::as_bytes(std::span(part)), into.begin());
          app.read_bytes += part.size();
          return part.size();
        };
      };
    } else {
      out.save = [&app, g](const StateSink& write) -> Result<void> {
        if (app.save_fails) return fail(ErrorCode::system, "no ink");
        write(std::as_bytes(std::span(app.states[g])));
        return {};
      };
    }
    out.load = [&app, g](const StatePiece& piece) -> Result<void> {
      if (app.load_fails) return fail(ErrorCode::system, "no room");
      if (piece.first) app.loaded[g] += "|";
      app.loaded[g].append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
      app.loaded_bytes += piece.bytes.size();
      if (piece.last) app.loaded[g] += ".";
      return {};
    };
    return out;
  }

  const Slot slot_;
};

// Slots 0 .. survivors - 1 were there, the others join.
class StateTransferTest : public ::testing::Test {
 protected:
  void make(std::uint32_t survivors, std::uint32_t joiners, const std::vector<std::string>& states,
            const std::vector<bool>& snapshots) {
    sites_.clear();
    rows_.clear();
    view_ = {.id = 2, .members = {}, .survivors = survivors};
    for (std::uint32_t slot = 0; slot < survivors + joiners; ++slot) {
      rows_.emplace_back(kWords.offset + kWords.bytes());
      view_.members.push_back({Slot{slot}, 100 + slot});
    }
    for (std::uint32_t slot = 0; slot < survivors + joiners; ++slot) {
      sites_.emplace_back(Slot{slot}, rows_, states, snapshots);
    }
  }
  void begin() {
    for (Site& site : sites_) site.begin(view_);
  }
  Site& site(std::size_t at) { return sites_[at]; }
  Application& app(std::size_t at) { return sites_[at].application; }
  // Until nothing moves; false if that takes too long.
  bool run(const std::vector<std::size_t>& who) {
    for (int round = 0; round < 10'000; ++round) {
      bool moved = false;
      for (const std::size_t at : who) moved |= sites_[at].pass();
      for (const std::size_t at : who) moved |= sites_[at].work();
      if (!moved) return true;
    }
    return false;
  }
  void run_until_loaded(const std::vector<std::size_t>& who, std::size_t joiner,
                        std::size_t bytes) {
    while (app(joiner).loaded_bytes < bytes) {
      for (const std::size_t at : who) {
        sites_[at].pass();
        sites_[at].work();
      }
    }
  }
  void lose(std::uint32_t slot) {
    for (Site& site : sites_) site.transfer->gone(Slot{slot});
  }
  Taking taking(std::size_t at) { return sites_[at].transfer->taking(); }

  View view_;
  std::vector<AlignedRow> rows_;
  std::deque<Site> sites_;
};

}  // namespace tutti::testing
