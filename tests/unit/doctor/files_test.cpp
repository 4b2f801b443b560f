#include "doctor/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "forged_system.hpp"

namespace tutti::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Files, AreReadWithoutTheSpaceAtTheirEnd) {
  const ForgedSystem system;
  system.put("a", " two words \n");
  EXPECT_EQ(text_of(system.root() / "a"), " two words");
  system.put("empty", "");
  EXPECT_EQ(text_of(system.root() / "empty"), "");
}

TEST(Files, ThatCannotBeReadAreNothing) {
  const ForgedSystem system;
  system.put("folder/file", "");
  EXPECT_EQ(text_of(system.root() / "missing"), std::nullopt);
  EXPECT_EQ(text_of(system.root() / "folder"), "");
  EXPECT_THAT(names_in(system.root() / "missing"), IsEmpty());
}

TEST(Files, HaveFieldsAtTheBeginningOfLines) {
  EXPECT_EQ(field_of("Ab: 1\nA: \t2 3 \nA: 4", "A:"), "2 3");
  EXPECT_EQ(field_of("A:", "A:"), "");
  EXPECT_EQ(field_of("xA: 1", "A:"), std::nullopt);
  EXPECT_EQ(field_of("", "A:"), std::nullopt);
}

TEST(Files, HaveNumbers) {
  EXPECT_EQ(number_of(" 12 kB"), 12);
  EXPECT_EQ(number_of("1f", 16), 31);
  EXPECT_EQ(number_of("max"), std::nullopt);
  EXPECT_EQ(number_of(""), std::nullopt);
  EXPECT_EQ(number_of("99999999999999999999999"), std::nullopt);
}

TEST(Files, HaveListsOfNumbers) {
  EXPECT_THAT(numbers_of("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(numbers_of("7"), ElementsAre(7));
  EXPECT_THAT(numbers_of("3-1"), IsEmpty());
  EXPECT_THAT(numbers_of("x,-,4,0-99999999999"), ElementsAre(4));
  EXPECT_THAT(numbers_of(""), IsEmpty());
}

TEST(Files, AreListedAsPeopleCount) {
  const ForgedSystem system;
  for (const char* name : {"mlx5_10", "mlx5_2", "bnxt0", "mlx5_0"}) system.put(name, "");
  EXPECT_THAT(names_in(system.root()), ElementsAre("bnxt0", "mlx5_0", "mlx5_2", "mlx5_10"));
}

}  // namespace
}  // namespace tutti::doctor
