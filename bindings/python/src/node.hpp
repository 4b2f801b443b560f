/// \file node.hpp
/// A node as an object of Python.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "joining.hpp"
#include "python.hpp"
#include "told.hpp"
#include "tutti/node.hpp"

namespace tutti::python {

/// One node more, until it is destroyed.
struct Counted {
  Counted() { count_node(1); }
  ~Counted() { count_node(-1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

/// The node. Calls that wait hold it, so that it is destroyed after they have
/// returned: without the GIL, since a function for states may still run and want it.
struct Running {
  [[nodiscard]] static std::shared_ptr<Running> of(Node made, bool driven) {
    return {new Running(std::move(made), driven), [](const Running* last) {
              if (Released::is_here()) {
                delete last;
              } else {
                const Released released;
                delete last;
              }
            }};
  }
  Running(Node made, bool driven)
      : driven_by_caller(driven), owned(std::make_unique<Node>(std::move(made))), node(*owned) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (joins->any()) end_after_joins(std::move(owned), joins);
  }

  Counted counted;
  std::atomic<bool> closing{false};  // calls that wait must return
  const bool driven_by_caller;
  const std::shared_ptr<Joins> joins = std::make_shared<Joins>();
  std::unique_ptr<Node> owned;
  Node& node;
};

class PyNode {
 public:
  explicit PyNode(const nb::dict& options);
  PyNode(const PyNode&) = delete;
  PyNode& operator=(const PyNode&) = delete;
  ~PyNode();

  /// Raises tutti.Stopped if the node was closed, or belongs to the parent of a fork.
  [[nodiscard]] std::shared_ptr<Running> running() const;

  /// Takes places for groups that are joined after start, as Node::reserve.
  void reserve(std::size_t count, const nb::dict& options);
  void start();
  void stop(nb::handle timeout);
  void leave(nb::handle timeout);
  /// Destroys the node. Calls of other threads end with an error.
  void close();
  [[nodiscard]] std::size_t poll();
  void wait(nb::handle timeout);
  [[nodiscard]] std::optional<ViewChange> next_view(nb::handle timeout);
  [[nodiscard]] bool is_closed() const { return running_ == nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// It stays when the node is closed: loops may still wait for its descriptors.
  [[nodiscard]] Told& told() const { return *told_; }

  const OfThisProcess here;

 private:
  void end(std::string_view name, nb::handle timeout, Result<void> (Node::*call)(nanoseconds));

  std::string name_;
  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
  std::shared_ptr<Running> running_;
  bool starts_ = false;
  bool begun_ = false;  // start() was called
};

}  // namespace tutti::python
