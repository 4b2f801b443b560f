#include "cli/run/deliveries.hpp"

#include <unistd.h>

#include "cli/clock.hpp"

namespace tutti::cli {

Deliveries::Deliveries(const std::vector<std::string>& members, MemberIndex self,
                       const Stamps* stamps)
    : self_(self), stamps_(stamps), output_(STDOUT_FILENO, "standard output") {
  for (const std::string& name : members) labels_.push_back(" " + name + " ");
}

void Deliveries::deliver(std::span<const Message> batch) {
  const std::int64_t now = now_ns();
  if (messages_ == 0) first_ns_ = now;
  last_ns_ = now;
  messages_ += batch.size();
  for (const Message& message : batch) {
    bytes_ += message.size;
    if (stamps_ != nullptr && message.sender == self_) note_own(now);
    output_.append(message.seq.value);
    output_.append(labels_[message.sender.value]);
    output_.append(message.text());
    output_.append("\n");
    output_.flush_if_large();
  }
  output_.flush();
  if (output_.failed()) abandoned_.wait(false);  // D1
}

void Deliveries::note_own(std::int64_t now) {
  const Ticket ticket{++own_};
  if (is_sampled(ticket)) latency_.record(now - stamps_->get(ticket));
}

}  // namespace tutti::cli
