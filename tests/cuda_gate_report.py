# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""cuda_gate_report.py FOLDER UNIT...: the kernels that tests/cuda-gate compiled, as a table, FOLDER/kernels.txt.

A label is run-time text, which no compiler's report knows. The report names a kernel by its lambda: the function that it
stands in and its number there. So do we, from the sources: a string "moemesh::..." in a .cpp file is the label of the next
lambda of the function that it stands in. Both lists must be equal, whatever is wrong with either.
"""
import collections
import pathlib
import re
import subprocess
import sys

Place = collections.namedtuple("Place", "unit function number")
Kernel = collections.namedtuple("Kernel", "place name registers stores loads stack shared")

# The tag that the compiler gives a lambda: &function, and the lambda's number in it.
TAG = re.compile(r"__nv_dl_tagI.*?XadL_Z(.*?)ELj(\d+)EE")
# From `ptxas -v`: a kernel's three lines.
REPORT = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?\n"
    r"(?:.*Function properties.*\n)?"
    r"\s*(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads\n"
    r".*Used (?P<registers>\d+) registers(?P<rest>.*)\n")


def fail(text):
    sys.exit(f"tests/cuda-gate: {text}")


def without_conditionals(path):
    """The source as a build without oneDNN sees it: no comments, no includes, macros as they are written."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#include")]
    command = ["g++", "-E", "-P", "-x", "c++", "-"]
    return subprocess.run(command, input="\n".join(lines), text=True, check=True, capture_output=True).stdout


def labels_of(unit):
    """{place: label}; functions begin at the first column, as .clang-format has it."""
    labels, function, number = {}, "", 0
    for line in without_conditionals(pathlib.Path(unit)).splitlines():
        begins = re.match(r"[\w\[][^=\"]*?(\w+)\(", line)
        if begins:
            function, number = begins[1], 0
        for label in re.findall(r'"(moemesh::\w+)"', line):
            number += 1
            place = Place(unit, function, number)
            if place in labels:
                fail(f"{unit}: two functions named {function}")
            labels[place] = label
    return labels


def function_of(mangled):
    """The last of a nested name's identifiers, N7moemesh7kernels4zeroE: zero."""
    name, at = "", mangled.find("N") + 1
    while digits := re.match(r"\d+", mangled[at:]):
        at += len(digits[0])
        name, at = mangled[at:at + int(digits[0])], at + int(digits[0])
    return name


def kernels_of(unit, log):
    found = []
    for match in REPORT.finditer(log):
        tag = TAG.search(match["name"])
        place = Place(unit, function_of(tag[1]), int(tag[2])) if tag else None
        shared = re.search(r"(\d+) bytes smem", match["rest"])
        found.append(Kernel(place, match["name"], *(int(match[k]) for k in ("registers", "stores", "loads", "stack")),
                            int(shared[1]) if shared else 0))
    if len(found) != log.count("Compiling entry function"):
        fail(f"{unit}: the compiler's report is not as expected")
    return found


def variant_of(kernel):
    """The function with its template arguments, as a person reads it."""
    name = subprocess.run(["c++filt", kernel.name], text=True, check=True, capture_output=True).stdout
    name = re.sub(r"\(anonymous namespace\)::|moemesh::kernels::|detail::|_GLOBAL__N__\w+::", "", name)
    match = re.search(rf"\b{kernel.place.function}(<[^()]*>)?\(", name)
    return f"{kernel.place.function}{match[1] or ''}" if match else kernel.place.function


def compare(labels, kernels):
    compiled = {kernel.place for kernel in kernels}
    wrong = [f"{labels[place]} is in no report: {place}" for place in sorted(labels.keys() - compiled)]
    wrong += [f"a kernel without a label: {place}" for place in sorted(compiled - labels.keys())]
    if wrong:
        fail("sources and compiled kernels differ:\n  " + "\n  ".join(wrong))


def table(labels, kernels):
    head = ("kernel", "registers", "spill stores", "spill loads", "stack", "shared", "function")
    rows = sorted((labels[k.place], -k.registers, k) for k in kernels)
    lines = [head] + [(label, k.registers, k.stores, k.loads, k.stack, k.shared, variant_of(k)) for label, _, k in rows]
    form = "{:<32} {:>9} {:>12} {:>11} {:>6} {:>6}  {}"
    return "\n".join(form.format(*line) for line in lines) + "\n"


def main():
    folder, units = pathlib.Path(sys.argv[1]), sys.argv[2:]
    labels, kernels = {}, []
    for unit in units:
        labels.update(labels_of(unit))
        kernels += kernels_of(unit, (folder / (unit.replace("/", "-") + ".log")).read_text())
    ours = [kernel for kernel in kernels if kernel.place]
    strange = [kernel.name for kernel in kernels if not kernel.place and "moemesh" in kernel.name]
    if strange:
        fail("kernels of ours that are no lambdas: " + " ".join(strange))
    if not ours:
        fail("no kernel was compiled")
    compare(labels, ours)
    (folder / "kernels.txt").write_text(table(labels, ours))
    spilling = sum(kernel.stores > 0 for kernel in ours)
    print(f"tests/cuda-gate: {len(units)} units, {len(set(labels.values()))} labels, {len(labels)} lambdas, {len(ours)} "
          f"kernels for sm_90, {spilling} with spills; {len(kernels) - len(ours)} of Kokkos's own: {folder}/kernels.txt")


main()
