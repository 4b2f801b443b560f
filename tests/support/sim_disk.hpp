/// \file sim_disk.hpp
/// A disk in memory for tests of what is on disk: it knows what is synced and what is only written,
/// shows what a power loss leaves, and fails when a test says so. The same seed gives the same.
///
/// Invariants, which are DK1 to DK3 of log/disk.hpp and nothing more:
///  SD1  What was synced is in every image. Of what was only written, each 512 bytes of a file are
///       there as after any of the writes to them, or half-way between two of these, and each
///       entry of a directory is there or not, independently of all others; so is a directory.
///  SD2  A sync that fails drops the data that it should have made durable: the file reads as
///       written, later syncs succeed, and no image has that data, only the file's length.
/// Threads: one. Locks are held by the objects, and an image begins without any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "log/disk.hpp"

namespace tutti::testing {

enum class DiskStep : std::uint8_t {
  write,
  sync,
  create,
  rename,
  remove,
  sync_directory,
  make_directory,
  lock,
  open,
  list,
  read,
};

struct DiskOperation {
  DiskStep step;
  std::string path{};
  /// Of a rename: the new path.
  std::string to{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  /// Something is changed by it, so that a power loss before and after it may leave different
  /// disks.
  [[nodiscard]] bool changes() const { return step < DiskStep::lock; }
};

/// What becomes of an operation.
enum class DiskFate : std::uint8_t {
  done,
  io_error,  ///< EIO: of a write, a part is written; of a sync: SD2
  no_space,  ///< ENOSPC: of a write, a part is written
  refused,   ///< EACCES
};

class SimDisk final : public log::Disk {
 public:
  /// Asked before each operation, with the disk as it is then.
  using Hook = std::function<DiskFate(const DiskOperation&)>;
  static constexpr std::uint64_t kNothingKept = 0;
  static constexpr std::uint64_t kAllKept = 1;

  Result<void> make_directory(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) const override;
  Result<std::unique_ptr<log::File>> open(const std::string& path,
                                          log::Access access) const override;
  Result<std::unique_ptr<log::File>> create(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> sync_directory(const std::string& path) override;
  Result<std::unique_ptr<log::DirectoryLock>> lock(const std::string& path) override;

  void on_operation(Hook hook) { hook_ = std::move(hook); }

  /// What a power loss leaves now (SD1): one of the many possible disks for each seed, without what
  /// was not synced for kNothingKept, with all of it for kAllKept.
  [[nodiscard]] std::unique_ptr<SimDisk> after_power_loss(std::uint64_t seed) const;

  /// The same disk for another process: nothing is lost, and what was not synced still may be.
  [[nodiscard]] std::unique_ptr<SimDisk> after_process_end() const;

  /// For forged disks: what is put or erased is durable at once.
  [[nodiscard]] std::vector<std::byte> contents(const std::string& path) const;
  [[nodiscard]] bool has(const std::string& path) const;
  void put(const std::string& path, std::vector<std::byte> bytes);
  void erase(const std::string& path);

 private:
  class OpenFile;
  class HeldLock;

  struct Write {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };
  struct Inode {
    std::vector<std::byte> durable{};
    std::vector<std::byte> now{};
    std::vector<Write> pending{};
  };
  using InodePtr = std::shared_ptr<Inode>;
  using Names = std::map<std::string, InodePtr>;
  /// A change of a directory's entries that is not synced.
  struct Change {
    InodePtr inode;
    std::string removed{};  ///< a name that it loses; empty: none
    std::string added{};    ///< a name that it gets; empty: none
  };
  struct Directory {
    Names durable{};
    Names now{};
    std::vector<Change> pending{};
    bool in_parent = false;  ///< and synced there; else a power loss may take it with all in it
    void change(Change change);
  };
  /// How much of what was not synced an image keeps.
  struct Mood {
    std::uint64_t data_eighths;
    std::uint64_t entry_eighths;
  };

  static void apply(const Change& change, Names& names);
  static void apply(const Write& write, std::uint64_t from, std::uint64_t to,
                    std::vector<std::byte>& content);
  [[nodiscard]] static std::vector<std::byte> survive(const Inode& inode, Prng& random, Mood mood);
  [[nodiscard]] Result<void> ask(const DiskOperation& operation) const;
  [[nodiscard]] Directory* directory_of(const std::string& path);
  [[nodiscard]] InodePtr find(const std::string& path) const;

  std::map<std::string, Directory> directories_;
  std::shared_ptr<std::set<std::string>> locks_ = std::make_shared<std::set<std::string>>();
  Hook hook_{};
};

}  // namespace tutti::testing
