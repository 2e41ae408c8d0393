# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""The module moemesh_f_objects: a type for each handle and for each struct, and conversions from and to C."""

from fortran_raw import LICENCE, SAME, field_type, fold, raw_type

# Structs that Fortran has as arguments, or in a form that is written by hand.
BY_HAND = SAME | {"moemesh_parameter_params", "moemesh_parameter_info", "moemesh_forward_params",
                  "moemesh_backward_params", "moemesh_replay_params", "moemesh_pipeline_run",
                  "moemesh_pipeline_action", "moemesh_bill_routing",
                  "moemesh_api"}  # for who opens the library himself: in moemesh_c alone
# int32 and int64 that are 0 or 1.
LOGICALS = {"mpi_init", "node_crossing", "prefetch", "skipped", "reduce"}


def has_init(name, header):
    return any(function.name == name + "_init" for function in header.functions)


def is_text(value):
    return value.type == "char"


def is_logical(value):
    return value.name in LOGICALS


def shown(name, header):
    """The fields that a Fortran program sees."""
    return [value for value in header.structs[name] if value.name not in ("struct_size", "reserved")]


def own_structs(header):
    return [name for name in header.structs if name not in BY_HAND]


def goes_in(name, header):
    return any(value.type == name and value.const for function in header.functions for value in function.arguments)


def comes_out(name, header):
    return any(value.type == name and not value.const for function in header.functions for value in function.arguments)


def component(value, header):
    if is_text(value):
        return f"    character(:), allocatable :: {value.name}"
    if is_logical(value):
        return f"    logical :: {value.name} = .false."
    declaration = field_type(value, header)
    if value.count:  # counted by constants that start at 0
        return f"    {declaration} :: {value.name}(0:{value.count - 1}) = 0"
    starts = {"type(c_ptr)": " = c_null_ptr", "type(c_funptr)": " = c_null_funptr"}
    start = "" if declaration == "type(moemesh_comm)" else starts.get(declaration, " = 0")
    return f"    {declaration} :: {value.name}{start}"


def type_text(name, header):
    lines = [f"  type :: {name}"]
    if has_init(name, header):
        lines.append("    integer(c_int64_t) :: struct_size = 0 ! set by its init, which every one needs")
    return "\n".join(lines + [component(value, header) for value in shown(name, header)] + ["  end type"])


def has_text(name, header):
    return any(is_text(value) for value in header.structs[name])


def to_c_text(name, header):
    if sum(is_text(value) for value in header.structs[name]) > 1:
        raise ValueError(f"{name} goes in with several texts, which needs a copy for each")
    names = ["params", "raw"] + (["text"] if has_text(name, header) else [])
    lines = [f"  subroutine {name}_to_c({', '.join(names)})", f"    type({name}), intent(in) :: params",
             f"    type({raw_type(name)}), intent(out) :: raw"]
    if has_text(name, header):
        lines.append("    character(kind=c_char), allocatable, target, intent(inout) :: text(:)")
    lines.append("    raw%struct_size = " + ("params%struct_size" if has_init(name, header) else "c_sizeof(raw)"))
    for value in shown(name, header):
        field = f"%{value.name}"
        if is_text(value):
            lines.append(f"    call moemesh_text_to_c(params{field}, text, raw{field})")
        elif is_logical(value):
            lines.append(f"    raw{field} = merge(1, 0, params{field})")
        else:
            lines.append(f"    raw{field} = params{field}")
    return "\n".join(lines + ["  end subroutine"])


def from_c_text(name, header):
    lines = [f"  subroutine {name}_from_c(raw, params)", f"    type({raw_type(name)}), intent(in) :: raw",
             f"    type({name}), intent(inout) :: params"]
    if has_init(name, header):
        lines.append("    params%struct_size = raw%struct_size")
    for value in shown(name, header):
        field = f"%{value.name}"
        if is_text(value):
            lines.append(f"    call moemesh_text_from_c(raw{field}, params{field})")
        elif is_logical(value):
            lines.append(f"    params{field} = raw{field} /= 0")
        else:
            lines.append(f"    params{field} = raw{field}")
    return "\n".join(lines + ["  end subroutine"])


def init_text(name, header):
    return "\n".join([
        "  ! The library's defaults.",
        f"  subroutine {name}_init(params, ierr)", f"    type({name}), intent(inout) :: params",
        "    integer, intent(out), optional :: ierr", f"    type({raw_type(name)}) :: raw",
        "    integer(c_int32_t) :: status", f"    status = {name}_init_c(raw, c_sizeof(raw))",
        f"    if (status == MOEMESH_OK) call {name}_from_c(raw, params)",
        f'    call moemesh_finish(status, "{name}_init", ierr)', "  end subroutine"])


def is_number(value, header):
    return not is_text(value) and (is_logical(value) or field_type(value, header).startswith(("integer", "real")))


def keyword_type(value, header):
    """Numbers and flags come as they are: a call with another kind would be one of the type's own constructor."""
    if value.count:
        raise ValueError(f"{value.name} is an array, which constructors have no argument for")
    if is_text(value):
        return "character(*)"
    return "class(*)" if is_number(value, header) else field_type(value, header)


def set_text(name, value, header):
    if is_number(value, header):
        return f'call moemesh_set(params%{value.name}, {value.name}, "{name}", "{value.name}")'
    return f"params%{value.name} = {value.name}"


def constructor_text(name, header):
    values = shown(name, header)
    lines = [f"  function new_{name}({', '.join(value.name for value in values)}) &", "      result(params)"]
    lines += [f"    {keyword_type(value, header)}, intent(in), optional :: {value.name}" for value in values]
    lines += [f"    type({name}) :: params", f"    call {name}_init(params)"]
    lines += [f"    if (present({value.name})) {set_text(name, value, header)}" for value in values]
    return "\n".join(lines + ["  end function"])


def handle_text(name):
    return f"  type :: {name}\n    private\n    type(c_ptr) :: handle = c_null_ptr\n  end type"


def handle_calls_text(name):
    return (f"  function {name}_handle(object) result(handle)\n    type({name}), intent(in) :: object\n"
            "    type(c_ptr) :: handle\n    handle = object%handle\n  end function\n\n"
            f"  subroutine {name}_set_handle(object, handle)\n    type({name}), intent(inout) :: object\n"
            "    type(c_ptr), intent(in) :: handle\n    object%handle = handle\n  end subroutine")


def interface_text(generic, names):
    lines = [f"  interface {generic}"] + [f"    module procedure {name}" for name in names]
    return "\n".join(lines + ["  end interface"])


def public_text(names):
    return "\n".join(f"  public :: {name}" for name in names)


COMMENT = """! Generated by generate.py from moemesh.h: do not edit.
!
! Handles, and the structs of C as types: without reserved fields, texts as allocatable characters (not allocated is
! NULL), flags as logicals. Types that have defaults are filled by `call X_init(p)`, or made by
! `p = X(name=value, ...)`: the library's defaults with some of them changed, by numbers of any kind. One that was not
! is refused.
"""


def write(header):
    structs = own_structs(header)
    with_init = [name for name in structs if has_init(name, header)]
    public = header.handles + structs + [name + "_init" for name in with_init]
    parts = [
        LICENCE + COMMENT + "module moemesh_f_objects\n"
        "  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int32_t, c_int64_t, c_null_funptr, &\n"
        "    c_null_ptr, c_ptr, c_sizeof\n  use moemesh_c\n"
        "  use moemesh_f_base, only: moemesh_finish, moemesh_text_from_c, moemesh_text_to_c\n"
        "  use moemesh_f_numbers, only: moemesh_set\n"
        "  implicit none\n  private",
        public_text(public + ["moemesh_handle", "moemesh_set_handle", "moemesh_to_c", "moemesh_from_c"]),
        "\n\n".join(handle_text(name) for name in header.handles),
        "\n\n".join(type_text(name, header) for name in structs),
        "\n\n".join(interface_text(name, ["new_" + name]) for name in with_init),
        "  ! The C handle of an object, for C code of the program's own; and the reverse.\n" +
        interface_text("moemesh_handle", [name + "_handle" for name in header.handles]) + "\n\n" +
        interface_text("moemesh_set_handle", [name + "_set_handle" for name in header.handles]),
        interface_text("moemesh_to_c", [name + "_to_c" for name in structs if goes_in(name, header)]),
        interface_text("moemesh_from_c", [name + "_from_c" for name in structs if comes_out(name, header)]),
        "contains",
    ]
    parts += [handle_calls_text(name) for name in header.handles]
    for name in structs:
        parts += [to_c_text(name, header)] if goes_in(name, header) else []
        parts += [from_c_text(name, header)] if comes_out(name, header) else []
    for name in with_init:
        parts += [init_text(name, header), constructor_text(name, header)]
    return fold("\n\n".join(parts) + "\nend module\n")
