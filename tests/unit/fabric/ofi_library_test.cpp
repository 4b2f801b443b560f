// libfabric, loaded: or what is said where that cannot be.
#include "fabric/ofi/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::ofi {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(OfiLibrary, IsThereOnceAndForAll) {
  const Result<Library>& first = library();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(&library(), &first);
  EXPECT_EQ(&loaded(), &*first);
  EXPECT_GE(first->version(), FI_VERSION(1, 17));
}

TEST(OfiLibrary, ThatIsNotInstalledIsNamedWithWhatToDo) {
  const Result<Library> none = load_library("libno-such-thing.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::system);
  EXPECT_THAT(none.error().message,
              AllOf(HasSubstr("cannot load libfabric: libno-such-thing.so.1: "),
                    HasSubstr("; install it (libfabric1 of Debian 12), or use another fabric")));
}

TEST(OfiLibrary, ThatIsAnotherIsRefused) {
  const Result<Library> other = load_library("libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("fi_version"));
}

}  // namespace
}  // namespace tutti::ofi
