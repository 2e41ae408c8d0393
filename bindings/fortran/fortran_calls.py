# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""The module moemesh_f_calls: calls whose arguments differ from C's in types alone, or in where they count from."""

from fortran_raw import LICENCE, SAME, fold, raw_type
from fortran_types import has_text, interface_text, is_logical, public_text

# Arguments that a program may leave out: (function, argument). They stand behind the others.
OPTIONAL = {("moemesh_context_create", "params"), ("moemesh_mesh_plan", "context"), ("moemesh_step_begin", "params"),
            ("moemesh_optimizer_step", "params"), ("moemesh_optimizer_step", "result")}
# Other modules add forms to these: they are generic.
GENERIC = {"moemesh_context_create"}
# Counted from 1 in Fortran.
FROM_ONE = {("moemesh_ledger_get_entry", "index"), ("moemesh_bill_get_entry", "index"),
            ("moemesh_report_get_layer", "index"), ("moemesh_loss_tokens", "microbatch"),
            ("moemesh_mesh_get_experts", "first")}


class Argument:
    """One argument of a call: how Fortran declares it, what is done before and after, what C is given."""

    def __init__(self, function, value, header):
        self.name = value.name
        self.optional = (function.name, value.name) in OPTIONAL
        self.offset = (function.name, value.name) in FROM_ONE
        self.locals, self.before, self.after = [], [], []
        if value.type in header.handles:
            self.handle(value)
        elif value.type in header.structs:
            self.struct(value, header)
        elif value.type == "char":
            self.declaration = "character(*), intent(in)"
            self.passed = f"trim({self.name}) // c_null_char"
        else:
            self.number(value)

    def handle(self, value):
        self.declaration = f"type({value.type}), intent({'inout' if value.stars else 'in'})"
        self.passed = f"moemesh_handle({self.name})"
        if value.stars:
            self.passed = self.name + "_c"
            self.locals.append(f"type(c_ptr) :: {self.passed}")
            self.before.append(f"{self.passed} = moemesh_handle({self.name})")
            self.after.append(f"call moemesh_set_handle({self.name}, {self.passed})")
        elif self.optional:
            self.passed = self.name + "_c"
            self.locals.append(f"type(c_ptr) :: {self.passed}")
            self.before += [f"{self.passed} = c_null_ptr",
                            f"if (present({self.name})) {self.passed} = moemesh_handle({self.name})"]

    def struct(self, value, header):
        if value.type in SAME:
            self.declaration = f"type({value.type}), intent({'in' if value.const else 'inout'})"
            self.passed = self.name
            return
        raw = self.name + "_c"
        self.declaration = f"type({value.type}), intent({'in' if value.const else 'inout'})"
        self.passed = raw
        guard = f"if (present({self.name})) " if self.optional else ""
        self.locals.append(f"type({raw_type(value.type)}), target :: {raw}")
        if self.optional:  # a pointer to nothing is an argument that is absent
            self.passed = self.name + "_p"
            self.locals.append(f"type({raw_type(value.type)}), pointer :: {self.passed}")
            self.before += [f"nullify({self.passed})", f"if (present({self.name})) {self.passed} => {raw}"]
        if value.const:
            text = f", {self.name}_text" if has_text(value.type, header) else ""
            if text:
                self.locals.append(f"character(kind=c_char), allocatable, target :: {self.name}_text(:)")
            self.before.append(f"{guard}call moemesh_to_c({self.name}, {raw}{text})")
        else:
            self.before.append(f"{raw}%struct_size = c_sizeof({raw})")
            self.after.append(f"{guard}call moemesh_from_c({raw}, {self.name})")

    def number(self, value):
        self.declaration = f"integer, intent({'inout' if value.stars else 'in'})"
        kind = "c_" + value.type
        self.passed = f"int({self.name}, {kind})" + (" - 1" if self.offset else "")
        if is_logical(value):
            self.declaration = "logical, intent(in)"
            self.passed = f"merge(1_{kind}, 0_{kind}, {self.name})"
        elif value.stars:
            self.passed = self.name + "_c"
            self.locals.append(f"integer({kind}) :: {self.passed}")
            self.before.append(f"{self.passed} = 0")
            self.after.append(f"{self.name} = int({self.passed})" + (" + 1" if self.offset else ""))


def specific(function):
    return function.name[len("moemesh_"):] if function.name in GENERIC else function.name


def declare(parts):
    return [f"    {part.declaration}{', optional' if part.optional else ''} :: {part.name}" for part in parts]


def destroy_text(function, part):
    return "\n".join([f"  subroutine {function.name}({part.name})"] + declare([part]) +
                     [f"    {line}" for line in part.locals + part.before] +
                     [f"    call {function.name}_c({part.passed})"] +
                     [f"    {line}" for line in part.after] + ["  end subroutine"])


def note(parts):
    """For the text of an error: what the program wrote where C names another number."""
    names = [part.name for part in parts if part.offset and "inout" not in part.declaration]
    return f', moemesh_counted("{names[0]}", {names[0]})' if names else ""


def call_text(function, header):
    parts = [Argument(function, value, header) for value in function.arguments]
    if function.result.type == "void":
        return destroy_text(function, parts[0])
    ordered = [part for part in parts if not part.optional] + [part for part in parts if part.optional]
    lines = [f"  subroutine {specific(function)}({', '.join([part.name for part in ordered] + ['ierr'])})"]
    lines += declare(ordered) + ["    integer, intent(out), optional :: ierr"]
    lines += [f"    {line}" for part in ordered for line in part.locals] + ["    integer(c_int32_t) :: returned"]
    lines += [f"    {line}" for part in ordered for line in part.before]
    lines.append(f"    returned = {function.name}_c({', '.join(part.passed for part in parts)})")
    after = [line for part in ordered for line in part.after]
    if after:
        # Handles are set also where the call failed: some calls consume one then.
        handles = [line for line in after if "set_handle" in line]
        others = [line for line in after if line not in handles]
        lines += [f"    {line}" for line in handles]
        if others:
            lines += ["    if (returned == MOEMESH_OK) then"] + [f"      {line}" for line in others] + ["    end if"]
    lines += [f'    call moemesh_finish(returned, "{function.name}", ierr{note(parts)})', "  end subroutine"]
    return "\n".join(lines)


def write(header, by_hand):
    functions = [function for function in header.functions
                 if function.name not in by_hand and not function.name.endswith("_init")]
    calls = [call_text(function, header) for function in functions]
    return fold(
        LICENCE + "! Generated by generate.py from moemesh.h: do not edit.\n!\n"
        "! The calls of C with Fortran's types. Outputs are left alone where a call fails. List entries, layers of a\n"
        "! report, microbatches and experts are counted from 1.\n"
        "module moemesh_f_calls\n"
        "  use, intrinsic :: iso_c_binding, only: c_char, c_int32_t, c_int64_t, c_null_char, c_null_ptr, c_ptr, &\n"
        "    c_sizeof\n"
        "  use moemesh_c\n  use moemesh_f_base, only: moemesh_counted, moemesh_finish\n  use moemesh_f_objects\n"
        "  implicit none\n  private\n" + public_text([function.name for function in functions]) +
        "\n\n" +
        "".join(interface_text(name, [name[len("moemesh_"):]]) for name in sorted(GENERIC)) +
        "\n\ncontains\n\n" + "\n\n".join(calls) + "\nend module\n")
