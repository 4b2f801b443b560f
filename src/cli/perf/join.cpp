/// \file join.cpp
/// `tutti perf join`: one member of a measurement whose parent, `tutti perf --listen`, runs
/// elsewhere.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "cli/clock.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/perf/take_part.hpp"
#include "cli/signals.hpp"
#include "cli/tcp.hpp"

namespace tutti::cli {
namespace {

struct JoinOptions {
  std::string parent{};
  std::string host{};
  std::uint16_t port = 0;
  std::int64_t rank = -1;
  double wait_s = 300;
};

int join(const JoinOptions& options) {
  exit_on_interrupt();
  const auto wait = duration_from(options.wait_s, "--wait");
  if (!wait) return report(wait.error());
  const std::int64_t deadline_ns = now_ns() + wait->count();
  Result<UniqueFd> connection = call(options.parent, deadline_ns);
  if (!connection) return report(connection.error());
  Hello hello = hello_here();
  const std::string host = options.host.empty() ? own_host(*connection) : options.host;
  Result<std::uint16_t> port = options.port;
  if (options.port == 0) port = free_port_of(host);
  if (!port) return report(port.error());
  hello.address = address_text(host, *port);
  if (options.rank >= 0) hello.rank = static_cast<std::uint32_t>(options.rank);
  UniqueFd output(::fcntl(connection->get(), F_DUPFD_CLOEXEC, 3));
  const Result<int> status =
      take_part(Channel(std::move(*connection), std::move(output)), hello, deadline_ns);
  return status ? *status : report(status.error());
}

}  // namespace

void add_perf_join(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "join", "Be one member of a measurement that `tutti perf ... --listen` waits for");
  command->footer(
      "The parent's options say what to measure; the options here say where this member runs.\n"
      "Parent and members may start in any order.");
  auto options = std::make_shared<JoinOptions>();
  command->add_option("PARENT", options->parent, "HOST:PORT where that command listens")
      ->required();
  command->add_option("--host", options->host,
                      "the address of this host that the other members reach it by. Default: the "
                      "one that reaches the parent");
  command->add_option("--port", options->port, "where this member listens. Default: any free one")
      ->check(whole_number(1, 65'535));
  command
      ->add_option("--rank", options->rank,
                   "rank of this member, from 0. Default: in order of arrival")
      ->check(whole_number(0, 255));
  command
      ->add_option("--wait", options->wait_s,
                   "seconds to wait for the parent and the other members")
      ->capture_default_str();
  command->callback([options, &status] { status = join(*options); });
}

}  // namespace tutti::cli
