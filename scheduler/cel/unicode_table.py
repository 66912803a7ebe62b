#!/usr/bin/env python3
"""unicode_table: writes unicode.def, the classes of Unicode that Go's patterns know.

    unicode_table.py /usr/share/unicode >scheduler/cel/unicode.def

The folder is that of Debian's package unicode-data; its version must be the one of the Go that
kube-scheduler is built with (package unicode, Version). Scripts whose names Go's parser changes before
it looks them up (with a _ or a capital inside) are not to be found there, and so they are left out.
"""
import os
import re
import sys

END = 0x110000


def fields(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                yield [field.strip() for field in line.split(";")]


def categories(folder):
    of, first = {}, None
    for code, name, category, *_ in fields(folder, "UnicodeData.txt"):
        code = int(code, 16)
        if name.endswith("First>"):
            first = code
            continue
        for c in range(code if first is None else first, code + 1):
            of[c] = category
        first = None
    found = {}
    for c in range(END):
        found.setdefault(of.get(c, "Cn"), []).append(c)
    del found["Cn"]  # what no other has
    return found


def scripts(folder):
    found = {}
    for codes, name in fields(folder, "Scripts.txt"):
        if not re.fullmatch("[A-Z][a-z]*", name):
            continue
        first, _, last = codes.partition("..")
        found.setdefault(name, []).extend(range(int(first, 16), int(last or first, 16) + 1))
    return {name: sorted(found[name]) for name in found}


def folds(folder):
    """Pairs of different code points that are the same when case does not count, by their distance."""
    orbits = {}
    for code, status, to, *_ in fields(folder, "CaseFolding.txt"):
        if status in "CS":
            orbits.setdefault(int(to, 16), {int(to, 16)}).add(int(code, 16))
    by_delta = {}
    for orbit in orbits.values():
        for a in orbit:
            for b in orbit - {a}:
                by_delta.setdefault(b - a, []).append(a)
    return {delta: sorted(by_delta[delta]) for delta in by_delta}


def runs(codes):
    """first, last, stride: as few as a greedy walk gives."""
    i = 0
    while i < len(codes):
        stride = codes[i + 1] - codes[i] if i + 1 < len(codes) else 1
        k = i + 1
        while k < len(codes) and codes[k] - codes[k - 1] == stride:
            k += 1
        if stride > 1 and k - i < 3:  # two that are apart may begin better runs
            k, stride = i + 1, 1
        yield codes[i], codes[k - 1], stride
        i = k


def write(rows):
    line = "   "
    for row in rows:
        if len(line) + len(row) + 1 > 100:
            print(line)
            line = "   "
        line += " " + row
    print(line)


def main():
    folder = sys.argv[1]
    print("/* Unicode's general categories, scripts, and pairs that are the same when case does not count:\n"
          " * made by unicode_table.py, which says of what. R(first, last), S(first, last, stride),\n"
          " * FOLD(first, last, stride, distance to the other). */\n/* clang-format off */")
    for kind, found in (("CATEGORY", categories(folder)), ("SCRIPT", scripts(folder))):
        for name in sorted(found):
            print("%s(%s)" % (kind, name))
            write(("R(0x%X, 0x%X)" if run[2] == 1 else "S(0x%X, 0x%X, %d)") % run[:2 + (run[2] > 1)] for run in runs(found[name]))
            print("END(%s)" % name)
    pairs = [(first, last, stride, delta) for delta, codes in folds(folder).items() for first, last, stride in runs(codes)]
    write("FOLD(0x%X, 0x%X, %d, %d)" % pair for pair in sorted(pairs))
    print("/* clang-format on */")


main()
