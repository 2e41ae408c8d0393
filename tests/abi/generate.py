#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# generate.py link|image HEADER: a C file on the standard output, made from what moemesh.h declares.
#   link   a program that takes the address of every function
#   image  a stub for every function, and one (moemesh_image_*) for every type: a library with the interface of the header, for
#          tools that read debug information
import sys

import header

USAGE = "usage: generate.py link|image HEADER"


def link(declared):
    rows = "".join(f'    {{"{f.name}", (function*){f.name}}},\n' for f in declared.functions)
    return f"""#include <moemesh.h>
#include <stddef.h>
#include <stdio.h>

typedef void function(void);
static const struct {{
  const char* name;
  function* address;
}} functions[] = {{
{rows}}};

int main(void) {{
  int32_t major = -1, minor = -1, patch = -1;
  const size_t count = sizeof functions / sizeof functions[0];
  size_t i;
  for (i = 0; i < count; ++i) {{
    if (functions[i].address) continue;
    fprintf(stderr, "%s has no address\\n", functions[i].name);
    return 1;
  }}
  if (moemesh_version(&major, &minor, &patch) != MOEMESH_OK || major != MOEMESH_VERSION_MAJOR ||
      minor != MOEMESH_VERSION_MINOR || patch != MOEMESH_VERSION_PATCH)
    return 2;
  printf("%zu functions\\n", count);
  return 0;
}}
"""


def stub(function):
    arguments = ", ".join(header.parameter(a) for a in function.arguments) or "void"
    unused = "".join(f" (void){a.name};" for a in function.arguments)
    result = "" if function.returns == "void" else " return 0;"
    return f"{function.returns} {function.name}({arguments}) {{{unused}{result} }}\n"


def holder(kind, name):
    """Takes a type that no function takes: enums are int32_t in every signature."""
    return f"MOEMESH_API void moemesh_image_{name}({kind} {name}* value);\nvoid moemesh_image_{name}({kind} {name}* value) {{ (void)value; }}\n"


def image(declared):
    holders = [holder("enum", name) for name, _ in declared.enums if name] + [holder("struct", name) for name in declared.structs]
    return "#include <moemesh.h>\n\n" + "".join([stub(f) for f in declared.functions] + holders)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("link", "image"):
        sys.exit(USAGE)
    declared = header.load(sys.argv[2])
    sys.stdout.write(link(declared) if sys.argv[1] == "link" else image(declared))


main()
