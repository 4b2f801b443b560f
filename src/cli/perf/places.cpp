#include "cli/perf/places.hpp"

#include <CLI/CLI.hpp>

#include "cli/common_options.hpp"

namespace tutti::cli {

void add_place_options(CLI::App& command, PerfPlaces& places) {
  CLI::Option* hosts = command.add_option(
      "--hosts", places.hosts,
      "HOST,HOST,...: start one member on each by ssh, instead of --members on this host. A host "
      "may come more than once, and be USER@HOST");
  command.add_option("--ssh", places.ssh, "the command that reaches a host, for --hosts")
      ->needs(hosts)
      ->capture_default_str();
  command.add_option("--program", places.program, "path of tutti on those hosts")
      ->needs(hosts)
      ->capture_default_str();
  command
      .add_option("--port", places.port,
                  "port of the first member, with --hosts; each next one takes the next port")
      ->needs(hosts)
      ->check(whole_number(1, 65'000))
      ->capture_default_str();
  command
      .add_option("--listen", places.listen,
                  "HOST:PORT: wait there for --members members that are started on other hosts "
                  "with `tutti perf join`")
      ->excludes(hosts);
}

}  // namespace tutti::cli
