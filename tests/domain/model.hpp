/// \file model.hpp
/// What a participant ought to have at a place of its groups' sequences: a second implementation of
/// topics, dumb and slow, which a world compares with the library's. Of the library it uses only
/// what reads a record.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "dds/definition.hpp"
#include "dds/record.hpp"
#include "tutti/message.hpp"
#include "tutti/view.hpp"

namespace tutti::domain {

using Bytes = std::vector<std::byte>;
using Key = std::pair<std::string, std::uint32_t>;  // bundle, id

/// The kinds of records of the control group that change nothing there.
inline constexpr std::uint8_t kMark = 5;
inline constexpr std::uint8_t kWant = 6;

struct ModelSample {
  std::uint64_t position = 0;
  std::uint32_t sender = 0;
  std::uint64_t view = 0;
  std::uint64_t timestamp = 0;
  std::uint64_t key = 0;
  Bytes payload{};
};

struct ModelTopic {
  dds::Definition definition{};
  std::uint64_t defined_at = 0;
  bool deleted = false;
  std::vector<ModelSample> samples{};  // all, in order
  [[nodiscard]] bool is_logged() const {
    return definition.options.service == dds::Service::logged;
  }
  /// Deliveries wait for its readers.
  [[nodiscard]] bool waits() const {
    return definition.options.history.kind == dds::History::Kind::keep_all;
  }
  /// Which of its samples before the position `until` are kept for readers at that time, oldest
  /// first.
  [[nodiscard]] std::vector<const ModelSample*> kept(std::uint64_t now_ns,
                                                     std::uint64_t until) const;
};

struct ModelSession {
  std::uint64_t client = 0;
  std::uint64_t nonce = 0;
  std::uint64_t last = 0;
};

struct ModelBundle {
  std::string name{};
  bool ordered = true;
  bool has_state = true;  // of an ordered one: who joins takes over what the others have
  std::map<std::uint32_t, std::shared_ptr<ModelTopic>> topics{};  // also deleted ones
  std::map<std::uint64_t, ModelSession> sessions{};

  void define(std::uint32_t id, const dds::Definition& definition, std::uint64_t position);
  void remove(std::uint32_t id);
  /// Whether the record was a sample that was delivered.
  bool apply(const Message& message);
  /// Topics are copied, not shared.
  [[nodiscard]] ModelBundle copy() const;

 private:
  bool add(const Message& message, const dds::Record& record);
  [[nodiscard]] bool is_next(const Message& message, const dds::Record& record);
};

struct ModelEntry {
  Key key{};
  dds::Definition definition{};
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> endpoints{};  // readers, writers
};

enum class Answer : std::uint8_t {
  created,
  joined,
  mismatch,
  full,
  not_yet,
  released,
  in_use,
  unknown,
  noted
};

struct ModelDirectory {
  std::map<std::string, ModelEntry> topics{};
  std::map<std::string, std::uint32_t> next{};  // by bundle
  std::set<Key> released{};
  std::set<std::string> unannounced{};  // bundles that are logged

  struct Outcome {
    Answer answer{};
    Key key{};
  };
  Outcome apply(std::uint32_t sender, std::span<const std::byte> record);
  void view(const std::vector<std::string>& names, const ViewChange& change);
  /// That id was given, here or before.
  [[nodiscard]] bool has_come_to(const Key& key) const;
  [[nodiscard]] std::string text(const std::vector<std::string>& names) const;

 private:
  Outcome announce(Decoder& in);
};

struct Model {
  ModelDirectory directory{};
  std::vector<ModelBundle> bundles{};
  [[nodiscard]] ModelBundle& bundle(const std::string& name);
};

}  // namespace tutti::domain
