# What every target of this tree is compiled and linked with: tutti_defaults(<target>).
# No -march=native: programs built here must run on any machine of the architecture.
include(CheckCXXSourceCompiles)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(TUTTI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TUTTI_CCACHE_PROGRAM ccache)
  if(TUTTI_CCACHE_PROGRAM)
    # Paths below the tree do not count, so that clones elsewhere find what this one compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
                                    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
                                    "${TUTTI_CCACHE_PROGRAM}")
  endif()
endif()

# Debug information and assertions name files from the top of the tree, wherever that is.
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
endif()

# Sanitizers must see all code, so they go on every target. Not UBSan's check of an object's type: it
# opens a pipe to look at the object, and takes it for wrong in tests that leave no descriptor free.
if(TUTTI_SANITIZE)
  add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  if(TUTTI_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr)
  endif()
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
endif()

# Clang before 19 announces an older __cpp_concepts than libstdc++ asks for in <expected>.
set(tutti_expected_check "#include <expected>\nint main() { return std::expected<int, int>(0).value(); }")
check_cxx_source_compiles("${tutti_expected_check}" TUTTI_HAS_EXPECTED)
if(NOT TUTTI_HAS_EXPECTED AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(tutti_concepts_flags -Wno-builtin-macro-redefined -D__cpp_concepts=202002L)
  set(CMAKE_REQUIRED_FLAGS "-Wno-builtin-macro-redefined -D__cpp_concepts=202002L")
  check_cxx_source_compiles("${tutti_expected_check}" TUTTI_HAS_EXPECTED_WITH_CONCEPTS_FLAG)
  unset(CMAKE_REQUIRED_FLAGS)
  if(TUTTI_HAS_EXPECTED_WITH_CONCEPTS_FLAG)
    add_compile_options(${tutti_concepts_flags})
  endif()
endif()
if(NOT TUTTI_HAS_EXPECTED AND NOT TUTTI_HAS_EXPECTED_WITH_CONCEPTS_FLAG)
  message(FATAL_ERROR "Tutti needs std::expected: GCC 12 or later, or clang 16 or later with "
                      "libstdc++ 12 or later; this is ${CMAKE_CXX_COMPILER_ID} "
                      "${CMAKE_CXX_COMPILER_VERSION}.")
endif()

set(tutti_warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                   -Wcast-qual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND tutti_warnings -Wno-restrict)  # false alarm in std::string, GCC bug 105651
  endif()
  if(TUTTI_SANITIZE)
    # The inserted checks cause false alarms; fences (-Wtsan) are a matter of the tests.
    list(APPEND tutti_warnings -Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()
if(TUTTI_WERROR)
  list(APPEND tutti_warnings -Werror)
endif()

set(tutti_hardening -fstack-protector-strong -fno-plt -fno-semantic-interposition)
set(tutti_definitions $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(TUTTI_SANITIZE)
  set(tutti_definitions _GLIBCXX_ASSERTIONS)
else()
  list(APPEND tutti_hardening
       "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()

function(tutti_defaults target)
  target_compile_options(${target} PRIVATE ${tutti_warnings} ${tutti_hardening})
  target_compile_definitions(${target} PRIVATE ${tutti_definitions})
  target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now)
endfunction()
