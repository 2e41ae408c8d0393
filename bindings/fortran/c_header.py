# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""Reads capi/moemesh.h, whose style is regular, into lists of constants, structs, callbacks and functions. Anything in
it that does not fit a pattern below is an error: nothing of the header is left out silently."""

import re
from dataclasses import dataclass, field


@dataclass
class Value:
    """A field of a struct or an argument: `const char* name[count]`, or a pointer to a function."""
    name: str
    type: str
    stars: int = 0
    const: bool = False
    count: int = 0
    function: bool = False


@dataclass
class Function:
    name: str
    result: Value
    arguments: list


@dataclass
class Header:
    constants: list = field(default_factory=list)  # (name, value) in the header's order
    statuses: list = field(default_factory=list)
    handles: list = field(default_factory=list)
    structs: dict = field(default_factory=dict)  # name -> [Value]
    callbacks: dict = field(default_factory=dict)  # name -> Function
    functions: list = field(default_factory=list)


def parse_value(text):
    text = " ".join(text.split())
    pointer = re.fullmatch(r".*\(\*(\w+)\)\(.*\)", text)
    if pointer:
        return Value(pointer[1], "function", function=True)
    match = re.fullmatch(r"(const )?(\w+) ?(\**) ?(\w+)?(?:\[(\d+)\])?", text)
    if not match:
        raise ValueError(f"not understood: {text}")
    return Value(match[4] or "", match[2], len(match[3]), bool(match[1]), int(match[5] or 0))


def parse_arguments(text):
    return [] if text.strip() == "void" else [parse_value(part) for part in text.split(",")]


def parse_enum(header, body):
    for entry in filter(None, (part.strip() for part in body.split(","))):
        match = re.fullmatch(r"(MOEMESH_\w+) = (-?\d+)", entry)
        if not match:
            raise ValueError(f"enum entry not understood: {entry}")
        header.constants.append((match[1], int(match[2])))


def strip(text):
    """Without comments, with the status list as an enum, without the preprocessor."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    lines = []
    for line in text.replace("\\\n", " ").split("\n"):
        if not line.lstrip().startswith("#"):
            lines.append(line)
    return "\n".join(line for line in lines if 'extern "C"' not in line)


def parse(path):
    raw = open(path, encoding="utf-8").read()
    header = Header()
    for name, value in re.findall(r"^#define (MOEMESH_\w+) (\d+)$", raw, flags=re.M):
        header.constants.append((name, int(value)))
    for name, value in re.findall(r"^  X\((\w+), (-?\d+), \"", raw, flags=re.M):
        header.statuses.append(f"MOEMESH_{name}")
        header.constants.append((f"MOEMESH_{name}", int(value)))
    text = strip(raw)
    text = re.sub(r"typedef enum moemesh_status \{.*?\} moemesh_status;", "", text, flags=re.S)
    parse_statements(header, text)
    return header


STATEMENTS = [
    ("enum", r"(?:typedef )?enum(?: \w+)? \{(?P<body>[^}]*)\}(?: \w+)?;"),
    ("handle", r"typedef struct \w+_handle\* (?P<name>\w+);"),
    ("struct", r"typedef struct (?P<name>\w+) \{(?P<body>[^}]*)\} \w+;"),
    ("callback", r"typedef (?P<result>[\w ]+\**) ?\(\*(?P<name>\w+)\)\((?P<body>[^)]*)\);"),
    ("function", r"MOEMESH_API (?P<result>[\w ]+?\**) (?P<name>\w+)\((?P<body>[^)]*)\);"),
]


def parse_statements(header, text):
    position = 0
    while text[position:].strip() not in ("", "}"):
        position += len(text[position:]) - len(text[position:].lstrip())
        kind, match = next(((kind, match) for kind, pattern in STATEMENTS
                            if (match := re.compile(pattern).match(text, position))), (None, None))
        if match is None:
            raise ValueError(f"not understood: {text[position:position + 200]}")
        add_statement(header, kind, match.groupdict())
        position = match.end()


def add_statement(header, kind, parts):
    if kind == "enum":
        parse_enum(header, parts["body"])
    elif kind == "handle":
        header.handles.append(parts["name"])
    elif kind == "struct":
        fields = filter(None, (part.strip() for part in parts["body"].split(";")))
        header.structs[parts["name"]] = [parse_value(part) for part in fields]
    else:
        function = Function(parts["name"], parse_value(parts["result"]), parse_arguments(parts["body"]))
        if kind == "callback":
            header.callbacks[function.name] = function
        else:
            header.functions.append(function)
