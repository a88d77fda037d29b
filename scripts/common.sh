# What the scripts share: the project's root, a log, and steps that say one line each. Source it, do not run it.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
mkdir -p build
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)
CTEST_PARALLEL_LEVEL=$CMAKE_BUILD_PARALLEL_LEVEL
export CMAKE_BUILD_PARALLEL_LEVEL CTEST_PARALLEL_LEVEL
export CMAKE_CXX_COMPILER_LAUNCHER=ccache
# What ccache asks for before it keeps objects made with a precompiled header; __DATE__ and __TIME__ are used nowhere.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# step LOG WORDS… -- COMMAND…: runs the command with its output in LOG; prints WORDS and the seconds it took, and on failure
# the end of the log.
step() {
  local log=$1 words=() begin=$SECONDS status=0
  shift
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  shift
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then
    printf '  %-44s %4d s\n' "${words[*]}" $((SECONDS - begin))
  else
    printf '  %-44s failed after %d s; the end of %s:\n' "${words[*]}" $((SECONDS - begin)) "$log"
    tail -n 40 "$log"
  fi
  return "$status"
}
