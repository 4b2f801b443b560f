// Links between nodes, and what goes over them.
#include <algorithm>
#include <utility>

#include "unit/restart/recovery_world.hpp"
#include "unit/restart/told.hpp"

namespace tutti::restart::testing {

void RecoveryWorld::connect(std::uint32_t one, std::uint32_t other) {
  if (one > other) std::swap(one, other);
  if (one == other || !nodes_[one].recovery || !nodes_[other].recovery) return;
  if (nodes_[one].ends || nodes_[other].ends) return;
  if (!links_.insert({one, other}).second) return;
  at(nodes_[one], [&] { nodes_[one].recovery->up(other); });
  if (!links_.contains({one, other})) return;
  at(nodes_[other], [&] { nodes_[other].recovery->up(one); });
}

void RecoveryWorld::disconnect(std::uint32_t one, std::uint32_t other) {
  if (one > other) std::swap(one, other);
  if (links_.erase({one, other}) == 0) return;
  wire_[{one, other}].clear();
  wire_[{other, one}].clear();
  const auto lost = [&](Node& node, std::uint32_t peer) {
    if (node.recovery && !node.ends) at(node, [&] { node.recovery->down(peer); });
  };
  lost(nodes_[one], other);
  lost(nodes_[other], one);
}

// With that mistake, snapshots that a cut has removed are there again.
template <class Do>
void RecoveryWorld::around_cuts(Node& node, Do&& what) {
  if (mistake_ != RecoveryMistake::beyond_cut_kept) return what();
  std::map<std::string, std::vector<std::byte>> before;
  for (const auto& [group, files] : node.snapshots) {
    for (const log::Snapshot& one : files.all()) {
      before[files.path_of(one.seq)] = node.disk->contents(files.path_of(one.seq));
    }
  }
  what();
  for (const auto& [path, bytes] : before) {
    if (!node.disk->has(path)) node.disk->put(path, bytes);
  }
}

bool RecoveryWorld::deliver_one() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> some;
  for (const auto& [way, queue] : wire_) {
    if (!queue.empty()) some.push_back(way);
  }
  if (some.empty()) return false;
  const auto way = some[random_.below(some.size())];
  std::vector<std::byte> bytes = std::move(wire_[way].front());
  wire_[way].pop_front();
  std::optional<RestartMessage> message = decode(bytes);
  holds(message.has_value() && encode(*message) == bytes, "decodes", "a message");
  if (!message) return true;
  if (const auto* const records = std::get_if<Records>(&*message)) {
    counts_.records_sent += records->records.size();
  }
  const auto* const piece = std::get_if<SnapshotPiece>(&*message);
  const bool ends = piece != nullptr && piece->offset + piece->bytes.size() == piece->total;
  if (ends) ++counts_.fetched;
  Node& node = nodes_[way.second];
  if (node.ends) return true;
  if (const auto* const promise = std::get_if<Promise>(&*message)) {
    const std::optional<Views> views = synced(nodes_[way.first]);
    const bool switched = views && views->origin != promise->told.views.origin;
    holds(switched || (views && views->promised.view >= promise->told.views.promised.view &&
                       (views->promised.view > promise->told.views.promised.view ||
                        views->promised.ballot >= promise->ballot)),
          "is_on_disk", names_[way.first] + " has promised what is not on its disk");
  }
  if (traces_) {
    note("  " + names_[way.first] + " to " + names_[way.second] + ": " + to_string(*message));
  }
  if (mistake_ != RecoveryMistake::none) {
    if (!spoil_message(nodes_[way.first], node, *message)) return true;
    bytes = encode(*message);
  }
  const auto receive = [&] {
    around_cuts(node, [&] { node.recovery->receive(way.first, bytes); });
    if (ends && mistake_ == RecoveryMistake::fetched_is_lost) {
      const log::Snapshots& files = node.snapshots.at(piece->group);
      node.disk->erase(files.path_of(piece->seq));
    }
  };
  at(node, [&] {
    if (std::holds_alternative<Prepare>(*message)) {
      return unsaved(node, RecoveryMistake::promises_unsaved, receive);
    }
    const bool joins = node.recovery->stage() == Recovery::Stage::joins;
    joins ? unsaved(node, RecoveryMistake::may_join_unsaved, receive) : receive();
  });
  return true;
}

}  // namespace tutti::restart::testing
