#include "cli/log/printable.hpp"

#include <gtest/gtest.h>

namespace tutti::cli {
namespace {

TEST(Printable, TextOfAnyLanguageIsText) {
  for (const char* text : {"", "plain", "tab\tand line\n", "Grüße", "日本語", "👍"}) {
    EXPECT_TRUE(is_text(text)) << text;
  }
}

TEST(Printable, WhatControlsATerminalIsNoText) {
  for (const std::string_view bytes :
       {std::string_view("\0", 1), std::string_view("\x1b[2J"), std::string_view("\x7f"),
        std::string_view("\xc2\x9b"),         // CSI as one character
        std::string_view("\xe2\x80\xae")}) {  // right to left from here on
    EXPECT_FALSE(is_text(bytes)) << escaped(bytes);
  }
}

TEST(Printable, WhatIsNoUtf8IsNoText) {
  for (const std::string_view bytes :
       {std::string_view("\x80"), std::string_view("\xc3"), std::string_view("\xc3("),
        std::string_view("\xc0\xaf"),          // two bytes for a '/'
        std::string_view("\xe0\x80\xaf"),      // three
        std::string_view("\xed\xa0\x80"),      // a half of a pair
        std::string_view("\xf4\x90\x80\x80"),  // above the last character
        std::string_view("\xff")}) {
    EXPECT_FALSE(is_text(bytes)) << escaped(bytes);
  }
}

TEST(Printable, EscapesAreOnOneLineAndTellAllBytes) {
  EXPECT_EQ(escaped("a\n\t\r\"\\é"), "a\\n\\t\\r\\\"\\\\é");
  EXPECT_EQ(escaped("\x1b[m\xff\xc3"), "\\x1b[m\\xff\\xc3");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
  for (int c = 0; c < 256; ++c) {
    const std::string one(1, static_cast<char>(c));
    EXPECT_TRUE(is_text(escaped(one))) << c;
    EXPECT_EQ(escaped(one).find('\n'), std::string::npos) << c;
  }
}

TEST(Printable, HexHasTwoDigitsForEachByte) {
  EXPECT_EQ(hex_of(""), "");
  EXPECT_EQ(hex_of(std::string_view("\x00\x0f\xf0Z", 4)), "000ff05a");
}

}  // namespace
}  // namespace tutti::cli
