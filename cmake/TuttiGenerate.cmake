# tutti_generate(TARGET <name> FILES <file.idl>... [INCLUDES <folder>...])
# Makes <name>, an interface library of the C++ headers that `tutti idl` makes of those IDL files:
# what links it includes "file.hpp". Needs Debian's idlc (cyclonedds-tools).
function(tutti_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "FILES;INCLUDES")
  if(NOT arg_TARGET OR NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tutti_generate(TARGET name FILES a.idl...): not ${ARGV}")
  endif()
  find_program(TUTTI_IDLC idlc)
  if(TARGET tutti_idl)
    set(plugin "$<TARGET_FILE:tutti_idl>")
    set(depends tutti_idl)
  else()
    find_library(TUTTI_IDL_PLUGIN NAMES libtutti_idl.so
                 PATHS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../tutti" NO_DEFAULT_PATH)
    set(plugin "${TUTTI_IDL_PLUGIN}")
    set(depends "${TUTTI_IDL_PLUGIN}")
  endif()
  if(NOT TUTTI_IDLC OR NOT plugin)
    message(FATAL_ERROR "tutti_generate needs idlc and Tutti's plug-in for it: install "
                        "cyclonedds-tools and cyclonedds-dev 0.10, then build Tutti again")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_idl")
  file(MAKE_DIRECTORY "${folder}")
  list(TRANSFORM arg_INCLUDES PREPEND "-I")
  set(headers)
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    cmake_path(GET file STEM name)
    set(header "${folder}/${name}.hpp")
    add_custom_command(
      OUTPUT "${header}"
      COMMAND "${TUTTI_IDLC}" -l "${plugin}" -o "${folder}" ${arg_INCLUDES} "${file}"
      DEPENDS "${file}" ${depends}
      COMMENT "IDL ${name}.idl"
      VERBATIM)
    list(APPEND headers "${header}")
  endforeach()
  add_library(${arg_TARGET} INTERFACE ${headers})
  target_sources(${arg_TARGET} INTERFACE ${headers})
  target_include_directories(${arg_TARGET} INTERFACE "${folder}")
endfunction()
