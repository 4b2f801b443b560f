/// \file batch.hpp
/// Records that wait to be written together. Whoever fills it copies the messages; the checksums
/// are made when it is written.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log/format.hpp"

namespace tutti::log {

class Batch {
 public:
  /// Copies the record. Numbers go on: seq is next(), unless the batch is empty.
  void add(const Record& record);
  void clear();

  /// Where it is now, to come back to: what was added since is forgotten.
  struct Mark {
    std::size_t bytes;
    std::uint64_t view;
    std::uint32_t records;
  };
  [[nodiscard]] Mark mark() const { return {bytes_.size(), view_, records_}; }
  void back_to(const Mark& mark);

  [[nodiscard]] bool empty() const { return records_ == 0; }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  /// The number behind its last record.
  [[nodiscard]] std::uint64_t next() const { return first_ + records_; }
  [[nodiscard]] std::uint32_t records() const { return records_; }
  /// What it takes of a segment, without its commit.
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  /// Calls visit(const Record&) for each record, in order; its data is in the batch, at a multiple
  /// of 8 from where the memory begins.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t at = 0; at < bytes_.size();) {
      const Record record = record_at(at);
      visit(record);
      at += bytes_of_record(record.data.size());
    }
  }

 private:
  friend class Writer;
  [[nodiscard]] Record record_at(std::size_t at) const;

  std::vector<std::byte> bytes_;  // as in a segment, without checksums
  std::uint64_t first_ = 0;
  std::uint64_t view_ = 0;  // of its last record
  std::uint32_t records_ = 0;
};

}  // namespace tutti::log
