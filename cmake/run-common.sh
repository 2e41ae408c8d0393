# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Sourced by the scripts that build and run things, from the project's root.

# Containers run everything as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# MPICH: a rank that waits leaves its core to others.
export MPIR_CVAR_POLLS_BEFORE_YIELD=${MPIR_CVAR_POLLS_BEFORE_YIELD:-1}

# quietly COMMAND...: the output is shown only where the command fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" > "$log" 2>&1 || status=$?
  [ $status = 0 ] || tail -n 200 "$log" >&2
  rm -f "$log"
  return $status
}

# configure PRESET [CMAKE OPTION...]; the Kokkos of the environment goes along.
configure() {
  quietly cmake --preset "$@" ${MOEMESH_KOKKOS_SOURCE:+"-DMOEMESH_KOKKOS_SOURCE=$MOEMESH_KOKKOS_SOURCE"}
}

# build FOLDER [TARGET...]: one changing line on a terminal, else silent unless it fails.
build() {
  local folder=$1
  shift
  local command=(cmake --build "$folder" -j "$(nproc)")
  [ $# = 0 ] || command+=(--target "$@")
  if [ -t 1 ]; then "${command[@]}"; else quietly "${command[@]}"; fi
}

# from_cache FOLDER VARIABLE
from_cache() { sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt"; }

# launch_flags MPIEXEC: more ranks than cores, on one machine.
launch_flags() {
  if "$1" --version 2> /dev/null | grep -q -i 'open.*mpi'; then
    echo --oversubscribe --mca pml ob1 --mca btl self,vader
  fi
}
