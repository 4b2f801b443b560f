#include "tutti/node.hpp"

#include <utility>

#include "node/node_core.hpp"
#include "tutti/version.hpp"

namespace tutti {

std::string_view version() { return TUTTI_VERSION; }

Node::Node(std::unique_ptr<NodeCore> core) : core_(std::move(core)) {}
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

Result<Node> Node::create(NodeOptions options) {
  if (Result<void> valid = options.validate(); !valid) return std::unexpected(valid.error());
  return Node(std::make_unique<NodeCore>(std::move(options)));
}

Result<Group> Node::join(GroupOptions options) {
  Result<GroupCore*> core = core_->join(std::move(options));
  if (!core) return std::unexpected(core.error());
  return Group(*core);
}

Result<void> Node::start() { return core_->start(); }
std::size_t Node::poll() { return core_->poll(); }
void Node::wait(Timeout timeout) { core_->wait(timeout); }
Result<void> Node::stop(Timeout timeout) { return core_->stop(timeout); }
Result<void> Node::leave(Timeout timeout) { return core_->leave(timeout); }
ViewChange Node::view() const { return core_->view(); }
std::optional<Error> Node::failure() const { return core_->failure(); }
NodeStatistics Node::statistics() const { return core_->statistics(); }

}  // namespace tutti
