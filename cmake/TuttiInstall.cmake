# Install rules: libraries, public headers, the command, and what find_package and pkg-config read.
include(CMakePackageConfigHelpers)

set(tutti_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tutti")

install(TARGETS tutti tutti_static tutti_client_static EXPORT tutti-targets)
if(TARGET tutti_cli)
  install(TARGETS tutti_cli)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tutti" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

install(EXPORT tutti-targets NAMESPACE tutti:: DESTINATION "${tutti_package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tutti-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/tutti-config.cmake"
                              INSTALL_DESTINATION "${tutti_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tutti-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tutti-config.cmake"
              "${PROJECT_BINARY_DIR}/tutti-config-version.cmake"
        DESTINATION "${tutti_package_dir}")

# The prefix is relative to the .pc file, so that an installed tree may be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(tutti_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(tutti_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(tutti_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(tutti_pc_prefix "\${pcfiledir}/${up}")
  set(tutti_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(tutti_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/tutti.pc.in" "${PROJECT_BINARY_DIR}/tutti.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tutti.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
