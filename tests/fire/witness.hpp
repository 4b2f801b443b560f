/// \file witness.hpp
/// Records what a member does and sees in its history, and prints its views on standard output for
/// the program that drives it. Without a file for the history it only prints the views.
///
///     view NUMBER TIME_NS NAME:INCARNATION,...    it installed a view
///     first NUMBER TIME_NS                        its first delivery in that view
///
/// Invariants: WI1 a send is recorded before its commit, so before any delivery of it. WI2 the file
/// is made in the first view, when the incarnation is known; there is nothing to record before.
/// Threads: the predicate thread calls view_changed and delivered, so one view's deliveries stand
/// between its installation and the next one; one thread calls sends; any thread calls the rest.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "history/make_event.hpp"
#include "history/recorder.hpp"
#include "tutti/message.hpp"
#include "tutti/options.hpp"
#include "tutti/view.hpp"

namespace tutti::fire {

/// What a message begins with; the rest of it is a pattern made from these.
struct Mark {
  std::uint64_t ticket = 0;  ///< with kSafeMark, if it was sent as Service::safe
  std::uint64_t incarnation = 0;
};
inline constexpr std::uint64_t kSafeMark = std::uint64_t{1} << 63;

class Witness {
 public:
  /// `nodes`: all that may ever be members; the same list at each member.
  Witness(std::string name, std::vector<std::string> nodes, std::vector<Level> levels,
          std::string file);
  ~Witness();

  void view_changed(const ViewChange& change);
  /// `intact`: asked after the messages were read. If it is false, others may have overwritten
  /// them, because they went on without this member; then none of these messages counts.
  void delivered(std::uint16_t group, std::span<const Message> batch,
                 const std::function<bool()>& intact);

  /// Fills the message, and records that this member sends it next, with that service.
  void sends(std::uint16_t group, std::uint64_t ticket, Service service,
             std::span<std::byte> message);

  void leaves();
  /// The end: the witness records nothing after it.
  void stopped(history::StopReason reason, bool evicted);

  [[nodiscard]] std::uint64_t own_deliveries() const { return own_.load(); }
  [[nodiscard]] std::uint64_t deliveries() const { return all_.load(); }

 private:
  [[nodiscard]] history::NodeRef ref(const std::string& name, std::uint64_t incarnation) const;
  [[nodiscard]] history::At at(std::uint16_t group = 0) const;
  void open(std::uint64_t incarnation);
  void end_view(const ViewChange& change, std::uint64_t digest);
  void record(const history::Event& event);

  const std::string name_;
  const std::vector<std::string> nodes_;
  const std::vector<Level> levels_;
  const std::string file_;
  std::unique_ptr<history::Recorder> recorder_;
  std::vector<std::uint64_t> next_ordinal_;  // by group; kUnknown before the first delivery
  std::uint64_t first_of_view_ = 0;          // the view of which it printed the first delivery
  std::atomic<std::uint64_t> incarnation_{0};
  std::atomic<std::uint64_t> view_{0};
  std::atomic<std::uint64_t> own_{0};
  std::atomic<std::uint64_t> all_{0};
};

}  // namespace tutti::fire
