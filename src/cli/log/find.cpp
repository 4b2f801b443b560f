#include "cli/log/find.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "log/read.hpp"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

struct Looked {
  bool has_log = false;
  std::vector<fs::path> folders{};
};

Result<Looked> look_into(const fs::path& folder) {
  Looked found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // what has just been removed is nothing
    if (log::first_of_name(entry->path().filename().string())) {
      const fs::file_type type = entry->status(gone).type();
      if (type == fs::file_type::not_found || type == fs::file_type::none) continue;
      if (type != fs::file_type::regular) {  // to open a pipe may block for ever
        return fail(ErrorCode::system, entry->path().string() +
                                           ": not a file, though it has the name of a segment; "
                                           "move it away");
      }
      found.has_log = true;
    } else if (!entry->is_symlink(gone) && entry->is_directory(gone)) {
      found.folders.push_back(entry->path());
    }
  }
  if (error) {
    return fail(ErrorCode::system, folder.string() +
                                       ": cannot list the directory: " + error.message() +
                                       "; run the command as the user that the node runs as");
  }
  return found;
}

Result<void> find_below(const fs::path& folder, int depth, std::vector<std::string>& logs) {
  Result<Looked> found = look_into(folder);
  if (!found) return std::unexpected(found.error());
  if (found->has_log) logs.push_back(folder.string());
  if (found->has_log || depth == kLogDepthMax) return {};
  for (const fs::path& below : found->folders) {
    if (Result<void> done = find_below(below, depth + 1, logs); !done) return done;
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> find_logs(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(ErrorCode::system, path + ": " + (error ? error.message() : "there is none"));
  }
  if (!fs::is_directory(status)) {
    return fail(ErrorCode::system,
                path + ": not a directory; give the directory that the log's files are in");
  }
  std::vector<std::string> logs;
  if (Result<void> done = find_below(path, 0, logs); !done) return std::unexpected(done.error());
  if (logs.empty()) {
    return fail(ErrorCode::system, path +
                                       ": no log is there, nor in the directories below it; a "
                                       "log has files such as " +
                                       log::segment_name(0));
  }
  std::ranges::sort(logs);
  return logs;
}

Result<std::string> find_log(const std::string& path) {
  Result<std::vector<std::string>> logs = find_logs(path);
  if (!logs) return std::unexpected(logs.error());
  if (logs->size() == 1) return logs->front();
  std::string names;
  for (const std::string& name : *logs) names += "\n  " + name;
  return fail(ErrorCode::invalid_argument,
              path + ": there are several logs below it; name one of them:" + names);
}

}  // namespace tutti::cli
