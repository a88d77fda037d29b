# judder_embed(<output.cpp> <header> <namespace> <function>=<file>…): files as functions that return their bytes.
#
# The bytes stand in the source as numbers: a text literal has a largest length, and raw literals would have to avoid their own end.
function(judder_embed output header space)
  set(inputs)
  foreach(pair ${ARGN})
    string(REGEX REPLACE "^[^=]*=" "" file "${pair}")
    list(APPEND inputs "${file}")
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DHEADER=${header}" "-DSPACE=${space}" "-DPAIRS=${ARGN}"
            -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFilesNow.cmake"
    DEPENDS ${inputs} "${PROJECT_SOURCE_DIR}/cmake/EmbedFilesNow.cmake"
    VERBATIM)
endfunction()
