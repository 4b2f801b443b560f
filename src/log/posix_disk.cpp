#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/system_error.hpp"
#include "base/unique_fd.hpp"
#include "log/disk.hpp"

namespace tutti::log {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kDirectoryMode = 0700;

// Again after a signal.
template <class Call>
auto restarted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

Result<UniqueFd> open_fd(const std::string& path, int flags) {
  UniqueFd fd(restarted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kFileMode); }));
  if (!fd) return fail_system("cannot open " + path);
  return fd;
}

Result<void> sync_at(const std::string& path) {
  const Result<UniqueFd> fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  if (!fd) return std::unexpected(fd.error());
  if (restarted([&] { return ::fsync(fd->get()); }) != 0) return fail_system("cannot sync " + path);
  return {};
}

// A directory that this user may not open, or whose file system has no such call, has nothing that
// this log has put there.
Result<void> sync_if_allowed(const std::string& path) {
  const UniqueFd fd(
      restarted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd || restarted([&] { return ::fsync(fd.get()); }) == 0) return {};
  return errno == EIO ? fail_system("cannot sync " + path) : Result<void>{};
}

// A log that root repairs stays that of its node's user. Where root may not do so, on some file
// systems, the file is root's.
void give_to_owner(const UniqueFd& fd, const std::string& directory) {
  struct stat owner{};
  if (::geteuid() != 0 || ::stat(directory.c_str(), &owner) != 0) return;
  [[maybe_unused]] const int ignored = ::fchown(fd.get(), owner.st_uid, owner.st_gid);
}

class PosixFile final : public File {
 public:
  PosixFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  [[nodiscard]] const UniqueFd& fd() const { return fd_; }

  [[nodiscard]] Result<std::uint64_t> size() const override {
    struct stat found{};
    if (::fstat(fd_.get(), &found) != 0) return fail_system("cannot look at " + path_);
    return static_cast<std::uint64_t>(found.st_size);
  }
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
    while (!into.empty()) {
      const ssize_t got = restarted(
          [&] { return ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset)); });
      if (got < 0) return fail_system("cannot read " + path_);
      if (got == 0) return fail(ErrorCode::system, "cannot read " + path_ + ": it is shorter now");
      offset += static_cast<std::uint64_t>(got);
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }
  [[nodiscard]] Result<void> write(std::uint64_t offset,
                                   std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = restarted([&] {
        return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      });
      if (put < 0) return fail_system("cannot write to " + path_);
      offset += static_cast<std::uint64_t>(put);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
  }
  // DK3: the caller does not try again. An interrupted call has not told the outcome yet.
  [[nodiscard]] Result<void> sync() override {
    if (restarted([&] { return ::fdatasync(fd_.get()); }) != 0) {
      return fail_system("cannot sync " + path_);
    }
    return {};
  }

 private:
  UniqueFd fd_;
  const std::string path_;
};

class PosixLock final : public DirectoryLock {
 public:
  PosixLock(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  [[nodiscard]] Result<void> still_there() const override {
    struct stat held{};
    struct stat there{};
    if (::fstat(fd_.get(), &held) != 0) return fail_system("cannot look at " + path_);
    if (::stat(path_.c_str(), &there) != 0) {
      return fail_system("the directory was moved away or removed: cannot look at " + path_);
    }
    if (held.st_dev == there.st_dev && held.st_ino == there.st_ino) return {};
    return fail(ErrorCode::system, path_ +
                                       " is another file now: the directory was moved away while "
                                       "the log in it was written; stop the node first");
  }

 private:
  UniqueFd fd_;  // closing it gives the lock back
  const std::string path_;
};

std::string holder_of(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
  return got > 0 ? " (process " + std::string(text, static_cast<std::size_t>(got)) + ")" : "";
}

class PosixDisk final : public Disk {
 public:
  // Each is in its parent before anything is put into it (DK2). One that is there may be of a
  // process that was killed before it synced the parent.
  [[nodiscard]] Result<void> make_directory(const std::string& path) override {
    const std::filesystem::path whole(path);
    std::filesystem::path part;
    for (const std::filesystem::path& name : whole) {
      const std::filesystem::path parent = part.empty() ? std::filesystem::path(".") : part;
      part /= name;
      if (::mkdir(part.c_str(), kDirectoryMode) == 0) {
        if (Result<void> synced = sync_at(parent); !synced) return synced;
      } else if (errno != EEXIST && errno != EISDIR) {
        return fail_system("cannot make the directory " + part.string());
      } else if (Result<void> synced = sync_if_allowed(parent); !synced) {
        return synced;
      }
    }
    std::error_code error;
    if (!std::filesystem::is_directory(whole, error)) {
      return fail(ErrorCode::system, path + " is not a directory");
    }
    return {};
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& path) const override {
    std::vector<std::string> out;
    std::error_code error;
    std::filesystem::directory_iterator it(path, error);
    for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
      std::error_code gone;  // removed since: as if it had not been there
      if (!it->is_directory(gone)) out.push_back(it->path().filename().string());
    }
    if (error) return fail_system("cannot list " + path, error.value());
    std::ranges::sort(out);
    return out;
  }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path,
                                                   Access access) const override {
    return opened(path, access == Access::read ? O_RDONLY : O_RDWR);
  }
  [[nodiscard]] Result<std::unique_ptr<File>> create(const std::string& path) override {
    Result<std::unique_ptr<PosixFile>> file = opened(path, O_RDWR | O_CREAT | O_TRUNC);
    if (!file) return std::unexpected(std::move(file.error()));
    give_to_owner((*file)->fd(), path.substr(0, path.rfind('/') + 1));
    return std::move(*file);
  }
  [[nodiscard]] Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    return fail_system("cannot rename " + from + " to " + to);
  }
  [[nodiscard]] Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return {};
    return fail_system("cannot remove " + path);
  }
  [[nodiscard]] Result<void> sync_directory(const std::string& path) override {
    return sync_at(path);
  }
  [[nodiscard]] Result<std::unique_ptr<DirectoryLock>> lock(const std::string& path) override {
    const std::string name = path + "/LOCK";
    Result<UniqueFd> fd = open_fd(name, O_RDWR | O_CREAT);
    if (!fd) return std::unexpected(fd.error());
    give_to_owner(*fd, path);
    if (restarted([&] { return ::flock(fd->get(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) return fail_system("cannot lock " + name);
      return fail(ErrorCode::system, "another node uses " + path + holder_of(fd->get()) +
                                         "; stop it, or use another directory");
    }
    const std::string self = std::to_string(::getpid());
    if (::ftruncate(fd->get(), 0) != 0 ||
        ::pwrite(fd->get(), self.data(), self.size(), 0) != static_cast<ssize_t>(self.size())) {
      return fail_system("cannot write to " + name);
    }
    return std::make_unique<PosixLock>(std::move(*fd), name);
  }

 private:
  // A pipe with the name of a file would block for ever: it is opened without waiting, and refused.
  static Result<std::unique_ptr<PosixFile>> opened(const std::string& path, int flags) {
    Result<UniqueFd> fd = open_fd(path, flags | O_NONBLOCK);
    if (!fd) return std::unexpected(fd.error());
    struct stat found{};
    if (::fstat(fd->get(), &found) != 0) return fail_system("cannot look at " + path);
    if (!S_ISREG(found.st_mode)) {
      return fail(ErrorCode::system, path +
                                         " is not a file, though it has the name of one; move "
                                         "it away");
    }
    return std::make_unique<PosixFile>(std::move(*fd), path);
  }
};

}  // namespace

std::unique_ptr<Disk> posix_disk() { return std::make_unique<PosixDisk>(); }

}  // namespace tutti::log
