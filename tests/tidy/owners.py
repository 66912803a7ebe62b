"""owners: each part of the coordinator's struct is touched by the files that own it, and asked by others.

The table is the struct itself: behind a part stands whose it is, "} lead; /* owner: leadership.c */". Handing
a part to its owner's functions, as in flights_get(&c->flights, uid), is no touch. What all files read has a line
above it instead, for the members up to the next blank line: "/* set by: coordinator.c; read by all */".

A small function of the header itself is its owner's, by its name: leadership_leads is leadership.c's. What nobody
owns, an owner that is not there, or one of several that never touches the part, are errors, too.
"""
import glob
import os
import re

HEADER = "scheduler/coordinator/coordination.h"
STRUCT = "coordinator"
MARK = r"/\* %s: ([\w. ]+?)(?:;| \*/)"
SETS = r"(?:\.\w+|\[[^\]]*\])*\s*(?:=(?!=)|[-+|&^]=|\+\+|--)"


def parts_of(header):
    """part -> (its owners, whether others may read it); None instead of owners: nobody's."""
    body = re.search(r"^struct %s \{\n(.*?)^\};" % STRUCT, header, flags=re.M | re.S).group(1)
    parts, setters = {}, None
    for line in body.split("\n"):
        section = re.match("    " + MARK % "set by", line)
        setters = section.group(1).split() if section else setters if line else None
        member = re.match(r"    (?:\} |(?=\w))([^;{]+);(.*)", line)
        for name in re.findall(r"(\w+)(?:\[\w+\])?(?=,|$)", member.group(1)) if member else ():
            owner = re.search(MARK % "owner", member.group(2))
            parts[name] = (owner.group(1).split() if owner else setters, not owner)
    return parts


def touches(code, parts):
    """(part, line number) of each touch through c, the coordinator."""
    for m in re.finditer(r"(&|\+\+|--)?\bc\)?->(%s)\b(?!\()(\.|->|\[)?" % "|".join(parts), code):
        sets = m.group(1) in ("++", "--") or re.match(SETS, code[m.end(2):])
        if sets if parts[m.group(2)][1] else m.group(3) or m.group(1) != "&":
            yield m.group(2), code.count("\n", 0, m.start()) + 1


def pieces_of(header, sources):
    """(path, whose it is, code) of each file, and of each function of the header."""
    for name, code in sorted(sources.items()):
        yield "%s/%s" % (os.path.dirname(HEADER), name), lambda owner, name=name: owner[:-2] == name[:-2], code
    for m in re.finditer(r"^static inline [^;{]*?(\w+)\(.*?^}", header, flags=re.M | re.S):
        yield HEADER, lambda owner, name=m.group(1): name.startswith(owner[:-2] + "_"), \
            "\n" * header.count("\n", 0, m.start()) + m.group(0)


def complaints_of(header, sources, code_only=str):
    """sources: file name -> its code, without comments and texts."""
    parts, used = parts_of(header), set()
    for part in [part for part, (owners, _) in parts.items() if owners is None]:
        yield HEADER, "nobody owns %s" % part
        del parts[part]
    for path, is_of, code in pieces_of(code_only(header), sources):
        for part, line in touches(code, parts):
            mine = {(part, owner) for owner in parts[part][0] if is_of(owner)}
            used |= mine
            if not mine:
                yield "%s:%d" % (path, line), "c->%s belongs to %s" % (part, " and ".join(parts[part][0]))
        for alias in re.findall(r"\bstruct %s \*(?!c\b)(\w+)\b(?!\()" % STRUCT, code) if path.endswith(".c") else ():
            yield path, "calls the coordinator %s, and not c" % alias
    for part, owner in [(part, owner) for part, (owners, _) in parts.items() for owner in owners]:
        if owner not in sources:
            yield HEADER, "%s is owned by %s, which is not there" % (part, owner)
        elif len(parts[part][0]) > 1 and (part, owner) not in used:
            yield HEADER, "%s is owned by %s, which never touches it" % (part, owner)


def self_test():
    header = "struct coordinator {\n    /* set by: a.c; read by all */\n    int all, *most;\n\n    struct {\n        int x;\n" \
             "    } lead; /* owner: a.c b.c */\n    int *run; /* owner: b.c; a run */\n    struct book book; /* owner: b.c */\n" \
             "    struct {\n        int y;\n    } free;\n    int lone;\n};\n\n" \
             "static inline int a_x(struct coordinator *c)\n{\n    return c->lead.x;\n}\n\n" \
             "static inline int z_x(struct coordinator *c)\n{\n    return c->lead.x;\n}\n"
    sources = {"a.c": "c->lead.x = c->all;\nc->all = *c->most;", "b.c": "\n*c->run = g(&c->book) + c->book.n;",
               "y.c": "g(&c->book);\nh(c->all == 1, c->most);\nc->all++;\ng(&c->book.n);\nstruct coordinator *d;",
               "z.c": "m->c->lead.x++;\nf->run = 0;\n(c)->run = 0;"}
    found = ["%s: %s" % (place.rsplit("/", 1)[1], text) for place, text in complaints_of(header, sources)]
    wanted = ["coordination.h: nobody owns free", "coordination.h: nobody owns lone", "y.c:3: c->all belongs to a.c",
              "y.c:4: c->book belongs to b.c", "y.c: calls the coordinator d, and not c",
              "z.c:1: c->lead belongs to a.c and b.c", "z.c:3: c->run belongs to b.c",
              "coordination.h:23: c->lead belongs to a.c and b.c",
              "coordination.h: lead is owned by b.c, which never touches it"]
    assert found == wanted, found


def complaints(code_only):
    self_test()
    folder = os.path.dirname(HEADER)
    sources = {}
    for path in glob.glob(folder + "/*.[ch]"):
        if path != HEADER:
            with open(path, encoding="utf-8") as file:
                sources[os.path.basename(path)] = code_only(file.read())
    with open(HEADER, encoding="utf-8") as file:
        return list(complaints_of(file.read(), sources, code_only))
