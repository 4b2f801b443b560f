/// \file restart_links_stranger_test.cpp
/// What strangers say where a restart link is to begin, or over one, does no harm (HS3, RL4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "descriptors.hpp"
#include "hellos.hpp"
#include "link_nodes.hpp"

namespace tutti {
namespace {

using ::testing::HasSubstr;

std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t seed = 5;
  for (char& c : text) {
    seed = seed * 1664525 + 1013904223;
    c = static_cast<char>(seed >> 24U);
  }
  return text;
}

class StrangersOfLinks : public ::testing::Test {
 protected:
  void expect_that_both_are_linked() {
    EXPECT_EQ(a.next(1), "up");
    EXPECT_EQ(b.next(0), "up");
    a.send(1, "hello");
    EXPECT_EQ(b.next(0), "hello");
  }

  // What a caller that asks so is told.
  std::string refusal_of(const LinkRequest& request, std::size_t at = 0) {
    const Verdict verdict = ask_for_link(addresses[at].address, request).receive_verdict();
    EXPECT_EQ(verdict.kind, Verdict::Kind::refused);
    return verdict.error.message;
  }

  std::vector<MemberAddress> addresses = loopback_members(3);
  LinkNode a{addresses, 0};
  LinkNode b{addresses, 1};
  const std::string& address = addresses[0].address;
};

TEST_F(StrangersOfLinks, WithWrongNamesAreToldSo) {
  a.start();
  b.start();
  expect_that_both_are_linked();
  EXPECT_THAT(refusal_of({.from = "x", .to = "a", .life = 1}),
              HasSubstr("'x' is not in the member list of 'a'"));
  EXPECT_THAT(refusal_of({.from = "b", .to = "x", .life = 1}),
              HasSubstr("'b' called the address of 'x' but 'a' answered there"));
  EXPECT_THAT(refusal_of({.from = "a", .to = "a", .life = 1}),
              HasSubstr("two processes were started as member 'a'"));
  EXPECT_THAT(refusal_of({.from = "a", .to = "b", .life = 1}, 1),
              HasSubstr("'a' stands before 'b' in the member list"));
  a.member.await_log(LogLevel::warning, "'x' is not in the member list of 'a'");
  EXPECT_EQ(a.left(1) + a.left(2) + b.left(0), 0U);
}

TEST_F(StrangersOfLinks, AreRefusedWhereNobodyTakesLinks) {
  a.member.take_link = nullptr;
  a.start();
  EXPECT_THAT(refusal_of({.from = "b", .to = "a", .life = 1}),
              HasSubstr("'a' takes no restart links"));
  b.start();
  b.await_trouble(0, "it says that 'a' takes no restart links");
}

TEST_F(StrangersOfLinks, WithARequestThatIsNoneAreClosed) {
  a.start();
  for (const std::string body :
       {R"({"question":"link"})", R"({"question":"link","from":1,"to":2})",
        R"({"question":"link","from":"b","to":"a","life":0})",
        R"({"question":"link","from":"b","to":"a","life":-1})", R"(["link"])",
        R"({"question":"link","from":"b","to":"a","life":1)"}) {
    RawPeer stranger(address);
    stranger.send(hello_prefix(kProtocolVersion, static_cast<std::uint32_t>(body.size())) + body);
    stranger.wait_for_close();
  }
  b.start();
  expect_that_both_are_linked();
}

TEST_F(StrangersOfLinks, ThatFloodWithRequestsKeepNobodyOut) {
  a.start();
  b.start();
  expect_that_both_are_linked();
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<RawPeer>> callers;
  for (std::uint64_t life = 1; life <= 200; ++life) {
    callers.push_back(
        std::make_unique<RawPeer>(ask_for_link(address, {.from = "b", .to = "a", .life = life})));
    EXPECT_EQ(callers.back()->receive_verdict().kind, Verdict::Kind::not_now);
    callers.back()->wait_for_close();
  }
  EXPECT_LE(open_descriptors(), before + callers.size() + 8);
  LinkNode c(addresses, 2);
  c.start();
  EXPECT_EQ(c.next(0), "up");
  EXPECT_EQ(a.left(1), 0U);
}

// What is no frame ends the link, and the node that it stood for comes in.
TEST_F(StrangersOfLinks, OverALinkEndIt) {
  a.start();
  for (const std::string& says : {std::string("\x01\x00\x00\x04", 4), std::string(4, '\xff'),
                                  noise(100'000), link_frame(noise(100'000)).substr(0, 5000),
                                  std::string("\x00\x00\x00\x04", 4), std::string("\x01", 1)}) {
    RawPeer stranger = ask_for_link(address, {.from = "b", .to = "a", .life = 1});
    EXPECT_EQ(stranger.receive_verdict().kind, Verdict::Kind::agreed);
    EXPECT_EQ(a.next(1), "up");
    stranger.send(says);
    stranger.close();
    EXPECT_EQ(a.next(1), "down") << says.size();
  }
  b.start();
  expect_that_both_are_linked();
}

TEST_F(StrangersOfLinks, WithTooLongAFrameAreNamed) {
  a.start();
  RawPeer stranger = ask_for_link(address, {.from = "b", .to = "a", .life = 1});
  EXPECT_EQ(stranger.receive_verdict().kind, Verdict::Kind::agreed);
  EXPECT_EQ(a.next(1), "up");
  stranger.send(std::string("\x01\x00\x00\x04", 4));
  EXPECT_EQ(a.next(1), "down");
  EXPECT_THAT(a.links().trouble(1),
              HasSubstr("its message would have 67108865 bytes; legal: at most 67108864"));
  stranger.wait_for_close();
}

// Bytes that come before the verdict are the link's first.
TEST_F(StrangersOfLinks, ThatDoNotWaitForTheirVerdictLoseNothing) {
  a.start();
  RawPeer hasty(address);
  hasty.send(encode_link_request({.from = "b", .to = "a", .life = 1}) + link_frame("early"));
  EXPECT_EQ(a.next(1), "up");
  EXPECT_EQ(a.next(1), "early");
}

// Where a should listen. Only the links of b call there.
class StrangersThatAreCalled : public StrangersOfLinks {
 protected:
  void SetUp() override { b.start_links(); }

  // What b says of one that answers so.
  void expect_trouble(const std::string& answer, const std::string& part, bool hangs_up = false) {
    const RawServer server(address);
    RawPeer stranger = server.accept();
    stranger.send(answer);
    if (hangs_up) stranger.close();
    b.await_trouble(0, part);
  }

  Hello hello() { return hello_of(a.member, 5, ""); }
  static std::string frame(const Hello& hello) { return encode_hello(hello).value(); }
};

TEST_F(StrangersThatAreCalled, AreTroubleUntilTheNodeIsThere) {
  expect_trouble("HTTP/1.1 400 Bad Request\r\n\r\n", "wrong peer: no member answers at " + address);
  expect_trouble(noise(100'000), "wrong peer: no member answers at " + address);
  expect_trouble(hello_prefix(kOtherVersion, 100), versions_differ());
  expect_trouble("", "no answer from " + address, true);
  expect_trouble(frame(hello()).substr(0, 100), "no answer from " + address, true);
  Hello other = hello();
  other.name = "c";
  expect_trouble(frame(other), "wrong peer: 'c' answers at " + address);
  other = hello();
  other.members.push_back({"d", "h:1"});
  expect_trouble(frame(other), "'a' at " + address + " has another member list");
  other = hello();
  std::swap(other.members[1], other.members[2]);
  expect_trouble(frame(other), "'a' at " + address + " has another member list");
  const std::string greets = frame(hello());
  expect_trouble(greets, "it said hello, but does not answer", true);
  expect_trouble(greets + std::string(4, '\xff'), "its verdict is malformed");
  expect_trouble(greets + encode_verdict({ErrorCode::mismatch, "it is a test"}),
                 "it says that it is a test");
  expect_trouble(greets + encode_not_now("it is busy"), "it says that it is busy");
  EXPECT_EQ(b.left(0), 0U);
  a.start();
  expect_that_both_are_linked();
}

TEST_F(StrangersThatAreCalled, EndALinkByWhatIsNoFrame) {
  {
    const RawServer server(address);
    RawPeer stranger = server.accept();
    stranger.send(frame(hello()) + encode_verdict() + std::string(4, '\xff'));
    EXPECT_EQ(b.next(0), "up");
    EXPECT_EQ(b.next(0), "down");
    b.await_trouble(0, "the last link ended: its message would have 4294967295 bytes");
  }
  a.start();
  expect_that_both_are_linked();
}

}  // namespace
}  // namespace tutti
