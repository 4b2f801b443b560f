#include "unit/restart/told.hpp"

namespace tutti::restart::testing {
namespace {

std::string ballot_of(std::uint64_t ballot) {
  return std::to_string(ballot / kRunningBallots) + "." + std::to_string(ballot % kRunningBallots);
}

std::string view_of(const Proposed& proposal) {
  return "view " + std::to_string(proposal.next.id) + " after " + std::to_string(proposal.follows);
}

std::string str(const Views& views) {
  std::string out = "installed " + std::to_string(views.installed().id) + " confirmed " +
                    std::to_string(views.confirmed()) + " promised " +
                    ballot_of(views.promised.ballot) + " from " +
                    std::to_string(views.promised.view);
  if (const auto& accepted = views.accepted) {
    out += " accepted " + view_of(accepted->proposal) + " in " + ballot_of(accepted->ballot);
  }
  return out;
}

std::string say(const Hello& one) { return "hello: " + str(one.told.views); }
std::string say(const Prepare& one) {
  return "prepare " + ballot_of(one.ballot) + " from view " + std::to_string(one.chain.back().id);
}
std::string say(const Promise& one) {
  return "promise " + ballot_of(one.ballot) + ": " + str(one.told.views);
}
std::string say(const Refuse& one) { return "refuse " + ballot_of(one.ballot) + ": " + one.why; }
std::string say(const Propose& one) {
  return "propose " + ballot_of(one.ballot) + ": " + view_of(one.proposal);
}
std::string say(const Fetch& one) { return "fetch from record " + std::to_string(one.from); }
std::string say(const Records& one) { return std::to_string(one.records.size()) + " records"; }
std::string say(const Progress& one) { return "progress in " + ballot_of(one.ballot); }
std::string say(const Accept& one) { return "accept " + ballot_of(one.ballot); }
std::string say(const Decided& one) { return "decided: " + view_of(one.proposal); }
std::string say(const Fresh& /*one*/) { return "fresh"; }
std::string say(const FetchSnapshot& one) {
  return "fetch snapshot " + std::to_string(one.seq) + " from " + std::to_string(one.offset);
}
std::string say(const SnapshotPiece& one) {
  return std::to_string(one.bytes.size()) + " bytes of snapshot " + std::to_string(one.seq);
}
std::string say(const Runs& one) { return "runs: " + str(one.told.views); }

}  // namespace

std::string to_string(const RestartMessage& message) {
  return std::visit([](const auto& one) { return say(one); }, message);
}

}  // namespace tutti::restart::testing
