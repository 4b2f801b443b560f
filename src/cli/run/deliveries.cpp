#include "cli/run/deliveries.hpp"

#include <unistd.h>

#include "cli/clock.hpp"

namespace tutti::cli {

Deliveries::Deliveries(const std::vector<std::string>& members, MemberIndex self,
                       const Stamps* stamps)
    : self_(self), stamps_(stamps), output_(STDOUT_FILENO, "standard output") {
  for (const std::string& name : members) labels_.push_back(" " + name + " ");
}

void Deliveries::deliver(std::span<const Message> batch, const std::function<bool()>& intact) {
  if (overtaken_) return;
  const std::int64_t now = now_ns();
  if (messages_ == 0) first_ns_ = now;
  last_ns_ = now;
  messages_ += batch.size();
  for (const Message& message : batch) {
    bytes_ += message.size;
    if (stamps_ != nullptr && message.sender == self_) note_own(now);
    text_ += std::to_string(message.seq.value);
    text_ += labels_[message.sender.value];
    text_ += message.text();
    text_ += '\n';
    if (text_.size() < Output::kFlushBytes) continue;
    print(intact);
    if (overtaken_) return;
  }
  print(intact);
  if (output_.failed()) abandoned_.wait(false);  // D1
}

// The text does not change any more, whatever becomes of the messages.
void Deliveries::print(const std::function<bool()>& intact) {
  overtaken_ = !intact();
  if (!overtaken_) {
    output_.append(text_);
    output_.flush();
  }
  text_.clear();
}

void Deliveries::note_own(std::int64_t now) {
  const Ticket ticket{++own_};
  if (is_sampled(ticket)) latency_.record(now - stamps_->get(ticket));
}

}  // namespace tutti::cli
