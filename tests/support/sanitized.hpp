/// \file sanitized.hpp
/// How much a test tries. With a sanitizer a step takes up to thirty times as long: a test that
/// tries many seeds, or changes many bytes, tries some of them there, and all of them in a build
/// without sanitizers.
#pragma once

namespace tutti::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tutti::testing
