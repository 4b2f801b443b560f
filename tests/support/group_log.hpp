/// \file group_log.hpp
/// What became of every message of one group, and the dumb reference it is compared with.
///
/// Findings name the property of the project's list that is broken:
///   D1 contents as sent   D2 no duplicates   D6 one sequence   D7 its rule, without gaps
///   D8 each sender's messages in order and complete   D12 the space lives while it is read
///   A  atomic: delivered anywhere means had by every member
/// At Level::unordered only D1, D2, D8 and D12 are demanded (D14).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/message.hpp"
#include "tutti/options.hpp"

namespace tutti::testing {

class GroupLog {
 public:
  /// `number` tells groups apart in the messages' contents.
  GroupLog(const GroupOptions& options, std::uint32_t ring_bytes, std::uint64_t number);

  /// Where a member has things: its own control words, and for each sender the ring it reads.
  void attach(std::uint32_t member, const std::byte* own_control,
              std::vector<const std::byte*> rings);

  /// A claim of `size` bytes; returns its content's seed.
  std::uint64_t claimed(std::uint32_t sender, std::uint32_t size);
  void committed(std::uint32_t sender, std::uint64_t index, bool abandoned);

  /// Reads what the sender has published since the last call from its own row.
  void walk(std::uint32_t number);

  void delivered(std::uint32_t member, std::span<const Message> batch);
  /// Once more, at the end of the callback.
  void still_there(std::uint32_t number, std::span<const Message> batch);

  /// After the run. `complete`: all is delivered everywhere.
  void check_end(bool complete);

  void report(std::string finding);
  [[nodiscard]] const std::vector<std::string>& findings() const { return findings_; }
  /// Messages delivered at `member`, and all that were committed and not abandoned.
  [[nodiscard]] std::size_t delivered_at(std::uint32_t member) const;
  [[nodiscard]] std::size_t deliverable() const;
  [[nodiscard]] std::size_t claims(std::uint32_t sender) const {
    return senders_[sender].claims.size();
  }

 private:
  struct Claim {
    std::uint32_t size = 0;
    bool committed = false;
    bool abandoned = false;
  };
  struct Record {
    std::uint64_t round = 0;
    std::uint32_t offset = 0;  // of the message in the ring, in bytes
  };
  struct Sender {
    std::uint32_t rank = 0;
    std::vector<Claim> claims;
    std::vector<Record> records;  // published: a prefix of the claims
    std::uint32_t next_offset = 0;
    std::uint64_t next_round = 0;
  };
  struct Member {
    const std::byte* control = nullptr;
    std::vector<const std::byte*> rings;
    std::vector<std::uint64_t> next_claim;  // by sender: where to look for the next delivery
    std::vector<std::uint64_t> counts;      // by sender: delivered
    std::vector<std::uint64_t> last_batch;  // claim of each message of the current batch
    std::uint64_t delivered = 0;
  };
  struct Position {
    std::uint32_t sender = 0;
    std::uint64_t claim = 0;
    bool operator==(const Position&) const = default;
  };

  void deliver_one(std::uint32_t number, const Message& message);
  void check_order(std::uint32_t number, const Position& position, std::uint64_t seq);
  void check_everywhere(const Position& position);
  void check_rule(bool complete);
  [[nodiscard]] std::uint64_t seed(const Position& position) const;
  [[nodiscard]] std::string name(std::uint32_t member, const Position& position) const;

  GroupOptions options_;
  std::uint32_t ring_bytes_;
  std::uint64_t number_;
  std::vector<Sender> senders_;
  std::vector<Member> members_;
  std::vector<Position> sequence_;  // the longest seen: all others are prefixes of it
  std::vector<std::string> findings_;
};

}  // namespace tutti::testing
