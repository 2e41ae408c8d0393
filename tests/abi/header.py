# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# What moemesh.h declares, as lists. The preprocessor goes first, so that a declaration made by a macro is seen as well.
import dataclasses
import re
import subprocess
import sys


@dataclasses.dataclass
class Variable:
    """An argument or a field. `count` is 0 where it is no array; `function` says that it is a function pointer."""
    type: str
    name: str
    count: int = 0
    function: bool = False


@dataclasses.dataclass
class Function:
    name: str
    returns: str
    arguments: list


@dataclasses.dataclass
class Struct:
    name: str
    fields: list

    @property
    def sized(self):
        return self.fields[0].name == "struct_size"


class HeaderError(Exception):
    pass


def preprocess(path):
    command = ["cc", "-std=c11", "-E", "-P", "-x", "c", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HeaderError(f"{' '.join(command)}: {done.stderr}")
    text = re.sub(r'__attribute__\s*\(\(visibility\("default"\)\)\)', "MOEMESH_API", done.stdout)
    return re.sub(r"\s+", " ", text)


def parse_variable(text):
    text = text.strip()
    pointer = re.fullmatch(r"(.+?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", text)
    if pointer:
        return Variable(text.replace(pointer[2], "", 1), pointer[2], function=True)
    match = re.fullmatch(r"(.+?)(\w+)\s*(?:\[\s*(\d+)\s*\])?", text)
    if not match:
        raise HeaderError(f"not understood: {text!r}")
    kind = re.sub(r"\s*\*", "*", match[1].strip())
    return Variable(kind, match[2], int(match[3] or 0))


def parameter(variable):
    """As it is declared."""
    return variable.type if variable.function else f"{variable.type} {variable.name}"


def split_arguments(text):
    if text.strip() in ("", "void"):
        return []
    depth, parts, begin = 0, [], 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [parse_variable(part) for part in parts + [text[begin:]]]


def parse_constants(body):
    constants, value = [], -1
    for part in body.split(","):
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*(\w+)\s*(?:=\s*(-?\d+))?\s*", part)
        if not match:
            raise HeaderError(f"enum: not understood: {part!r}")
        value = value + 1 if match[2] is None else int(match[2])
        constants.append((match[1], value))
    return constants


class Header:
    def __init__(self, path):
        text = preprocess(path)
        self.path = path
        self.handles = re.findall(r"typedef struct moemesh_\w+_handle\s*\*\s*(moemesh_\w+)\s*;", text)
        self.callback_types = [
            Function(m[2], re.sub(r"\s*\*", "*", m[1].strip()), split_arguments(m[3]))
            for m in re.finditer(r"typedef ([^;{}()]*)\(\s*\*\s*(moemesh_\w+)\s*\)\s*\(([^;]*)\)\s*;", text)
        ]
        self.callbacks = [f.name for f in self.callback_types]
        self.enums = [(m[1] or "", parse_constants(m[2])) for m in re.finditer(r"\benum\s*(moemesh_\w+)?\s*\{([^}]*)\}", text)]
        self.structs = {}
        for m in re.finditer(r"\bstruct (moemesh_\w+) \{([^}]*)\}", text):
            self.structs[m[1]] = Struct(m[1], [parse_variable(f) for f in m[2].split(";") if f.strip()])
        self.functions = [
            Function(m[2], re.sub(r"\s*\*", "*", m[1].strip()), split_arguments(m[3]))
            for m in re.finditer(r"MOEMESH_API ([^;{}()]*?)\b(moemesh_\w+)\s*\(((?:[^;()]|\([^()]*\))*)\)\s*;", text)
        ]
        self.check(text)

    def check(self, text):
        """Nothing that the patterns above overlooked."""
        if len(self.functions) != text.count("MOEMESH_API"):
            raise HeaderError(f"{self.path}: {text.count('MOEMESH_API')} declarations, {len(self.functions)} understood")
        typedefs = set(re.findall(r"(moemesh_\w+)\s*;", re.sub(r"\{[^}]*\}", "", text)))
        known = set(self.handles) | set(self.callbacks) | set(self.structs) | {name for name, _ in self.enums}
        if typedefs - known:
            raise HeaderError(f"{self.path}: types not understood: {sorted(typedefs - known)}")

    def constants(self):
        return [constant for _, constants in self.enums for constant in constants]


def load(path):
    try:
        return Header(path)
    except (HeaderError, OSError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
