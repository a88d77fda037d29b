# One static library per layer, `judder::<layer>`, and `judder::judder` for all of them.

add_library(judder_build_flags INTERFACE)
target_compile_features(judder_build_flags INTERFACE cxx_std_20)
# Whether a product and a sum contract into one rounding depends on the target; results must not.
target_compile_options(judder_build_flags INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-sign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # false alarms of g++ 12 on std::string (GCC bug 105651)
if(JUDDER_WARNINGS_AS_ERRORS)
  target_compile_options(judder_build_flags INTERFACE -Werror)
endif()
if(JUDDER_SANITIZE)
  target_compile_options(judder_build_flags INTERFACE -fsanitize=${JUDDER_SANITIZE} -fno-omit-frame-pointer)
  # What the address sanitizer sees as well, and alignment, which this processor does not mind: half the time to compile.
  if(JUDDER_SANITIZE MATCHES "address.*undefined")
    target_compile_options(judder_build_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
    # A report that a passing test buries in its log is no report.
    target_compile_options(judder_build_flags INTERFACE -fno-sanitize-recover=all)
  endif()
  target_link_options(judder_build_flags INTERFACE -fsanitize=${JUDDER_SANITIZE})
endif()
if(JUDDER_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Without the time of day in it the header is the same file every time, and ccache can know it again.
  target_compile_options(judder_build_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(JUDDER_WITH_COVERAGE)
  target_compile_options(judder_build_flags INTERFACE --coverage)
  target_link_options(judder_build_flags INTERFACE --coverage)
endif()

# judder_package(<name>): a library of others; for WebAssembly its headers are there already (JudderWasm).
macro(judder_package name)
  if(NOT EMSCRIPTEN)
    find_package(${name} REQUIRED)
  endif()
endmacro()

# judder_precompile(<target> <kind> <header>…): the first target of a kind compiles the headers, the others take the result
# over; all targets of one kind must have the same flags.
function(judder_precompile target kind)
  if(NOT JUDDER_PRECOMPILED_HEADERS)
    return()
  endif()
  get_property(first GLOBAL PROPERTY JUDDER_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY JUDDER_PRECOMPILED_${kind} ${target})
  endif()
endfunction()

# judder_layer(<name> SOURCES … [NATIVE …] [DEPENDS <layer>…] [LIBRARIES <private libraries>…] [PRECOMPILED <further headers>…])
# NATIVE: sources that the solver of live pages never calls, such as those of files, figures and ensembles; they are left out of it.
function(judder_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;NATIVE;DEPENDS;LIBRARIES;PRECOMPILED" ${ARGN})
  if(EMSCRIPTEN)
    set(ARG_NATIVE)
  endif()
  add_library(judder_${name} STATIC ${ARG_SOURCES} ${ARG_NATIVE})
  add_library(judder::${name} ALIAS judder_${name})
  set_target_properties(judder_${name} PROPERTIES EXPORT_NAME ${name})
  if(NOT EMSCRIPTEN)  # a module that is linked once has fixed places
    set_target_properties(judder_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_include_directories(judder_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(judder_${name} PUBLIC cxx_std_20)
  if(name IN_LIST JUDDER_SMALL_LAYERS)
    foreach(source ${ARG_SOURCES})
      if(NOT source IN_LIST JUDDER_FAST_SOURCES)
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Oz)
      endif()
    endforeach()
  endif()
  target_link_libraries(judder_${name} PRIVATE $<BUILD_INTERFACE:judder_build_flags> ${ARG_LIBRARIES})
  foreach(lower ${ARG_DEPENDS})
    target_link_libraries(judder_${name} PUBLIC judder_${lower})
  endforeach()
  set(kind layers)
  if(ARG_PRECOMPILED)
    set(kind ${name})
  endif()
  judder_precompile(judder_${name} ${kind} "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp" ${ARG_PRECOMPILED})
  set_property(GLOBAL APPEND PROPERTY JUDDER_LAYERS judder_${name})
endfunction()

function(judder_umbrella)
  get_property(layers GLOBAL PROPERTY JUDDER_LAYERS)
  add_library(judder INTERFACE)
  add_library(judder::judder ALIAS judder)
  target_link_libraries(judder INTERFACE ${layers})
endfunction()

# judder_test(<name> SOURCES … [LIBRARIES …]): one GoogleTest program, its cases listed in ctest.
function(judder_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE judder_build_flags ${ARG_LIBRARIES} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE JUDDER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  judder_precompile(${name} tests "${PROJECT_SOURCE_DIR}/tests/support/precompiled.hpp")
  # What a test does itself is short, so less is spent on optimising it; the libraries have the optimisation of the build.
  if(JUDDER_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(JUDDER_SANITIZE OR JUDDER_WITH_COVERAGE)
    target_compile_definitions(${name} PRIVATE JUDDER_SLOW_BUILD)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
endfunction()
