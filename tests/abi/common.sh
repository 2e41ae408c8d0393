# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Sourced by the scripts of this folder, from the project's root.

# image HEADER_FOLDER OUT.so: a library of stubs with the interface that the header declares, and debug information.
image() {
  local source=${2%.so}.c
  python3 tests/abi/generate.py image "$1/moemesh.h" > "$source" || return 1
  cc -std=c11 -g -fPIC -shared -Wl,--version-script=cmake/moemesh.map "-Wl,-soname,$(soname "$1")" "-I$1" "$source" -o "$2"
}

# dump IMAGE: its interface as abidw writes it, without folders of this machine.
dump() { abidw --no-corpus-path --no-comp-dir-path --short-locs "$1"; }

# As SOVERSION in cmake/MoemeshLibrary.cmake says.
soname() { echo "libmoemesh.so.$(header_version "$1/moemesh.h" | cut -d. -f1)"; }

header_version() {
  sed -n 's/^#define MOEMESH_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' "$1" | paste -sd.
}

# Public functions of a library with their versions; the stubs' own moemesh_image_* left out.
symbols() { nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | grep -v '^moemesh_image_' | sort; }
