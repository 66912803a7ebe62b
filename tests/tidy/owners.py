"""owners: parts of the coordinator's struct are touched by the files that own them, and asked by others.

Which part is whose stands behind it in the header: "} lead; /* owner: leadership.c */". The header's own functions
are what anybody may ask. A part without an owner, or an owner that is not there, is an error, too.
"""
import glob
import os
import re

HEADER = "scheduler/coordinator/coordination.h"
STRUCT = "coordinator"
PART = re.compile(r"(\w+)(?:\[\w+\])?;\s*/\* owner: ([\w. ]+?)(?:;| \*/)")


def parts_of(header):
    """part -> its owners, of the struct's own members."""
    body = re.search(r"^struct %s \{\n(.*?)^\};" % STRUCT, header, flags=re.M | re.S).group(1)
    return {name: owners.split() for name, owners in PART.findall(body)}


def unowned(header):
    """Parts that are structs of their own and belong to nobody."""
    body = re.search(r"^struct %s \{\n(.*?)^\};" % STRUCT, header, flags=re.M | re.S).group(1)
    return [name for name, rest in re.findall(r"^    \} (\w+);(.*)$", body, flags=re.M) if "owner:" not in rest]


def touched(code, parts):
    """(part, line number) of each use of a part through c, the coordinator."""
    for m in re.finditer(r"\bc->(%s)\b(?!\()" % "|".join(parts), code):
        yield m.group(1), code.count("\n", 0, m.start()) + 1


def complaints_of(header, sources):
    """sources: file name -> its code, without comments and texts."""
    parts = parts_of(header)
    for part in unowned(header):
        yield HEADER, "nobody owns %s" % part
    for part, owners in parts.items():
        for owner in owners:
            if owner not in sources:
                yield HEADER, "%s is owned by %s, which is not there" % (part, owner)
    for name, code in sorted(sources.items()):
        for part, line in touched(code, parts):
            if name not in parts[part] and name[:-2] + ".c" not in parts[part]:
                yield "%s/%s:%d" % (os.path.dirname(HEADER), name, line), \
                    "c->%s belongs to %s" % (part, " and ".join(parts[part]))


def self_test():
    header = "struct coordinator {\n    int all;\n    struct {\n        int x;\n    } lead; /* owner: a.c b.c */\n" \
             "    int *run; /* owner: b.c; a run */\n    struct {\n        int y;\n    } free;\n};\n"
    sources = {"a.c": "c->lead.x = c->all;", "b.c": "\nc->lead.x = *c->run;", "z.c": "m->c->lead.x++;\nf->run = 0;"}
    found = list(complaints_of(header, sources))
    assert found == [(HEADER, "nobody owns free"),
                     ("scheduler/coordinator/z.c:1", "c->lead belongs to a.c and b.c")], found


def complaints(code_only):
    self_test()
    folder = os.path.dirname(HEADER)
    sources = {}
    for path in glob.glob(folder + "/*.[ch]"):
        if path != HEADER:
            with open(path, encoding="utf-8") as file:
                sources[os.path.basename(path)] = code_only(file.read())
    with open(HEADER, encoding="utf-8") as file:
        return list(complaints_of(file.read(), sources))
