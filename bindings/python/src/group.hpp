/// \file group.hpp
/// A group as an object of Python, and what its claims and batches share with it.
#pragma once
#include <memory>
#include <optional>

#include "node.hpp"
#include "python.hpp"
#include "tutti/group.hpp"

namespace tutti::python {

/// Claims and batches keep it: they may outlive the objects of the group and of the node.
struct GroupState {
  GroupState(Group of, std::uint32_t alignment_of)
      : group(std::move(of)), alignment(alignment_of) {}

  OfThisProcess here;
  Group group;
  const std::uint32_t alignment;  // GroupOptions::alignment
  /// Called after a batch was released, or None: messages of this member may count as delivered
  /// now.
  nb::object on_release = nb::none();
};

class PyGroup {
 public:
  /// Declares the group before start. Once the node has started, or with a time-out, joins it and
  /// waits for that.
  PyGroup(PyNode& node, const nb::dict& options, nb::handle timeout);
  PyGroup(const PyGroup&) = delete;
  PyGroup& operator=(const PyGroup&) = delete;
  ~PyGroup();

  /// Raises tutti.Stopped in the child of a fork.
  [[nodiscard]] Group& group() const;
  [[nodiscard]] const std::shared_ptr<GroupState>& state() const { return state_; }
  /// Python has it now; one that was joined at run time is left if it is destroyed before (JN2).
  void keep() {
    if (handover_ != nullptr) handover_->kept();
    handover_.reset();
  }

 private:
  std::unique_ptr<Handover> handover_;  // null: Python has it, or it was declared before start
  std::shared_ptr<GroupState> state_;
};

/// Lets go of a group; in the child of a fork, where its memory must stay, not.
void drop(std::shared_ptr<GroupState>& state);

/// None is Service::of_level. Raises if the group does not offer it.
[[nodiscard]] Service service_from(const Group& group, nb::handle word);

/// The calls that send (send.cpp).
void bind_sending(nb::class_<PyGroup>& group);
/// A size as Python gave it: the library refuses what it has no number for.
[[nodiscard]] std::uint32_t claim_size(std::uint64_t size);
/// Waits for space if there is none.
[[nodiscard]] Claim claim_space(Group& group, std::uint64_t size, nanoseconds timeout);

/// Group.take (batch.cpp).
[[nodiscard]] nb::object take(const PyGroup& group, std::size_t max, nb::handle timeout);
/// Group.claim (claim.cpp).
[[nodiscard]] nb::object claim(const PyGroup& group, std::uint64_t size, nb::handle timeout,
                               nb::handle service);
[[nodiscard]] nb::object claim_object(std::shared_ptr<GroupState> of, Claim space, Service service);

}  // namespace tutti::python
