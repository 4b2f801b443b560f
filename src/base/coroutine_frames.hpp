/// \file coroutine_frames.hpp
/// For files with coroutines of Asio. GCC sees the allocation of their frames inlined but not the
/// matching release: a false alarm at the end of coroutines, so it is silenced where this is
/// included.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
