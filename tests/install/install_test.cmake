set(stage "${WORK_DIR}/stage")
set(build "${WORK_DIR}/consumer")
file(REMOVE_RECURSE "${stage}" "${build}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "${words}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${stage}")
run(${CMAKE_COMMAND} -S "${CONSUMER_DIR}" -B "${build}" -G Ninja "-DCMAKE_PREFIX_PATH=${stage}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DEXPECTED_VERSION=${VERSION}")
run(${CMAKE_COMMAND} --build "${build}")
run("${build}/consumer" "${build}/run")

# The programs of examples/ are written for the installed package.
set(examples "${WORK_DIR}/examples")
file(REMOVE_RECURSE "${examples}")
run(${CMAKE_COMMAND} -S "${EXAMPLES_DIR}" -B "${examples}" -G Ninja "-DCMAKE_PREFIX_PATH=${stage}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
run(${CMAKE_COMMAND} --build "${examples}")
run("${examples}/load_and_run" "${EXAMPLES_DIR}/../gallery/press/model.toml")
if(NOT output MATCHES "0\\.090304728  impact on 'plane', impulse 0\\.0885889")
  message(FATAL_ERROR "load_and_run does not list the first impact of the press:\n${output}")
endif()
run("${examples}/written_in_cpp")
if(NOT output MATCHES "slips at")
  message(FATAL_ERROR "written_in_cpp does not slip:\n${output}")
endif()
run("${examples}/parameter_on_threads")

# The installed program must find its gallery by itself.
run("${stage}/bin/judder" gallery)
if(NOT output MATCHES "bouncing-ball")
  message(FATAL_ERROR "judder gallery does not list the bouncing ball:\n${output}")
endif()
