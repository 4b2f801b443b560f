#include "cli/demo_topics/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/clock.hpp"

namespace tutti::cli {
namespace {

struct Pipe {
  UniqueFd read{};
  UniqueFd write{};
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::system, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Result<DemoProcess> DemoProcess::start(std::string name, const std::vector<std::string>& arguments,
                                       const std::filesystem::path& error_file) {
  Result<Pipe> orders = make_pipe();
  if (!orders) return std::unexpected(std::move(orders.error()));
  Result<Pipe> reports = make_pipe();
  if (!reports) return std::unexpected(std::move(reports.error()));
  const UniqueFd error(::open(error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!error) {
    return fail(ErrorCode::system,
                "cannot make " + error_file.string() + ": " + std::strerror(errno));
  }
  Result<Child> child = Child::start(
      arguments,
      {.input = orders->read.get(), .output = reports->write.get(), .error = error.get()});
  if (!child) return std::unexpected(std::move(child.error()));
  return DemoProcess(std::move(name), std::move(*child),
                     Channel(std::move(reports->read), std::move(orders->write)), error_file);
}

Result<void> DemoProcess::tell(const nlohmann::json& order) {
  if (channel_.send(order)) return {};
  return fail(ErrorCode::peer_lost, failure());
}

Result<void> DemoProcess::hear() {
  while (true) {
    const Result<nlohmann::json> said = channel_.receive(now_ns());
    if (!said && said.error().code == ErrorCode::timed_out) return {};
    if (!said) return fail(ErrorCode::peer_lost, failure());
    report_.state = said->value("state", "");
    report_.view = said->value("view", "");
    report_.seen = said->value("seen", DemoCounts{});
  }
}

void DemoProcess::kill() {
  was_killed_ = true;
  child_.kill();
}

void DemoProcess::wait_for_end(std::int64_t deadline_ns) const {
  const Child* child = &child_;
  Child::wait_for_an_end({&child, 1}, deadline_ns);
}

std::string DemoProcess::failure() const {
  std::ifstream file(error_file_);
  std::string said{std::istreambuf_iterator<char>(file), {}};
  if (!said.empty() && said.back() == '\n') said.pop_back();
  return "participant " + name_ + " did not go on" +
         (said.empty() ? ", and said nothing" : ", saying:\n" + said);
}

}  // namespace tutti::cli
