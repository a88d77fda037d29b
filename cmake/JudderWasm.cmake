# The library as WebAssembly, by Debian's emscripten: what a live page runs (apps/live). scripts/live configures and builds it.
#
# - Headers of other packages are those of the machine, reached through a folder of links: /usr/include as a whole would bring its C library.
# - Exceptions are those of WebAssembly: a page loads half as much and twice as fast as with those that go through JavaScript.
set(links "${PROJECT_BINARY_DIR}/headers")
file(MAKE_DIRECTORY "${links}")
foreach(package toml++ nlohmann)
  if(NOT EXISTS "/usr/include/${package}")
    message(FATAL_ERROR "/usr/include/${package} is missing: scripts/packages install build")
  endif()
  file(CREATE_LINK "/usr/include/${package}" "${links}/${package}" SYMBOLIC)
endforeach()
foreach(target tomlplusplus::tomlplusplus nlohmann_json::nlohmann_json Threads::Threads)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
endforeach()
target_include_directories(tomlplusplus::tomlplusplus INTERFACE "${links}")
target_compile_definitions(tomlplusplus::tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE "${links}")

add_compile_options(-fwasm-exceptions -include "${PROJECT_SOURCE_DIR}/cmake/wasm/missing.hpp")
add_link_options(-fwasm-exceptions)
# Size and start of a page count; -O3 gains little. What reads, compiles and describes a model takes little time of a run (judder_layer): smallest code there.
# When the module is linked it is optimised once more as a whole, and there -O3 is worth it: twice the speed of -Oz for one hundredth of size, since small functions
# of every file come to where they are called.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_EXE_LINKER_FLAGS_RELEASE "-O3")
set(JUDDER_SMALL_LAYERS analysis expr io live model report tasks)
set(JUDDER_FAST_SOURCES batch.cpp evaluate.cpp graph.cpp interval.cpp linear.cpp linked.cpp number.cpp series.cpp system.cpp
  memory_run.cpp page_model.cpp read_thinned.cpp sinks.cpp)
