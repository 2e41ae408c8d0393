#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# docs/coverage.py XML_FOLDER HEADER: every function, type and macro of the header must be documented in what doxygen made of it; how many
# of the fields and constants are is printed. A comment that got lost on the way is an error too: those that stand behind a
# field or constant are counted in the header.
import glob
import os
import re
import sys
import xml.etree.ElementTree as tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/abi"))
import header  # noqa: E402


def words(element):
    parts = [element.find(tag) for tag in ("briefdescription", "detaileddescription")]
    return " ".join("".join(part.itertext()) for part in parts if part is not None).strip()


def collect(folder):
    """Names of things, members as STRUCT.FIELD, with what is said of them."""
    found = {}
    for path in glob.glob(os.path.join(folder, "*.xml")):
        for compound in tree.parse(path).getroot().iter("compounddef"):
            name = compound.findtext("compoundname")
            if compound.get("kind") == "struct":
                found[name] = words(compound)
            for member in compound.iter("memberdef"):
                prefix = name + "." if compound.get("kind") == "struct" else ""
                key = prefix + member.findtext("name")
                found[key] = found.get(key) or words(member)
                for value in member.iter("enumvalue"):
                    found[value.findtext("name")] = words(value)
    return found


def commented(path):
    """Fields and constants that have a comment behind them in the header."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    names = []
    for m in re.finditer(r"\bstruct (moemesh_\w+) \{(.*?)\n\}", text, re.S):
        names += [f"{m[1]}.{f}" for f in re.findall(r"(\w+)(?:\[\d+\])?;[ \t]*/\*", m[2])]
    for m in re.finditer(r"\benum (?:moemesh_\w+ )?\{([^{}]*)\}", text, re.S):
        names += re.findall(r"(MOEMESH_\w+) = -?\d+,?[ \t]*/\*", m[1])
    return names


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: docs/coverage.py XML_FOLDER HEADER")
    found, declared = collect(sys.argv[1]), header.load(sys.argv[2])
    functions = [f.name for f in declared.functions]
    types = [*declared.structs, *declared.handles, *declared.callbacks, *(name for name, _ in declared.enums if name)]
    members = [f"{s.name}.{f.name}" for s in declared.structs.values() for f in s.fields if f.name != "struct_size"]
    members += [name for name, _ in declared.constants()]
    bare = [name for name in functions + types if not found.get(name)]
    lost = [name for name in commented(sys.argv[2]) if not found.get(name)]
    for name in bare:
        print(f"{name}: no documentation", file=sys.stderr)
    for name in lost:
        print(f"{name}: its comment got lost", file=sys.stderr)
    said = sum(bool(found.get(name)) for name in members)
    print(f"  ok: {len(functions)} functions and {len(types)} types documented, {said} of {len(members)} fields and constants")
    return 1 if bare or lost else 0


sys.exit(main())
