"""packages: the table of packages in proto/README.md against what is linked.

A row says which programs link a package's library, and which of our files call it. The first is what
the programs' dynamic sections say; the second is what the objects want from others and the library
has. A template that is inlined leaves no symbol: whom it is in is told by who includes it (INLINE).
"""
import os
import re
import subprocess

TABLE = "proto/README.md"
COLUMNS = 6  # package, library, programs, files, for what, what is ours instead
# Of the system, and in every program.
SYSTEM = {"libc.so.6", "libm.so.6"}
# package -> the header whose inclusion puts its code into an object
INLINE = {"msgpack-c": "msgpack/pack_template.h"}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# ---- what the table says ----

def rows_of(text):
    """[{package, library, programs (None: all), files}]"""
    rows = []
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        library = re.match(r"`(lib[\w.-]+\.so\.\d+)`$", cells[1]) if len(cells) == COLUMNS else None
        if library:
            named = [set(re.findall(r"`([^`]+)`", c)) for c in cells[2:4]]
            rows.append({"package": cells[0], "library": library.group(1),
                         "programs": None if cells[2] == "all" else named[0], "files": named[1]})
    return rows


# ---- what is so ----

def needed(program):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program)))


def paths_of(programs):
    """soname -> path"""
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", *programs), flags=re.M)) if programs else {}


def exported(path):
    lines = run("nm", "-D", "--defined-only", "-P", path).splitlines()
    return {line.split()[0].split("@")[0] for line in lines}


def source_of(path, objects):
    return os.path.relpath(path, objects)[:-2] + ".c"


def objects_in(folder, tops):
    """Those whose sources are there still."""
    found = []
    for top in tops:
        for at, _, names in os.walk(os.path.join(folder, top)):
            found += [os.path.join(at, n) for n in names if n.endswith(".o")]
    return sorted(f for f in found if os.path.exists(source_of(f, folder)))


def wanted(objects, folder):
    """source -> {symbol}"""
    wants = {}
    for line in run("nm", "-A", "-P", "-u", *objects).splitlines() if objects else ():
        place, rest = line.split(": ", 1)
        wants.setdefault(source_of(place, folder), set()).add(rest.split()[0])
    return wants


def including(objects, folder, header):
    """Sources that include this header of a package, themselves or by a header of ours."""
    found = set()
    for path in objects:
        with open(path[:-2] + ".d", encoding="utf-8") as f:
            ours = {w for w in re.split(r"[\s\\:]+", f.read()) if w.endswith((".c", ".h")) and os.path.exists(w)}
        for file in ours:
            with open(file, encoding="utf-8") as f:
                if "#include <%s>" % header in f.read():
                    found.add(source_of(path, folder))
    return found


def facts_of(folder, tops):
    """programs: name -> {library}; files: library -> {source}; inline: package -> {source}"""
    bins = sorted(os.path.join(folder, "bin", n) for n in os.listdir(os.path.join(folder, "bin"))
                  if n == "berth" or n.startswith("berth-"))
    tests = [os.path.join(at, n) for at, _, names in os.walk(os.path.join(folder, "tests"))
             for n in names if n.startswith("test_") and "." not in n][:1]
    objects = objects_in(folder, tops)
    units = objects_in(folder, ["tests/unit"])
    wants, of_tests = wanted(objects, folder), wanted(units, folder)
    files = {}
    for library, path in paths_of(bins + tests).items():
        has = exported(path)
        files[library] = {f for f, names in wants.items() if names & has}
        if library.startswith("libcmocka"):
            files[library] |= {f for f, names in of_tests.items() if names & has}
    return {"programs": {os.path.basename(b)[6:] or "berth": needed(b) for b in bins}, "files": files,
            "inline": {p: including(objects, folder, h) for p, h in INLINE.items()}, "tests": bool(tests)}


# ---- whether they agree ----

def differs_in_files(row, there):
    folders = {f for f in row["files"] if f.endswith("/")}
    said = row["files"] - folders
    for folder in sorted(folders):
        inside = {f for f in there if f.startswith(folder)}
        if not inside:
            yield "no file in %s calls %s" % (folder, row["package"])
        there = there - inside
    for file in sorted(said - there):
        yield "%s does not call %s" % (file, row["package"])
    for file in sorted(there - said):
        yield "%s calls %s, and its row does not say so" % (file, row["package"])


def complaints(rows, facts):
    said = []
    for row in rows:
        linked = {p for p, libraries in facts["programs"].items() if row["library"] in libraries}
        named = set(facts["programs"]) if row["programs"] is None else row["programs"]
        said += ["%s links %s, and its row does not say so" % (p, row["package"]) for p in sorted(linked - named)]
        said += ["%s does not link %s" % (p, row["package"]) for p in sorted(named - linked)]
        if row["library"].startswith("libcmocka") and not facts["tests"]:
            continue  # no test is built here
        there = facts["files"].get(row["library"], set()) | facts["inline"].get(row["package"], set())
        said += differs_in_files(row, there)
    known = {row["library"] for row in rows} | SYSTEM
    for program, libraries in sorted(facts["programs"].items()):
        said += ["%s links %s, which has no row" % (program, l) for l in sorted(libraries - known)]
    return said


def self_test(rows, facts):
    """Each row that is changed is noticed."""
    assert len(rows) > 5 and not complaints(rows, facts)
    for i, row in enumerate(rows):
        if row["package"] == "cmocka" and not facts["tests"]:
            continue
        files, programs = row["files"], row["programs"]
        wrong = [{"files": files | {"proto/base/str.c"}}, {"files": files - {min(files)}},
                 {"programs": {"berth"} if programs != {"berth"} else {"queue"}},
                 {"library": "libnone.so.1"}]
        for change in wrong:
            assert complaints(rows[:i] + [dict(row, **change)] + rows[i + 1:], facts), (row["package"], change)
    without = [r for r in rows if r["package"] != "cJSON"]
    assert any("has no row" in line for line in complaints(without, facts))


def check(folder, tops):
    with open(TABLE, encoding="utf-8") as f:
        rows = rows_of(f.read())
    facts = facts_of(folder, tops)
    said = complaints(rows, facts)
    if not said:
        self_test(rows, facts)
    return said
