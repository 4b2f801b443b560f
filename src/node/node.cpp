#include "tutti/node.hpp"

#include <new>
#include <utility>

#include "base/memory_advice.hpp"
#include "node/node_core.hpp"
#include "tutti/version.hpp"

namespace tutti {

std::string_view version() { return TUTTI_VERSION; }

namespace {

Error moved_from() {
  return {ErrorCode::invalid_argument,
          "this Node was moved from: the node lives in the object that it was moved to"};
}

}  // namespace

Node::Node(std::shared_ptr<NodeCore> core) : core_(std::move(core)) {}
Node::Node(Node&&) noexcept = default;

Node& Node::operator=(Node&& other) noexcept {
  if (this == &other) return *this;
  if (std::shared_ptr<NodeCore> old = std::exchange(core_, std::move(other.core_))) {
    NodeCore::end(std::move(old));
  }
  return *this;
}

Node::~Node() {
  if (core_ != nullptr) NodeCore::end(std::move(core_));
}

Result<Node> Node::create(NodeOptions options) {
  if (Result<void> valid = options.validate(); !valid) return std::unexpected(valid.error());
  return Node(std::make_shared<NodeCore>(std::move(options)));
}

Result<Group> Node::join(GroupOptions options) {
  if (core_ == nullptr) return std::unexpected(moved_from());
  Result<GroupCore*> core = core_->join(std::move(options));
  if (!core) return std::unexpected(core.error());
  return Group(std::shared_ptr<GroupCore>(core_, *core));
}

Result<void> Node::reserve(const GroupOptions& shape, std::size_t count) {
  if (core_ == nullptr) return std::unexpected(moved_from());
  return core_->joined().reserve(shape, count);
}

Result<Group> Node::join(GroupOptions options, Timeout timeout) {
  const std::shared_ptr<NodeCore> core = core_;
  if (core == nullptr) return std::unexpected(moved_from());
  std::string no_memory = "no memory";  // so short that it needs none
  // Of both: the group works on the node, which keeps it only until it is left.
  struct Handle {
    std::shared_ptr<NodeCore> node;
    std::shared_ptr<JoinedGroup> group;
  };
  try {
    no_memory = "group '" + options.name + "': there is no memory to join it: " + memory_advice();
    const auto handle = std::make_shared<Handle>(core);  // before there is a group to be left again
    Result<std::shared_ptr<JoinedGroup>> group = core->joined().join(std::move(options), timeout);
    if (!group) return std::unexpected(std::move(group.error()));
    handle->group = std::move(*group);
    return Group(std::shared_ptr<GroupCore>(handle, &handle->group->core));
  } catch (const std::bad_alloc&) {
    return std::unexpected(Error{ErrorCode::system, std::move(no_memory)});
  }
}

Result<void> Node::watch_views(ViewCallback watcher) {
  if (core_ == nullptr) return std::unexpected(moved_from());
  return core_->watch_views(std::move(watcher));
}

Result<void> Node::watch_end(std::function<void()> watcher) {
  if (core_ == nullptr) return std::unexpected(moved_from());
  return core_->watch_end(std::move(watcher));
}

namespace {

const std::string kMovedFrom;

}  // namespace

const std::string& Node::name() const {
  return core_ != nullptr ? core_->options().name : kMovedFrom;
}

const std::string& Node::state_dir() const {
  return core_ != nullptr ? core_->options().state_dir : kMovedFrom;
}

// What calls the application holds on to the core: a callback may destroy the Node.
Result<void> Node::start() {
  const std::shared_ptr<NodeCore> core = core_;
  return core != nullptr ? core->start() : std::unexpected(moved_from());
}

Result<int> Node::begin_start() {
  const std::shared_ptr<NodeCore> core = core_;
  return core != nullptr ? core->begin_start() : std::unexpected(moved_from());
}

std::optional<Result<void>> Node::started() const {
  return core_ != nullptr ? core_->started() : std::unexpected(moved_from());
}

// These hold nothing, for they are made often: the thread that ends a node for a callback waits for
// the turn that the callback is in, and a turn touches nothing after that.
std::size_t Node::poll() { return core_ != nullptr ? core_->poll() : 0; }

void Node::wait(Timeout timeout) {
  if (core_ != nullptr) core_->wait(timeout);
}

Result<void> Node::stop(Timeout timeout) {
  const std::shared_ptr<NodeCore> core = core_;
  return core != nullptr ? core->stop(timeout) : std::unexpected(moved_from());
}

Result<void> Node::leave(Timeout timeout) {
  const std::shared_ptr<NodeCore> core = core_;
  return core != nullptr ? core->leave(timeout) : std::unexpected(moved_from());
}

Result<Reply> Node::send_to(std::string_view member, std::span<const std::byte> bytes,
                            Timeout timeout) {
  const std::shared_ptr<NodeCore> core = core_;
  if (core == nullptr) return std::unexpected(moved_from());
  return core->requests().ask(member, bytes, timeout);
}

Result<Reply> Node::send_to(std::string_view member, std::string_view text, Timeout timeout) {
  return send_to(member, std::as_bytes(std::span(text)), timeout);
}

Result<void> Node::send_to(std::string_view member, std::span<const std::byte> bytes,
                           Timeout timeout, ReplyHandler handler) {
  const std::shared_ptr<NodeCore> core = core_;
  if (core == nullptr) return std::unexpected(moved_from());
  return core->requests().ask(member, bytes, timeout, std::move(handler));
}

Result<void> Node::may_wait(std::string_view call) const {
  if (core_ == nullptr) return std::unexpected(moved_from());
  std::optional<Error> refusal = core_->refusal_here(call);
  return refusal ? std::unexpected(std::move(*refusal)) : Result<void>();
}

ViewChange Node::view() const { return core_ != nullptr ? core_->view() : ViewChange{}; }

std::optional<Error> Node::failure() const {
  return core_ != nullptr ? core_->failure() : moved_from();
}

NodeStatistics Node::statistics() const {
  return core_ != nullptr ? core_->statistics() : NodeStatistics{};
}

}  // namespace tutti
