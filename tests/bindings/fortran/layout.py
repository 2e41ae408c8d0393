#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""layout.py c HEADER | layout.py fortran FOLDER: a program in that language which prints every constant, and the size
of every struct with the offsets and sizes of its fields: of the header, or of the committed Fortran in FOLDER, which
is read for itself. Both must print the same.
layout.py drift HEADER FOLDER: writes changed headers, one for each kind of change that must be seen."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "fortran"))
import c_header  # noqa: E402


def c_program(path):
    header = c_header.parse(path)
    lines = [f'#include "{Path(path).resolve()}"', "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for name, _ in header.constants:
        lines.append(f'  printf("value {name} %lld\\n", (long long){name});')
    for struct, fields in header.structs.items():
        lines.append(f'  printf("struct {struct} %zu\\n", sizeof({struct}));')
        for field in fields:
            lines.append(f'  printf("field {struct}.{field.name} %zu %zu\\n", offsetof({struct}, {field.name}), '
                         f"sizeof((({struct}*)0)->{field.name}));")
    return "\n".join(lines + ["  return 0;", "}"]) + "\n"


def fortran_declarations(folder):
    """Constants and types of the two files that stand for the header."""
    text = "\n".join((Path(folder) / name).read_text(encoding="utf-8")
                     for name in ("moemesh_f_constants.f90", "moemesh_c.f90"))
    constants = re.findall(r"parameter :: (MOEMESH_\w+) =", text)
    types = {}
    for name, body in re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)\n  end type", text, flags=re.S):
        types[name] = re.findall(r":: (\w+)", body)
    return constants, types


def fortran_program(folder):
    constants, types = fortran_declarations(folder)
    lines = ["program layout", "  use, intrinsic :: iso_c_binding", "  use moemesh_c", "  implicit none"]
    for number, name in enumerate(types):
        lines.append(f"  type({name}), target :: t{number}")
    for name in constants:
        lines.append(f'  print "(a,i0)", "value {name} ", {name}')
    for number, (name, fields) in enumerate(types.items()):
        struct = re.sub(r"_c$", "", name)
        lines.append(f'  print "(a,i0)", "struct {struct} ", c_sizeof(t{number})')
        for field in fields:
            lines.append(f'  print "(a,i0,a,i0)", "field {struct}.{field} ", &\n'
                         f"    place(c_loc(t{number}%{field})) - place(c_loc(t{number})), \" \", "
                         f"c_sizeof(t{number}%{field})")
    return "\n".join(lines + ["contains", "  integer(c_intptr_t) function place(pointer)",
                              "    type(c_ptr), intent(in) :: pointer", "    place = transfer(pointer, place)",
                              "  end function", "end program"]) + "\n"


DRIFT = {
    "status": (r'  X\(ERROR_INTERNAL, ', '  X(ERROR_NEW, 99, "a new one") \\\\\n  X(ERROR_INTERNAL, '),
    "enum": (r"MOEMESH_GELU_TANH = 3,(\s+)MOEMESH_GELU_ERF = 4", r"MOEMESH_GELU_TANH = 4,\1MOEMESH_GELU_ERF = 3"),
    "field": (r"(  int64_t hidden; )", r"  int64_t inserted;\n\1"),
    "swapped": (r"  double beta1; ([^\n]*)\n  double beta2; ([^\n]*)\n", r"  double beta2; \2\n  double beta1; \1\n"),
}


def write_drift(path, folder):
    text = Path(path).read_text(encoding="utf-8")
    for name, (pattern, replacement) in DRIFT.items():
        changed, count = re.subn(pattern, replacement, text)
        if count != 1:
            raise SystemExit(f"layout.py: the change '{name}' fits {count} places of {path}")
        (Path(folder) / f"{name}.h").write_text(changed, encoding="utf-8")


def main():
    if sys.argv[1:2] == ["c"]:
        print(c_program(sys.argv[2]), end="")
    elif sys.argv[1:2] == ["fortran"]:
        print(fortran_program(sys.argv[2]), end="")
    else:
        write_drift(sys.argv[2], sys.argv[3])


if __name__ == "__main__":
    main()
