# `cmake --install` puts the headers, one static library per layer and the package files where find_package(judder) looks.
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY JUDDER_LAYERS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/judder")

install(TARGETS ${layers} judder EXPORT judder-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/judder" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT judder-targets NAMESPACE judder:: DESTINATION ${package_dir})

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/judder-config.cmake.in" "${PROJECT_BINARY_DIR}/judder-config.cmake"
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break callers.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/judder-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/judder-config.cmake" "${PROJECT_BINARY_DIR}/judder-config-version.cmake"
  DESTINATION ${package_dir})
