# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""loosen_versions.py LIBRARY VERSION...: makes a shared library that was built on a newer system load here.

Symbols that it wants in one of the versions (GLIBC_2.38, say) are wanted in any version, and the versions are asked for no
more. The program that loads the library must have such symbols. Prints their names. ELF of 64 bits, little-endian."""
import struct
import sys

DYNSYM, VERNEED, VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF  # section types
ANY = 1  # the index that says: no version


class Library:
    def __init__(self, data):
        self.data = data
        offset, (size, count) = self.read("<Q", 0x28)[0], self.read("<HH", 0x3A)
        self.sections = [self.read("<IIQQQQIIQQ", offset + i * size) for i in range(count)]

    def read(self, form, at):
        return struct.unpack_from(form, self.data, at)

    def section(self, kind):
        return next(s for s in self.sections if s[1] == kind)

    def text(self, strings, at):
        begin = strings[4] + at
        return self.data[begin : self.data.index(0, begin)].decode()

    def needed_versions(self):
        """For each library that this one needs: {name of a version: offset of its entry}."""
        section = self.section(VERNEED)
        strings, at = self.sections[section[6]], section[4]
        while True:
            _, count, _, entry, following = self.read("<HHIII", at)
            found, entry = {}, at + entry
            for _ in range(count):
                name, step = self.read("<II", entry + 8)
                found[self.text(strings, name)] = entry
                entry += step
            yield found
            if not following:
                return
            at += following

    def loosen(self, versions):
        """An entry of a version that is not there becomes a second one of a version that is."""
        indices = set()
        for found in self.needed_versions():
            there = next(entry for name, entry in found.items() if name not in versions)
            for name in versions & found.keys():
                indices.add(self.read("<H", found[name] + 6)[0])
                for field in 0, 8:  # hash, name
                    struct.pack_into("<I", self.data, found[name] + field, *self.read("<I", there + field))
        return self.loosen_symbols(indices)

    def loosen_symbols(self, indices):
        symbols, versions = self.section(DYNSYM), self.section(VERSYM)
        strings = self.sections[symbols[6]]
        for i in range(symbols[5] // symbols[9]):
            at = versions[4] + 2 * i
            if self.read("<H", at)[0] in indices:
                struct.pack_into("<H", self.data, at, ANY)
                yield self.text(strings, self.read("<I", symbols[4] + i * symbols[9])[0])


def main():
    path, versions = sys.argv[1], set(sys.argv[2:])
    with open(path, "rb") as file:
        library = Library(bytearray(file.read()))
    names = list(library.loosen(versions))
    with open(path, "wb") as file:
        file.write(library.data)
    print("\n".join(names))


main()
