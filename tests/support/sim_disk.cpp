#include "support/sim_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/system_error.hpp"

namespace tutti::testing {
namespace {

constexpr std::uint64_t kSectorBytes = 512;
constexpr std::size_t kReadBytes = 8192;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const char* word_of(DiskStep step) {
  switch (step) {
    case DiskStep::write:
      return "write";
    case DiskStep::sync:
      return "sync";
    case DiskStep::create:
      return "create";
    case DiskStep::rename:
      return "rename";
    case DiskStep::remove:
      return "remove";
    case DiskStep::sync_directory:
      return "sync directory";
    case DiskStep::make_directory:
      return "make directory";
    case DiskStep::lock:
      return "lock";
    case DiskStep::open:
      return "open";
    case DiskStep::list:
      return "list";
    case DiskStep::read:
      return "read";
  }
  return "?";
}

std::unexpected<Error> fail_with(const DiskOperation& operation, int error_number) {
  return fail_system(operation.path + ": " + word_of(operation.step) + " (simulated)",
                     error_number);
}

}  // namespace

class SimDisk::OpenFile final : public log::File {
 public:
  OpenFile(const SimDisk& disk, std::string path, InodePtr inode, log::Access access)
      : disk_(disk), path_(std::move(path)), inode_(std::move(inode)), access_(access) {}

  Result<std::uint64_t> size() const override { return inode_->now.size(); }

  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    // In parts, so that something may be written between them.
    for (; into.size() > kReadBytes; into = into.subspan(kReadBytes), offset += kReadBytes) {
      if (auto part = read_part(offset, into.first(kReadBytes)); !part) return part;
    }
    return read_part(offset, into);
  }

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const DiskOperation operation{
        .step = DiskStep::write, .path = path_, .offset = offset, .bytes = bytes.size()};
    if (access_ != log::Access::write) return fail_with(operation, EBADF);
    auto asked = disk_.ask(operation);
    if (!asked) bytes = bytes.first(bytes.size() / 2);
    if (!bytes.empty()) {
      inode_->pending.push_back({offset, {bytes.begin(), bytes.end()}});
      apply(inode_->pending.back(), offset, offset + bytes.size(), inode_->now);
    }
    return asked;
  }

  Result<void> sync() override {
    auto asked = disk_.ask({.step = DiskStep::sync, .path = path_});
    if (asked) {
      for (const Write& write : inode_->pending) {
        apply(write, write.offset, write.offset + write.bytes.size(), inode_->durable);
      }
      inode_->durable.resize(inode_->now.size());
    }
    inode_->pending.clear();
    return asked;
  }

 private:
  Result<void> read_part(std::uint64_t offset, std::span<std::byte> into) const {
    const DiskOperation operation{
        .step = DiskStep::read, .path = path_, .offset = offset, .bytes = into.size()};
    if (auto asked = disk_.ask(operation); !asked) return asked;
    const std::vector<std::byte>& bytes = inode_->now;
    if (offset > bytes.size() || into.size() > bytes.size() - offset) {
      return fail(ErrorCode::system, path_ + ": the file ends before (simulated)");
    }
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return {};
  }

  const SimDisk& disk_;
  const std::string path_;
  const InodePtr inode_;
  const log::Access access_;
};

class SimDisk::HeldLock final : public log::DirectoryLock {
 public:
  HeldLock(std::shared_ptr<std::set<std::string>> locks, std::string path)
      : locks_(std::move(locks)), path_(std::move(path)) {}
  ~HeldLock() override { locks_->erase(path_); }
  Result<void> still_there() const override { return {}; }  // nobody moves directories here

 private:
  const std::shared_ptr<std::set<std::string>> locks_;
  const std::string path_;
};

void SimDisk::apply(const Change& change, Names& names) {
  if (!change.removed.empty()) {
    const auto entry = names.find(change.removed);
    if (entry != names.end() && entry->second == change.inode) names.erase(entry);
  }
  if (!change.added.empty()) names[change.added] = change.inode;
}

void SimDisk::Directory::change(Change change) {
  apply(change, now);
  pending.push_back(std::move(change));
}

void SimDisk::apply(const Write& write, std::uint64_t from, std::uint64_t to,
                    std::vector<std::byte>& content) {
  const std::uint64_t begin = std::max(from, write.offset);
  const std::uint64_t end = std::min<std::uint64_t>(to, write.offset + write.bytes.size());
  if (begin >= end) return;
  if (content.size() < end) content.resize(end);
  std::memcpy(content.data() + begin, write.bytes.data() + (begin - write.offset), end - begin);
}

Result<void> SimDisk::ask(const DiskOperation& operation) const {
  switch (hook_ ? hook_(operation) : DiskFate::done) {
    case DiskFate::done:
      return {};
    case DiskFate::io_error:
      return fail_with(operation, EIO);
    case DiskFate::no_space:
      return fail_with(operation, ENOSPC);
    case DiskFate::refused:
      return fail_with(operation, EACCES);
  }
  return {};
}

SimDisk::Directory* SimDisk::directory_of(const std::string& path) {
  const auto found = directories_.find(folder_of(path));
  return found == directories_.end() ? nullptr : &found->second;
}

SimDisk::InodePtr SimDisk::find(const std::string& path) const {
  const auto directory = directories_.find(folder_of(path));
  if (directory == directories_.end()) return nullptr;
  const auto entry = directory->second.now.find(name_of(path));
  return entry == directory->second.now.end() ? nullptr : entry->second;
}

Result<void> SimDisk::make_directory(const std::string& path) {
  if (!directories_.contains(path)) {
    if (auto asked = ask({.step = DiskStep::make_directory, .path = path}); !asked) return asked;
    directories_.try_emplace(path);
  }
  const DiskOperation sync{.step = DiskStep::sync_directory, .path = folder_of(path)};
  if (auto asked = ask(sync); !asked) return asked;
  directories_[path].in_parent = true;
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const std::string& path) const {
  const DiskOperation operation{.step = DiskStep::list, .path = path};
  if (auto asked = ask(operation); !asked) return std::unexpected(asked.error());
  const auto directory = directories_.find(path);
  if (directory == directories_.end()) return fail_with(operation, ENOENT);
  std::vector<std::string> names;
  for (const auto& entry : directory->second.now) names.push_back(entry.first);
  return names;
}

Result<std::unique_ptr<log::File>> SimDisk::open(const std::string& path,
                                                 log::Access access) const {
  const DiskOperation operation{.step = DiskStep::open, .path = path};
  if (auto asked = ask(operation); !asked) return std::unexpected(asked.error());
  InodePtr inode = find(path);
  if (inode == nullptr) return fail_with(operation, ENOENT);
  return std::make_unique<OpenFile>(*this, path, std::move(inode), access);
}

Result<std::unique_ptr<log::File>> SimDisk::create(const std::string& path) {
  const DiskOperation operation{.step = DiskStep::create, .path = path};
  if (auto asked = ask(operation); !asked) return std::unexpected(asked.error());
  Directory* directory = directory_of(path);
  if (directory == nullptr) return fail_with(operation, ENOENT);
  auto inode = std::make_shared<Inode>();
  directory->change({.inode = inode, .added = name_of(path)});
  return std::make_unique<OpenFile>(*this, path, std::move(inode), log::Access::write);
}

Result<void> SimDisk::rename(const std::string& from, const std::string& to) {
  const DiskOperation operation{.step = DiskStep::rename, .path = from, .to = to};
  if (auto asked = ask(operation); !asked) return asked;
  const InodePtr inode = find(from);
  if (inode == nullptr) return fail_with(operation, ENOENT);
  if (folder_of(from) != folder_of(to)) return fail_with(operation, EXDEV);
  directory_of(from)->change({.inode = inode, .removed = name_of(from), .added = name_of(to)});
  return {};
}

Result<void> SimDisk::remove(const std::string& path) {
  const DiskOperation operation{.step = DiskStep::remove, .path = path};
  if (auto asked = ask(operation); !asked) return asked;
  const InodePtr inode = find(path);
  if (inode == nullptr) return fail_with(operation, ENOENT);
  directory_of(path)->change({.inode = inode, .removed = name_of(path)});
  return {};
}

Result<void> SimDisk::sync_directory(const std::string& path) {
  const DiskOperation operation{.step = DiskStep::sync_directory, .path = path};
  if (auto asked = ask(operation); !asked) return asked;
  const auto directory = directories_.find(path);
  if (directory == directories_.end()) return fail_with(operation, ENOENT);
  for (const Change& change : directory->second.pending) apply(change, directory->second.durable);
  directory->second.pending.clear();
  return {};
}

Result<std::unique_ptr<log::DirectoryLock>> SimDisk::lock(const std::string& path) {
  const DiskOperation operation{.step = DiskStep::lock, .path = path};
  if (auto asked = ask(operation); !asked) return std::unexpected(asked.error());
  if (!locks_->insert(path).second) {
    return fail(ErrorCode::system, path + ": held by this process (simulated)");
  }
  return std::make_unique<HeldLock>(locks_, path);
}

std::vector<std::byte> SimDisk::survive(const Inode& inode, Prng& random, Mood mood) {
  std::vector<std::byte> content = inode.durable;
  std::map<std::uint64_t, std::vector<const Write*>> sectors;
  for (const Write& write : inode.pending) {
    const std::uint64_t last = (write.offset + write.bytes.size() - 1) / kSectorBytes;
    for (std::uint64_t at = write.offset / kSectorBytes; at <= last; ++at) {
      sectors[at].push_back(&write);
    }
  }
  for (const auto& [sector, writes] : sectors) {
    const std::uint64_t from = sector * kSectorBytes;
    std::size_t kept = random.below(8) < mood.data_eighths ? writes.size() : 0;
    const bool certain = mood.data_eighths == 0 || mood.data_eighths == 8;
    if (!certain && random.one_in(4)) kept = random.below(writes.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) apply(*writes[i], from, from + kSectorBytes, content);
    if (certain || kept == writes.size() || !random.one_in(4)) continue;
    const std::uint64_t torn = from + random.below(kSectorBytes);
    if (random.one_in(2)) {
      apply(*writes[kept], from, torn, content);
    } else {
      apply(*writes[kept], torn, from + kSectorBytes, content);
    }
  }
  // The file's length may be on disk without the data: then zeros are there.
  if (mood.data_eighths != 0 && !inode.pending.empty() && content.size() < inode.now.size()) {
    const std::uint64_t more = inode.now.size() - content.size();
    if (random.one_in(2)) content.resize(content.size() + random.below(more + 1));
  }
  return content;
}

std::unique_ptr<SimDisk> SimDisk::after_power_loss(std::uint64_t seed) const {
  Prng random(seed);
  constexpr std::uint64_t kEighths[] = {0, 1, 4, 7, 8};
  Mood mood{.data_eighths = kEighths[random.below(5)], .entry_eighths = kEighths[random.below(5)]};
  if (seed == kNothingKept) mood = {.data_eighths = 0, .entry_eighths = 0};
  if (seed == kAllKept) mood = {.data_eighths = 8, .entry_eighths = 8};

  auto left = std::make_unique<SimDisk>();
  std::map<const Inode*, InodePtr> survivors;
  for (const auto& [path, directory] : directories_) {
    if (!directory.in_parent && random.below(8) >= mood.entry_eighths) continue;
    Names names = directory.durable;
    for (const Change& change : directory.pending) {
      if (random.below(8) < mood.entry_eighths) apply(change, names);
    }
    Directory& copy = left->directories_[path];
    copy.in_parent = true;
    for (const auto& [name, inode] : names) {
      InodePtr& survivor = survivors[inode.get()];
      if (survivor == nullptr) {
        survivor = std::make_shared<Inode>();
        survivor->durable = survive(*inode, random, mood);
        survivor->now = survivor->durable;
      }
      copy.durable[name] = survivor;
    }
    copy.now = copy.durable;
  }
  return left;
}

std::unique_ptr<SimDisk> SimDisk::after_process_end() const {
  auto left = std::make_unique<SimDisk>();
  std::map<const Inode*, InodePtr> copies;
  const auto copy_of = [&](const InodePtr& inode) {
    InodePtr& copy = copies[inode.get()];
    if (copy == nullptr) copy = std::make_shared<Inode>(*inode);
    return copy;
  };
  left->directories_ = directories_;
  for (auto& [path, directory] : left->directories_) {
    for (auto& [name, inode] : directory.durable) inode = copy_of(inode);
    for (auto& [name, inode] : directory.now) inode = copy_of(inode);
    for (Change& change : directory.pending) change.inode = copy_of(change.inode);
  }
  return left;
}

std::vector<std::byte> SimDisk::contents(const std::string& path) const {
  const InodePtr inode = find(path);
  return inode == nullptr ? std::vector<std::byte>{} : inode->now;
}

bool SimDisk::has(const std::string& path) const { return find(path) != nullptr; }

void SimDisk::put(const std::string& path, std::vector<std::byte> bytes) {
  auto inode = std::make_shared<Inode>();
  inode->durable = bytes;
  inode->now = std::move(bytes);
  Directory& directory = directories_[folder_of(path)];
  directory.in_parent = true;
  directory.now[name_of(path)] = inode;
  directory.durable[name_of(path)] = inode;
}

void SimDisk::erase(const std::string& path) {
  if (Directory* directory = directory_of(path)) {
    directory->now.erase(name_of(path));
    directory->durable.erase(name_of(path));
  }
}

}  // namespace tutti::testing
