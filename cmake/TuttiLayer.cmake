# Layers and the libraries made of them.

# A file that defines templates for sim/core.cpp too instantiates them for the library at its end.
# A unity build could not have two such files of one class in one translation unit.
function(tutti_keep_templates_apart)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" marks REGEX "TUTTI_DEFINITIONS_ONLY" LIMIT_COUNT 1)
    if(marks)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# tutti_layer(<name> [LINK <target>...])
# Makes the object library tutti_<name> of src/<name>/*.cpp and src/<name>/*/*.cpp. A folder with
# headers only, or one that does not exist yet, becomes an interface library.
function(tutti_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp"
       "${PROJECT_SOURCE_DIR}/src/${name}/*/*.cpp")
  set(target tutti_${name})
  if(sources)
    add_library(${target} OBJECT ${sources})
    tutti_keep_templates_apart(${sources})
    set(scope PRIVATE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                          CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_definitions(${target} PRIVATE "TUTTI_VERSION=\"${PROJECT_VERSION}\"")
    tutti_defaults(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/include"
                             "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} ${scope} Threads::Threads ${arg_LINK})
endfunction()

# tutti_library(<target> SHARED|STATIC <layer>...): a library of those layers, declared before.
function(tutti_library target type)
  add_library(${target} ${type})
  foreach(layer IN LISTS ARGN)
    get_target_property(layer_type tutti_${layer} TYPE)
    if(layer_type STREQUAL "OBJECT_LIBRARY")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:tutti_${layer}>)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(${target} INTERFACE cxx_std_23)
  target_include_directories(
    ${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  tutti_defaults(${target})
endfunction()

# tutti_c_program(<target> <source>): a program in C99 that uses the shared library.
function(tutti_c_program target source)
  add_executable(${target} "${source}")
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF LINKER_LANGUAGE C)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
                                           $<$<BOOL:${TUTTI_WERROR}>:-Werror>)
  target_link_libraries(${target} PRIVATE tutti::tutti Threads::Threads)
endfunction()
