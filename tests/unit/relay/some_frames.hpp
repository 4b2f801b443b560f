/// \file some_frames.hpp
/// A frame of each kind, with the values that golden_frames.txt has; bindings/python/tests has the
/// same ones.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "relay/frame.hpp"

namespace tutti::relay::testing {

inline constexpr std::array kPayload{std::byte{0xde}, std::byte{0xad}, std::byte{0xbe},
                                     std::byte{0xef}};

struct NamedFrame {
  std::string_view name;
  Frame frame;
};

inline TopicInfo some_topic() {
  return {.topic = 3,
          .name = "prices",
          .bundle = "stored",
          .service = Service::stored,
          .epoch = 0x1122334455667788,
          .sample_bytes_max = 4096,
          .type = "Price",
          .type_hash = 0x99,
          .description = "{}"};
}

inline std::vector<NamedFrame> one_of_each() {
  return {
      {"hello", Hello{.client_high = 1, .client_low = 2, .name = "c", .token = "secret"}},
      {"welcome",
       Welcome{.relay = "a", .frame_bytes_max = 1 << 20, .unanswered_max = 64, .idle_ms = 30000}},
      {"refused", Refused{Code::unknown_topic, 9, 7, "no topic"}},
      {"bye", Bye{Code::idle, "idle"}},
      {"ping", Ping{5}},
      {"pong", Pong{6}},
      {"list", List{8}},
      {"topics", Topics{8, true, {some_topic()}}},
      {"find", Find{9, "prices"}},
      {"found", Found{9, some_topic()}},
      {"open", Open{3, kNone, 0xabcdef}},
      {"opened", Opened{3, 41, 0xabcdef, 2}},
      {"publish", Publish{3, 0xabcdef, 3, 1000, kPayload}},
      {"published", Published{0xabcdef, 3, Status::delivered, 57}},
      {"go_back", GoBack{0xabcdef, 5, 3}},
      {"close", Close{0xabcdef}},
      {"closed", Closed{0xabcdef}},
      {"subscribe", Subscribe{1, 3, From::position, 0x1122334455667788, 58, 256}},
      {"subscribed", Subscribed{1, 0x1122334455667788, 58}},
      {"sample", Sample{1, 58, 2, 1000, kPayload}},
      {"gap", Gap{1, 58, 70}},
      {"credit", Credit{1, 128}},
      {"unsubscribe", Unsubscribe{1}},
      {"ended", Ended{1, "deleted"}},
  };
}

}  // namespace tutti::relay::testing
