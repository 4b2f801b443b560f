#include "node/disk_logs.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/memory_advice.hpp"
#include "base/start_thread.hpp"
#include "node/clock.hpp"

namespace tutti {
namespace {

// A name of a file has no more bytes on most file systems.
constexpr std::size_t kFolderBytesMax = 255;

Result<std::unique_ptr<log::Writer>> open_log(log::Disk& disk, const NodeOptions& node,
                                              const GroupOptions& group,
                                              restart::LogSummary& found) {
  const Result<std::string> directory = log_directory(node.state_dir, group.name);
  if (!directory) return std::unexpected(directory.error());
  found.group = group.name;
  return log::Writer::open(disk, *directory, {.node = node.name, .group = group.name},
                           {.segment_bytes = group.log_segment_bytes,
                            .found = [&found](const log::Record& record) { add(found, record); }});
}

Result<void> add_snapshots(log::Disk& disk, const NodeOptions& node, const GroupOptions& group,
                           DiskLog& log) {
  if (!group.stateful) return {};
  Result<log::Snapshots> found = log::Snapshots::open(disk, log.writer());
  if (!found) return std::unexpected(std::move(found.error()));
  for (const std::string& trouble : found->trouble()) {
    if (node.log) node.log(LogLevel::warning, "group '" + group.name + "': " + trouble);
  }
  log.add_snapshots(std::move(*found), {.every_bytes = group.snapshot_every_bytes,
                                        .every = group.snapshot_every,
                                        .keep_bytes = group.keep_log_bytes});
  return {};
}

}  // namespace

std::string log_folder(std::string_view group) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char byte : group) {
    const bool first_dot = byte == '.' && out.empty();
    if (kPlain.find(byte) != std::string_view::npos && !first_dot) {
      out += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    out += '%';
    out += kHex[value / 16];
    out += kHex[value % 16];
  }
  return out;
}

std::shared_ptr<const log::Disk> disk_of_logs() { return log::posix_disk(); }

Result<std::string> log_directory(const std::string& state_dir, const std::string& group) {
  const std::string folder = log_folder(group);
  if (folder.size() <= kFolderBytesMax) return state_dir + "/" + folder;
  return fail(ErrorCode::invalid_argument,
              "its name is too long for a folder of its log: take one of at most 255 letters "
              "and digits, or of fewer other characters");
}

Result<std::unique_ptr<DiskLogs>> DiskLogs::open(const NodeOptions& node,
                                                 const std::vector<GroupOptions>& groups,
                                                 DiskLogsEvents events) {
  std::unique_ptr<DiskLogs> out(new DiskLogs(std::move(events)));
  bool any = false;
  for (const GroupOptions& group : groups) {
    out->logs_.emplace_back();
    out->found_.emplace_back();
    if (!group.logged || std::ranges::find(group.members, node.name) == group.members.end()) {
      continue;
    }
    any = true;
    Result<std::unique_ptr<log::Writer>> writer =
        open_log(*out->disk_, node, group, out->found_.back());
    if (!writer) {
      return fail(writer.error().code, "group '" + group.name + "': " + writer.error().message);
    }
    out->logs_.back() = std::make_unique<DiskLog>(std::move(*writer), out->asked_);
    if (Result<void> added = add_snapshots(*out->disk_, node, group, *out->logs_.back()); !added) {
      return fail(added.error().code, "group '" + group.name + "': " + added.error().message);
    }
  }
  if (!any) return nullptr;
  Result<std::thread> thread =
      start_thread("the thread for logs", [self = out.get()] { self->run(); });
  if (!thread) return std::unexpected(thread.error());
  out->thread_ = std::move(*thread);
  return out;
}

DiskLogs::DiskLogs(DiskLogsEvents events) : events_(std::move(events)), disk_(log::posix_disk()) {}

DiskLogs::~DiskLogs() {
  quit();
  join();
}

void DiskLogs::join() {
  if (thread_.joinable()) thread_.join();
  for (const auto& log : logs_) {
    if (log != nullptr) log->release();
  }
}

std::vector<LogSink*> DiskLogs::sinks() const {
  std::vector<LogSink*> out;
  for (const auto& log : logs_) out.push_back(log.get());
  return out;
}

void DiskLogs::quit() {
  quit_.store(true, std::memory_order_seq_cst);
  asked_.notify();
}

bool DiskLogs::waits() const {
  return std::ranges::any_of(logs_, [](const auto& log) { return log != nullptr && log->waits(); });
}

// One batch of each, so that no group waits for another one's backlog.
Result<bool> DiskLogs::work() {
  bool worked = false;
  for (const auto& log : logs_) {
    if (log == nullptr) continue;
    Result<bool> did = log->work();
    if (!did) return did;
    worked |= *did;
  }
  return worked;
}

Result<void> DiskLogs::prepare() {
  for (const auto& log : logs_) {
    if (log == nullptr) continue;
    if (Result<void> prepared = log->prepare(); !prepared) return prepared;
  }
  return {};
}

Result<bool> DiskLogs::rest() {
  bool more = false;
  for (const auto& log : logs_) {
    if (log == nullptr) continue;
    Result<bool> did = log->rest();
    if (!did) return did;
    more |= *did;
  }
  return more;
}

Result<void> DiskLogs::look_at_snapshots() {
  bool wanted = false;
  for (const auto& log : logs_) {
    if (log == nullptr || log->snapshots() == nullptr) continue;
    if (Result<void> looked = log->look_at_snapshots(now_ns()); !looked) return looked;
    wanted |= log->snapshots()->take_wish();
  }
  if (wanted) events_.wants_snapshot();
  return {};
}

std::chrono::nanoseconds DiskLogs::rests() const {
  std::chrono::nanoseconds out = std::chrono::hours(1);
  for (const auto& log : logs_) {
    if (log != nullptr) out = std::min(out, log->rests(now_ns()));
  }
  return out;
}

Result<void> DiskLogs::close() {
  for (const auto& log : logs_) {
    if (log == nullptr) continue;
    if (Result<void> closed = log->close(); !closed) return closed;
  }
  return {};
}

Result<void> DiskLogs::write_all() {
  for (;;) {
    const Result<bool> worked = work();
    if (!worked) return std::unexpected(worked.error());
    if (Result<void> looked = look_at_snapshots(); !looked) return looked;
    if (*worked) {
      events_.persisted();
      if (const Result<void> prepared = prepare(); !prepared) return prepared;
      continue;
    }
    if (quit_.load(std::memory_order_acquire)) {
      if (waits()) continue;
      return close();
    }
    const Result<bool> more = rest();
    if (!more) return std::unexpected(more.error());
    const std::uint32_t seen = asked_.prepare();
    if (*more || waits() || quit_.load(std::memory_order_acquire)) {
      asked_.cancel();
    } else {
      asked_.wait(seen, rests());
    }
  }
}

void DiskLogs::run() {
  try {
    outcome_ = write_all();
  } catch (const std::bad_alloc&) {
    outcome_ = fail(ErrorCode::system, "there is no memory to write a log: " + memory_advice());
  }
  if (!outcome_) events_.failed(outcome_.error());
  ended_.store(true, std::memory_order_release);
  events_.ended();
}

}  // namespace tutti
