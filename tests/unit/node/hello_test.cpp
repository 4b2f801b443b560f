/// \file hello_test.cpp
/// Hellos as bytes and back, hostile bytes, and what must agree.
#include "node/bootstrap/hello.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "fabric/pairing.hpp"
#include "hellos.hpp"

namespace tutti {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string hello_body(const Hello& h) { return encode_hello(h).value().substr(12); }

HelloPrefix prefix_of(std::string_view frame) {
  HelloPrefix prefix{};
  std::memcpy(prefix.data(), frame.data(), std::min(frame.size(), prefix.size()));
  return prefix;
}

TEST(Hello, IsReadBack) {
  Hello h = hello("a", 0xffffffffffffffffU);
  h.to = "b";
  h.fabric = "shm";
  h.running = true;
  h.founding = Founding::agreed;
  h.litmus_rounds = 1000;
  h.request_max_bytes = 4096;
  h.groups.push_back(group("gr\xc3\xbc", {"c", "a"}));
  h.groups.back().senders = {"a"};
  h.groups.back().order = Order::none;
  h.groups.back().level = Level::unordered;
  const std::string frame = encode_hello(h).value();
  EXPECT_EQ(decode_prefix(prefix_of(frame)), frame.size() - 12);
  const Result<Hello> read = decode_hello(frame.substr(12));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "a");
  EXPECT_EQ(read->to, "b");
  EXPECT_EQ(read->incarnation, h.incarnation);
  EXPECT_EQ(read->fabric, "shm");
  EXPECT_TRUE(read->running);
  EXPECT_EQ(read->founding, Founding::agreed);
  EXPECT_EQ(read->litmus_rounds, 1000U);
  EXPECT_EQ(read->request_max_bytes, 4096U);
  EXPECT_EQ(read->host.boot_id, "boot");
  EXPECT_EQ(read->row_bytes, 4096U);
  ASSERT_EQ(read->members.size(), 3U);
  EXPECT_EQ(read->members[2].address, "h:3");
  ASSERT_EQ(read->groups.size(), 2U);
  EXPECT_EQ(read->groups[1].name, h.groups[1].name);
  EXPECT_THAT(read->groups[1].members, ElementsAre("c", "a"));
  EXPECT_THAT(read->groups[1].senders, ElementsAre("a"));
  EXPECT_EQ(read->groups[1].level, Level::unordered);
}

TEST(Hello, NamesTheFabricAndWhatEachCarrierSays) {
  for (const std::string text : {"auto", "shm", "tcp", "verbs", "ofi:tcp;ofi_rxm"}) {
    Hello h = hello("a", 1);
    h.fabric = text;
    h.carriers = {{"a carrier that is not known here", "x"}, {"verbs", "10.0.0.1:77"}};
    const Result<Hello> read = decode_hello(hello_body(h));
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(read->fabric, text);
    EXPECT_EQ(read->carriers, h.carriers);
  }
}

// If these change, kProtocolVersion must be raised: a node of an older build is then told so,
// instead of which field is missing.
TEST(Hello, HasTheFieldsOfItsVersion) {
  EXPECT_EQ(kProtocolVersion, 14);
  const auto fields_of = [](const nlohmann::json& object) {
    std::string fields;
    for (const auto& [name, value] : object.items()) fields += name + " ";
    return fields;
  };
  const nlohmann::json sent = nlohmann::json::parse(hello_body(hello("a", 1)));
  EXPECT_EQ(fields_of(sent),
            "carriers fabric founding groups host incarnation litmus_rounds members name protocol "
            "request_max_bytes row_bytes running to version ");
  EXPECT_EQ(
      fields_of(sent["groups"][0]),
      "accelerated_window alignment durable_quorum global_window level logged maximum_gap members "
      "message_max_bytes name order "
      "personal_window senders stateful tick_every_ns window_bytes window_messages ");
  EXPECT_EQ(fields_of(sent["host"]), "boot_id network_namespace user ");
}

TEST(Hello, TooManyGroupsForOneFrameAreAnError) {
  Hello h = hello("a", 1);
  for (int i = 0; i < 4096; ++i) h.groups.push_back(group(std::string(255, 'g'), {"a"}));
  const Result<std::string> frame = encode_hello(h);
  ASSERT_FALSE(frame);
  EXPECT_THAT(frame.error().message, HasSubstr("legal: 1048576"));
}

TEST(Hello, StrangersAreToldFromOtherVersions) {
  EXPECT_EQ(decode_prefix(prefix_of("GET / HTTP/1.1")).error().code, ErrorCode::invalid_argument);
  const Error version = decode_prefix(prefix_of(hello_prefix(kProtocolVersion + 1, 10))).error();
  EXPECT_EQ(version.code, ErrorCode::mismatch);
  EXPECT_THAT(version.message, HasSubstr(versions_differ()));
  EXPECT_FALSE(decode_prefix(prefix_of(hello_prefix(kProtocolVersion, 0))));
  EXPECT_FALSE(decode_prefix(prefix_of(hello_prefix(kProtocolVersion, kHelloMax + 1))));
  EXPECT_FALSE(decode_prefix(prefix_of(hello_prefix(kProtocolVersion, 0xffffffffU))));
}

TEST(Hello, WrongTypesAndMissingFieldsAreErrors) {
  const std::string good = hello_body(hello("a", 1));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const Result<Hello> r = decode_hello(text);
    return r ? std::string("accepted") : r.error().message;
  };
  EXPECT_EQ(changed("\"to\":\"\"", "\"to\":\"b\""), "accepted");
  EXPECT_THAT(changed("\"version\":\"1.2.3\"", "\"version\":7"),
              HasSubstr("version is not a text"));
  EXPECT_THAT(changed("\"incarnation\":1", "\"incarnation\":-1"), HasSubstr("incarnation"));
  EXPECT_THAT(changed("\"incarnation\":1", "\"incarnation\":1.5"), HasSubstr("incarnation"));
  EXPECT_THAT(changed("\"incarnation\":1", "\"incarnation\":0"), HasSubstr("incarnation is 0"));
  EXPECT_THAT(changed("\"incarnation\":1", "\"incarnations\":1"), HasSubstr("missing"));
  EXPECT_THAT(changed("\"running\":false", "\"running\":0"), HasSubstr("running"));
  EXPECT_THAT(changed("\"founding\":0", "\"founding\":4"), HasSubstr("founding"));
  EXPECT_THAT(changed("\"row_bytes\":4096", "\"row_bytes\":99999999999999999"),
              HasSubstr("row_bytes"));
  EXPECT_THAT(changed("\"order\":\"round_robin\"", "\"order\":\"total\""),
              HasSubstr("order 'total' is unknown"));
  EXPECT_THAT(changed("\"members\":[0,1,2]", "\"members\":[0,1,3]"), HasSubstr("no rank"));
  EXPECT_THAT(changed("\"members\":[0,1,2]", "\"members\":[0,0,2]"), HasSubstr("twice"));
  EXPECT_THAT(changed("\"members\":[0,1,2]", "\"members\":{}"), HasSubstr("members"));
  EXPECT_THAT(changed("\"members\":[0,1,2]", "\"members\":[]"), HasSubstr("without members"));
  EXPECT_THAT(changed("\"fabric\":\"auto\"", "\"fabric\":\"pigeon\""), HasSubstr("'pigeon'"));
  EXPECT_THAT(changed("\"fabric\":\"auto\"", "\"fabric\":\"ofi:\""), HasSubstr("providers"));
  EXPECT_THAT(changed("\"fabric\":\"auto\"", "\"fabric\":\"tcp:x\""), HasSubstr("nothing belongs"));
  EXPECT_EQ(changed("\"fabric\":\"auto\"", "\"fabric\":\"ofi:tcp\""), "accepted");
  EXPECT_THAT(changed("\"carriers\":{", "\"carriers\":[{"), HasSubstr("not JSON"));
  EXPECT_THAT(changed("\"tcp\":\"\"", "\"tcp\":1"), HasSubstr("tcp is not a text"));
  EXPECT_THAT(changed("\"tcp\":\"\"", "\"tcp\":\"" + std::string(256, 'x') + "\""),
              HasSubstr("tcp is not a text of at most 255 bytes"));
  EXPECT_EQ(changed("\"tcp\":\"\"", "\"new\":\"\""), "accepted");
  std::string many = "\"carriers\":{";
  for (int i = 0; i < 20; ++i) many += "\"c" + std::to_string(i) + "\":\"\",";
  EXPECT_THAT(changed("\"carriers\":{", many), HasSubstr("carriers is not an object"));
  EXPECT_THAT(changed("\"carriers\":", "\"carrier\":"), HasSubstr("carriers is missing"));
  EXPECT_THAT(changed("\"window_messages\":65536", "\"window_messages\":65535"),
              HasSubstr("window_messages"));
}

TEST(Hello, GarbageIsRefusedWithoutHarm) {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string("null"), std::string("7"),
        std::string("{\"name\":"), std::string("\xff\xfe"), std::string(kHelloMax, '['),
        std::string("{\"groups\":[[[[[[[[[[]]]]]]]]]]}")}) {
    EXPECT_FALSE(decode_hello(text)) << text.substr(0, 40);
  }
}

TEST(Hello, DamagedHellosNeverCrashTheReader) {
  const std::string good = hello_body(hello("a", 1));
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int k = 0; k < 3; ++k) text[random() % text.size()] = static_cast<char>(random());
    if (round % 3 == 0) text.resize(random() % text.size());
    if (const Result<Hello> read = decode_hello(text)) {
      [[maybe_unused]] const Result<void> verdict = compatible(hello("b", 2), *read);
    }
  }
}

TEST(Verdict, IsReadBackAndMadePrintable) {
  const std::string frame = encode_verdict({ErrorCode::peer_lost, "why \x1b[2J not"});
  EXPECT_EQ(load_u32(std::as_bytes(std::span(frame)).subspan<0, 4>()), frame.size() - 4);
  const Verdict verdict = decode_verdict(frame.substr(4));
  EXPECT_EQ(verdict.kind, Verdict::Kind::refused);
  EXPECT_EQ(verdict.error.code, ErrorCode::peer_lost);
  EXPECT_EQ(verdict.error.message, "why ?[2J not");
  EXPECT_EQ(decode_verdict("").error.code, ErrorCode::mismatch);
  EXPECT_EQ(decode_verdict("\xffzz").error.code, ErrorCode::mismatch);
  EXPECT_LE(encode_verdict({ErrorCode::system, std::string(9999, 'x')}).size(), 4 + kVerdictMax);
}

TEST(Verdict, HasKindsThatAreNoError) {
  const Verdict not_now = decode_verdict(encode_not_now("another 'b'").substr(4));
  EXPECT_EQ(not_now.kind, Verdict::Kind::not_now);
  EXPECT_EQ(not_now.error.message, "another 'b'");
  EXPECT_EQ(decode_verdict(encode_removed().substr(4)).kind, Verdict::Kind::removed);
}

TEST(Epoch, DependsOnEveryIncarnationAndIsNeverZero) {
  const auto mix = [](std::vector<std::uint64_t> v) { return mix_epoch(v); };
  EXPECT_EQ(mix({1, 2, 3}), mix({1, 2, 3}));
  EXPECT_NE(mix({1, 2, 3}), mix({2, 1, 3}));
  EXPECT_NE(mix({1, 2, 3}), mix({1, 2, 4}));
  EXPECT_NE(mix({}), 0U);
}

}  // namespace
}  // namespace tutti
