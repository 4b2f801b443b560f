// libibverbs and librdmacm, loaded: or what is said where that cannot be.
#include "fabric/verbs/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(VerbsLibrary, IsThereOnceAndForAll) {
  const Result<void>& first = library();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(&library(), &first);
}

TEST(VerbsLibrary, ThatIsNotInstalledIsNamedWithWhatToDo) {
  const Result<void> none = try_load("libno-such-thing.so.1", "librdmacm.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::system);
  EXPECT_THAT(none.error().message,
              AllOf(HasSubstr("cannot load the libraries for RDMA: libno-such-thing.so.1: "),
                    HasSubstr("; install them (libibverbs1 and librdmacm1 of Debian 12)")));
}

TEST(VerbsLibrary, ThatIsAnotherIsRefused) {
  const Result<void> other = try_load("libibverbs.so.1", "libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("rdma_"));
}

}  // namespace
}  // namespace tutti::verbs
