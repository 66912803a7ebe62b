"""circles: who needs whom, as the linker sees it: the symbols of all objects.

Files that need each other, directly or round some corners, can be understood, tested and replaced only
together. A circle of more than three files is an error. Against what headers say this has no gaps: a function that
is declared by hand, or reached through a table, is seen all the same.
"""
import os
import subprocess
import sys

LARGEST = 3
# Tables that name every plugin, rule or message, so that adding one touches one line: they need what
# they list, and what is listed may look into the table.
REGISTRIES = {"scheduler/rules/framework.c", "proto/messages.c"}


def symbols(objects):
    """(object, kind, name) of each symbol that is defined for others, or wanted from others."""
    out = subprocess.run(["nm", "-A", "-P", *objects], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        place, rest = line.split(": ", 1)
        fields = rest.split()
        yield place, fields[1], fields[0]


def graph_of(objects, file_of):
    """file -> {file whose symbols it wants: one of them}."""
    defined, wanted = {}, {}
    for place, kind, name in symbols(objects):
        if kind == "U":
            wanted.setdefault(file_of(place), set()).add(name)
        elif kind in "TDBRVWC":
            defined.setdefault(name, []).append(file_of(place))
    graph = {}
    for file, names in wanted.items():
        others = graph.setdefault(file, {})
        for name in sorted(names):
            # Programs that are not linked together may have the same names.
            at = sorted(defined.get(name, []), key=lambda f: -len(os.path.commonprefix([f, file])))
            if at and at[0] != file:
                others[at[0]] = name
    return graph


def components(graph):
    """Tarjan's strongly connected components, without recursion; only those of more than one."""
    index, low, on, stack, found, count = {}, {}, set(), [], [], 0
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph.get(root, ()))))]
        index[root] = low[root] = count
        count += 1
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = count
                    count += 1
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = set()
                    while node not in members:
                        members.add(stack.pop())
                    on -= members
                    if len(members) > 1:
                        found.append(members)
    return found


def without(graph, files):
    return {f: set(to) - files for f, to in graph.items() if f not in files}


def home_of(members):
    """The folder that most of them are in."""
    folders = [os.path.dirname(f) for f in members]
    return max(sorted(set(folders)), key=folders.count)


def complaints_about(found):
    return ["%s: a circle of %d files, %d are the most: %s"
            % (home_of(members), len(members), LARGEST, " ".join(sorted(members)))
            for members in found if len(members) > LARGEST]


def objects_in(folder, tops):
    found = []
    for top in tops:
        for at, _, names in os.walk(os.path.join(folder, top)):
            found += [os.path.join(at, n) for n in names if n.endswith(".o")]
    return sorted(found)


def graph_in(folder, tops):
    """Of the objects of these top folders whose sources are there."""
    objects = [o for o in objects_in(folder, tops)
               if os.path.exists(os.path.relpath(o, folder)[:-2] + ".c")]
    return graph_of(objects, lambda o: os.path.relpath(o, folder)[:-2] + ".c") if objects else {}


def complaints(graph):
    return complaints_about(components(without(graph, REGISTRIES)))


def self_test():
    """Planted circles are found."""
    ring = {"a/%d.c" % i: {"a/%d.c" % ((i + 1) % 4)} for i in range(4)}
    line = {"b/%d.c" % i: {"b/%d.c" % (i + 1)} for i in range(9)}
    three = {"c/%d.c" % i: {"c/%d.c" % ((i + 1) % 3)} for i in range(3)}
    cases = [
        (complaints_about(components({**ring, **line})), ["a: a circle of 4 files"]),
        (complaints_about(components({**three, **line})), []),
        (complaints_about(components(without(ring, {"a/2.c"}))), []),
    ]
    for got, wanted in cases:
        if len(got) != len(wanted) or any(not g.startswith(w) for g, w in zip(got, wanted)):
            sys.exit("circles --self-test: got %s, wanted %s" % (got, wanted))
