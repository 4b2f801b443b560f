/// \file doctor.cpp
/// `tutti doctor`: checks this host before the first run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/child.hpp"
#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/log.hpp"
#include "cli/terminal.hpp"
#include "doctor/finding.hpp"
#include "doctor/host.hpp"
#include "doctor/libfabric.hpp"
#include "doctor/loopback.hpp"
#include "doctor/rdma.hpp"
#include "tutti/options.hpp"

namespace tutti::cli {
namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::Grade;

struct DoctorOptions {
  bool json = false;
  bool loopback = true;
  std::vector<std::string> fabrics{};  ///< to talk over; empty: what each host has
  std::string order = "round_robin";   ///< of the group that talks
};

std::string name_of(Grade grade) {
  switch (grade) {
    case Grade::good:
      return "good";
    case Grade::could_be_better:
      return "could be better";
    case Grade::broken:
      return "broken";
  }
  return "?";
}

/// `rdma_host`: see host_to_try().
Finding loopback_finding(const std::string& fabric, Order order, const std::string& rdma_host) {
  Finding finding{.subject = "loopback " + fabric};
  if (order != Order::round_robin) finding.subject += " " + std::string(to_string(order));
  const auto broken = [&](const std::string& what) {
    finding.grade = Grade::broken;
    finding.what = what;
    finding.how = "groups will not work over this fabric on this host: fix this error first";
    return finding;
  };
  const Result<std::vector<int>> ports = free_loopback_ports(2);
  if (!ports) return broken(ports.error().message);
  const bool by_rdma = fabric.find("verbs") != std::string::npos && !rdma_host.empty();
  const std::string host = (by_rdma ? rdma_host : "127.0.0.1") + ":";
  const doctor::LoopbackOptions options{
      .fabric = fabric,
      .addresses = {host + std::to_string(ports->at(0)), host + std::to_string(ports->at(1))},
      .order = order};
  const Result<doctor::LoopbackResult> result = doctor::loopback(options);
  if (!result) return broken(result.error().message);
  if (result->wrong != 0) {
    return broken(grouped(result->wrong) + " messages were delivered with wrong bytes");
  }
  finding.what = "ordering test passed (" + grouped(options.litmus_rounds) + " rounds); " +
                 grouped(options.rounds) +
                 " messages delivered unchanged; latency of 8 bytes: p50 " +
                 short_time(result->median_ns) + ", p99 " + short_time(result->p99_ns);
  return finding;
}

void append(Findings& all, Findings more) { std::ranges::move(more, std::back_inserter(all)); }

Findings examine(const DoctorOptions& options, Order order) {
  Findings all = doctor::findings_of(doctor::read_host());
  const doctor::Rdma rdma = doctor::read_rdma();
  append(all, doctor::findings_of(rdma));
  append(all, doctor::findings_of(ofi::offers()));
  if (!options.loopback) return all;
  const std::string rdma_host = doctor::host_to_try(rdma);
  std::vector<std::string> fabrics = options.fabrics;
  if (fabrics.empty()) {
    fabrics = {"shm", "tcp"};
    if (!rdma_host.empty()) fabrics.emplace_back("verbs");
  }
  for (const std::string& fabric : fabrics) {
    all.push_back(loopback_finding(fabric, order, rdma_host));
  }
  return all;
}

std::string text_of(const Findings& findings) {
  std::size_t widest = 0;
  for (const Finding& finding : findings) widest = std::max(widest, finding.subject.size());
  std::string text;
  for (const Finding& finding : findings) {
    std::string subject = finding.subject;
    subject.resize(widest, ' ');
    std::string grade = name_of(finding.grade);
    grade.resize(name_of(Grade::could_be_better).size(), ' ');
    text.append(subject).append("  ").append(grade).append("  ").append(finding.what).append("\n");
    if (finding.how.empty()) continue;
    text.append(widest + 2, ' ').append("-> ").append(finding.how).append("\n");
  }
  return text;
}

std::string json_of(const Findings& findings) {
  nlohmann::json lines = nlohmann::json::array();
  for (const Finding& finding : findings) {
    lines.push_back({{"subject", finding.subject},
                     {"grade", name_of(finding.grade)},
                     {"what", finding.what},
                     {"how", finding.how}});
  }
  const nlohmann::json value = {{"findings", std::move(lines)}};
  return value.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

int examine_and_print(const DoctorOptions& options) {
  for (const std::string& fabric : options.fabrics) {
    NodeOptions node;
    if (const Result<void> known = set_fabric(node, fabric); !known) return report(known.error());
  }
  const Result<Order> order = order_from(options.order);
  if (!order) return report(order.error());
  if (*order == Order::none) {
    return report({ErrorCode::invalid_argument,
                   "--order none: the members of the test tell each other a sequence; take "
                   "round_robin, token_ring or lcr"});
  }
  const Findings findings = examine(options, *order);
  if (!print(options.json ? json_of(findings) : text_of(findings))) return kExitError;
  const bool broken = std::ranges::find(findings, Grade::broken, &Finding::grade) != findings.end();
  return broken ? kExitError : kExitOk;
}

}  // namespace

void add_doctor(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Check this host: what is good for members, what is not, and what to do");
  command->footer("Exit status 1 if anything is broken. The command changes nothing.");
  auto options = std::make_shared<DoctorOptions>();
  command->add_flag("--json", options->json, "print JSON");
  CLI::Option* none =
      command->add_flag("!--no-loopback", options->loopback,
                        "skip the test in which two members exchange messages for a second per "
                        "fabric");
  command
      ->add_option("--fabric", options->fabrics,
                   "fabric for that test, such as ofi:tcp; may be given several times "
                   "(default: shm, tcp, and verbs if a device is up)")
      ->allow_extra_args(false)
      ->excludes(none);
  command
      ->add_option("--order", options->order,
                   "order of the group in that test: round_robin, token_ring or lcr")
      ->capture_default_str()
      ->excludes(none);
  command->callback([options, &status] { status = examine_and_print(*options); });
}

}  // namespace tutti::cli
