#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""generate.py [--check] [--header FILE]: writes the generated Fortran of this folder from capi/moemesh.h:

  moemesh_f_constants.f90  constants
  moemesh_c.f90            structs and functions as they are in C
  moemesh_f_objects.f90    handles and structs as Fortran has them, and how they are converted
  moemesh_f_calls.f90      the calls that differ from C in their types alone
  moemesh_f_arrays.f90     the calls that come once for each type or rank of an array

The other calls are written by hand (BY_HAND below) in the other files. --check writes nothing and fails where a file is
not what would be written, or where a function of the header has no Fortran call."""

import argparse
import re
import sys
from pathlib import Path

import c_header
import fortran_arrays
import fortran_calls
import fortran_raw
import fortran_types

HERE = Path(__file__).resolve().parent

# What is written by hand: a call of the same name stands in one of the other files. A value says what does it instead.
BY_HAND = {
    "moemesh_status_name": "", "moemesh_status_text": "", "moemesh_last_error": "",
    "moemesh_view_init": "moemesh_array",
    "moemesh_all_reduce": "", "moemesh_all_gather": "", "moemesh_reduce_scatter": "", "moemesh_broadcast": "",
    "moemesh_parameter_params_init": "", "moemesh_parameter_register": "", "moemesh_parameter_get_info": "",
    "moemesh_parameter_acquire": "", "moemesh_parameter_get_gradient": "", "moemesh_gradient_ready": "",
    "moemesh_parameter_read": "", "moemesh_parameter_write": "",
    "moemesh_forward_params_init": "moemesh_layer_forward", "moemesh_layer_forward": "",
    "moemesh_backward_params_init": "moemesh_layer_backward", "moemesh_layer_backward": "",
    "moemesh_replay_params_init": "moemesh_layer_replay", "moemesh_layer_replay": "",
    "moemesh_tape_get_routing": "", "moemesh_layer_get_rows": "",
    "moemesh_layer_get_bias": "", "moemesh_layer_set_bias": "",
    "moemesh_pipeline_run_init": "moemesh_pipeline_begin", "moemesh_pipeline_begin": "", "moemesh_pipeline_next": "",
    "moemesh_pipeline_execute": "",
    "moemesh_bill_add_layer": "", "moemesh_bill_add_parameter": "",
}


# Not for Fortran programs: in moemesh_c alone.
RAW_ALONE = {"moemesh_get_api"}


def public_names(text):
    return set(re.findall(r"^ *(?:subroutine|function|interface) (moemesh_\w+)", text, flags=re.M))


def check_complete(header, texts):
    """Every function of the header has a call."""
    names = set()
    for text in texts:
        names |= public_names(text)
    declared = {function.name for function in header.functions}
    missing = [name for name in sorted(declared - RAW_ALONE) if (BY_HAND.get(name) or name) not in names]
    unknown = sorted(set(BY_HAND) - declared)
    problems = [f"no Fortran call for {name}" for name in missing]
    return problems + [f"{name} is written by hand but not in the header" for name in unknown]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--header", default=HERE.parent.parent / "capi" / "moemesh.h")
    options = parser.parse_args()
    header = c_header.parse(options.header)
    files = {
        "moemesh_f_constants.f90": fortran_raw.write_constants(header),
        "moemesh_c.f90": fortran_raw.write(header),
        "moemesh_f_objects.f90": fortran_types.write(header),
        "moemesh_f_calls.f90": fortran_calls.write(header, set(BY_HAND) | RAW_ALONE),
        "moemesh_f_arrays.f90": fortran_arrays.write(),
    }
    problems = []
    for name, text in files.items():
        path = HERE / name
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            problems.append(f"{name} is not what generate.py makes of {options.header}")
    by_hand = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.f90")) if path.name not in files]
    problems += check_complete(header, by_hand + [text for name, text in files.items() if name != "moemesh_c.f90"])
    for problem in problems:
        print(f"generate.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
