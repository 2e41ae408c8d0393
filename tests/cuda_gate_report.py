# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""cuda_gate_report.py FOLDER UNIT...: the kernels that tests/cuda-gate compiled, as a table, FOLDER/kernels.txt.

A label is run-time text, which no compiler's report knows. The report names a kernel by its lambda: the function that
it stands in and its number among those of one signature there. So do we, from the sources: a string "moemesh::..." in a
.cpp file is the label of the next lambda of the function that it stands in. The two lists must be equal: whatever one
of them gets wrong, or leaves out, is an error.
"""
import collections
import pathlib
import re
import subprocess
import sys

Place = collections.namedtuple("Place", "unit function number")
Kernel = collections.namedtuple("Kernel", "place function registers stores loads stack shared")

# From `ptxas -v`: a kernel's three lines.
REPORT = re.compile(
    r"Compiling entry function '(?P<name>\w+)'.*?\n"
    r"(?:.*Function properties.*\n)?"
    r"\s*(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads\n"
    r".*Used (?P<registers>\d+) registers(?P<rest>.*)\n")


def fail(text):
    sys.exit(f"tests/cuda-gate: {text}")


def without_conditionals(path):
    """The source as a CUDA build sees it: no comments, no includes, macros as they are written."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#include")]
    command = ["g++", "-E", "-P", "-DMOEMESH_DEVICE_CUDA=1", "-x", "c++", "-"]
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


def opening(text, end, pair):
    """The place of the bracket that the one at end closes."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (text[at] == pair[1]) - (text[at] == pair[0])
        if depth == 0:
            return at
    return 0


def lambda_of(kernel):
    """(function, its template arguments, number) of the lambda that a demangled kernel runs, None if it runs none."""
    match = re.search(r"::\{lambda\([^{}]*\)#(\d+)\}", kernel)
    if not match:
        return None
    end = opening(kernel, match.start() - 1, "()")
    begin = opening(kernel, end - 1, "<>") if kernel[end - 1] == ">" else end
    return re.search(r"\w+$", kernel[:begin])[0], kernel[begin:end], int(match[1])


def readable(mangled):
    """Demangled, and without namespaces, of which a local one's name holds the unit's hash."""
    names = subprocess.run(["c++filt"], input=mangled, text=True, check=True, capture_output=True).stdout
    return re.sub(r"(moemesh::kernels|detail|\(anonymous namespace\)|_\w*INTERNAL_\w+|_GLOBAL__N__\w+)::", "", names)


def kernels_of(unit, log):
    found = []
    for match in REPORT.finditer(log):
        if "moemesh" not in match["name"]:
            continue  # Kokkos's own, for its Views
        place = lambda_of(readable(match["name"])) or fail(f"{unit}: a kernel that is no lambda: {match['name']}")
        shared = re.search(r"(\d+) bytes smem", match["rest"])
        found.append(Kernel(Place(unit, place[0], place[2]), place[0] + place[1],
                            *(int(match[k]) for k in ("registers", "stores", "loads", "stack")),
                            int(shared[1]) if shared else 0))
    if len(REPORT.findall(log)) != log.count("Compiling entry function"):
        fail(f"{unit}: the compiler's report is not as expected")
    return found


def compare(labels, kernels):
    compiled = {kernel.place for kernel in kernels}
    wrong = [f"{labels[place]} is in no report: {place}" for place in sorted(labels.keys() - compiled)]
    wrong += [f"a kernel without a label: {place}" for place in sorted(compiled - labels.keys())]
    if wrong:
        fail("sources and compiled kernels differ:\n  " + "\n  ".join(wrong))


def table(labels, kernels):
    head = ("kernel", "registers", "spill stores", "spill loads", "stack", "shared", "function")
    rows = sorted((labels[k.place], -k.registers, k) for k in kernels)
    lines = [head] + [(label, k.registers, k.stores, k.loads, k.stack, k.shared, k.function) for label, _, k in rows]
    form = "{:<32} {:>9} {:>12} {:>11} {:>6} {:>6}  {}"
    return "\n".join(form.format(*line) for line in lines) + "\n"


def main():
    folder, units = pathlib.Path(sys.argv[1]), sys.argv[2:]
    labels, kernels = {}, []
    for unit in units:
        labels.update(labels_of(unit))
        kernels += kernels_of(unit, (folder / (unit.replace("/", "-") + ".log")).read_text())
    if not kernels:
        fail("no kernel was compiled")
    compare(labels, kernels)
    (folder / "kernels.txt").write_text(table(labels, kernels))
    spilling = sum(kernel.stores > 0 for kernel in kernels)
    print(f"tests/cuda-gate: {len(units)} units, {len(set(labels.values()))} labels, {len(labels)} lambdas, "
          f"{len(kernels)} kernels for sm_90, {spilling} with spills: {folder}/kernels.txt")


main()
