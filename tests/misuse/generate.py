#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# generate.py HEADER [FIRST_HEADER] > tables.c: the tables of reflect.h. FIRST_HEADER: the first release's, whose structs are the
# shortest that must be accepted.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../abi"))
import header  # noqa: E402
import values  # noqa: E402

PLAIN = {"int32_t": "KIND_INT32", "int64_t": "KIND_INT64", "double": "KIND_DOUBLE"}


class Tables:
    def __init__(self, declared, first):
        self.declared, self.first = declared, first
        self.handles = declared.handles

    def kind(self, owner, variable):
        """(kind, handle, struct) of an argument or field."""
        key, kind, name = f"{owner}.{variable.name}", variable.type, variable.name
        plain = kind.replace("const ", "").rstrip("*")
        if key in values.ANY:
            return "KIND_ANY", -1, None
        if name == "stream":
            return "KIND_STREAM", -1, None
        if kind in self.handles:
            return "KIND_HANDLE", self.handles.index(kind), None
        if plain in self.handles and kind.endswith("*"):
            at = key in values.HANDLE_AT or owner.endswith("_destroy")
            return "KIND_HANDLE_AT" if at else "KIND_NEW_HANDLE", self.handles.index(plain), None
        if plain in self.declared.structs:
            if not kind.endswith("*"):
                return "KIND_STRUCT", -1, plain
            return "KIND_IN" if kind.startswith("const ") else "KIND_OUT", -1, plain
        if kind in PLAIN:
            return "KIND_SIZE" if name == "struct_size" and owner.endswith("_init") else PLAIN[kind], -1, None
        if kind in ("int32_t*", "int64_t*", "char*"):
            return "KIND_RESULT", -1, None
        if kind.endswith("*") or kind in self.declared.callbacks or variable.function:
            return "KIND_POINTER", -1, None
        sys.exit(f"generate.py: {key}: no kind for {kind}")

    def row(self, owner, variable, place, element):
        kind, handle, struct = self.kind(owner, variable)
        reference = f"&type_{struct}" if struct else "NULL"
        return (f'    {{"{variable.name}", {kind}, offsetof({place}, {variable.name}), sizeof({element}), '
                f"{max(variable.count, 1)}, {handle}, {reference}}},\n")

    def type(self, struct):
        name = struct.name
        rows = "".join(self.row(name, f, name, f"((({name}*)0)->{f.name}{'[0]' if f.count else ''})") for f in struct.fields)
        old = self.first.structs.get(name)
        fields = "".join(f"sizeof((({name}*)0)->{f.name}) + " for f in old.fields) + "0" if old else f"sizeof({name})"
        return (f"static const struct field fields_{name}[] = {{\n{rows}}};\n"
                f'static const struct type type_{name} = {{"{name}", sizeof({name}), {fields}, {int(struct.sized)}, '
                f"{len(struct.fields)}, fields_{name}}};\n")

    def value(self, short, position, variable):
        kind = self.kind(short, variable)[0]
        if short.endswith("_destroy"):
            return "NULL"
        for key in (f"{short}.{variable.name}", f"{short.split('_', 1)[-1]}.{variable.name}", variable.name):
            if key in values.VALUES and not (kind == "KIND_OUT" and key == variable.name):
                return values.VALUES[key]
        if kind in ("KIND_OUT", "KIND_NEW_HANDLE", "KIND_RESULT"):
            return f"(void*)w.v.output[{position}]"
        if kind == "KIND_HANDLE":
            return "w." + variable.type.replace("moemesh_", "")
        if kind == "KIND_HANDLE_AT":
            return "&w." + variable.type.replace("moemesh_", "").rstrip("*")
        if kind == "KIND_SIZE":
            return f"sizeof({self.struct_of_init})"
        return sys.exit(f"generate.py: moemesh_{short}: values.py says nothing of {variable.name} ({variable.type})")

    def function(self, function):
        short, arguments = function.name.replace("moemesh_", "", 1), function.arguments
        struct = f"struct arguments_{short}"
        self.struct_of_init = arguments[0].type.rstrip("*") if short.endswith("_init") and arguments else None
        members = "".join(f"  {header.parameter(a)};\n" for a in arguments) or "  int none;\n"
        rows = "".join(self.row(short, a, struct, f"(({struct}*)0)->{a.name}") for a in arguments)
        values_set = "".join(f"  p->{a.name} = {self.value(short, i, a)};\n" for i, a in enumerate(arguments))
        return (f'{struct} {{\n{members}}};\n_Static_assert(sizeof({struct}) <= sizeof(arguments), "{short}");\n'
                f"static const struct field fields_{short}[] = {{\n{rows or '    {0}'}}};\n"
                f"static void valid_{short}(void* a) {{\n{unpack('', struct, arguments)}{values_set}}}\n"
                f"static int32_t call_{short}(const void* a) {{\n{unpack('const ', struct, arguments)}{call(function)}}}\n")

    def function_row(self, function):
        short = function.name.replace("moemesh_", "", 1)
        valid = int(short not in values.NO_VALID_CALL and not short.endswith("_destroy"))
        return (f'    {{"{short}", STATE_{values.STATES.get(short, "IDLE")}, {valid}, {int(function.returns == "int32_t")}, '
                f'{int(short in values.SPENDS)}, '
                f"{len(function.arguments)}, fields_{short}, valid_{short}, call_{short}}},\n")

    def destroys(self):
        text = "void destroy_handle(int kind, void** handle) {\n  switch (kind) {\n"
        names = {f.name for f in self.declared.functions}
        for i, handle in enumerate(self.handles):
            if f"{handle}_destroy" not in names:
                continue
            text += f"    case {i}:\n"
            for verb in ("stop", "finalize"):
                if f"{handle}_{verb}" in names:
                    text += f"      (void){handle}_{verb}(({handle})*handle);\n"
            text += f"      {handle}_destroy(({handle}*)handle);\n      break;\n"
        return text + "    default: *handle = NULL;\n  }\n}\n"

    def write(self, file):
        used = list(self.declared.structs.values())
        file.write('#include "reflect.h"\n#include "world.h"\n\n')
        argument_structs = {a.type.replace("const ", "").rstrip("*") for f in self.declared.functions for a in f.arguments}
        nested = {f.type.replace("const ", "").rstrip("*") for s in used for f in s.fields}
        for struct in used:
            if struct.name in argument_structs | nested:
                file.write(self.type(struct))
        for function in self.declared.functions:
            file.write(self.function(function))
        file.write("const struct function functions[] = {\n")
        file.writelines(self.function_row(f) for f in self.declared.functions)
        file.write("};\nconst int function_count = sizeof functions / sizeof functions[0];\n")
        file.write("const char* const handle_names[] = {" + ", ".join(f'"{h[8:]}"' for h in self.handles) + "};\n")
        file.write(f"const int handle_kinds = {len(self.handles)};\n" + self.destroys())


def unpack(const, struct, arguments):
    return f"  {const}{struct}* p = ({const}{struct}*)a;\n" if arguments else "  (void)a;\n"


def call(function):
    passed = ", ".join(f"p->{a.name}" for a in function.arguments)
    if function.returns == "int32_t":
        return f"  return {function.name}({passed});\n"
    return f"  (void){function.name}({passed});\n  return MOEMESH_OK;\n"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: generate.py HEADER [FIRST_HEADER]")
    declared = header.load(sys.argv[1])
    Tables(declared, header.load(sys.argv[-1])).write(sys.stdout)


main()
