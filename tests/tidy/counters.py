"""counters: every key that a process says in its status is in ctl/status/counters.def, and nothing else is.

The keys are read from the format strings with which a process's functions print into `lines`.
"""
import fnmatch
import glob
import re

TABLE = "ctl/status/counters.def"
# Which process says what is printed in a folder, the longest first.
FOLDERS = [("scheduler/worker/", "worker"), ("scheduler/extender/", "extender"), ("scheduler/", "scheduler"),
           ("watcher/", "watcher"), ("queue/", "queue"), ("binder/", "binder"), ("ctl/serve/", "tool"),
           ("proto/kube/config/", "any"), ("proto/plugins/", "any")]
PRINTS = re.compile(r'buffer_(?:print|add_text)\(\s*lines,\s*((?:"(?:[^"\\]|\\.)*"\s*|PRI\w+\s*)+)')
ROW = re.compile(r'^COUNTER\("(\w+)", "([^"]+)", (\w+), "', re.M)


def rows():
    """{(process, key): type}"""
    with open(TABLE) as file:
        return {(process, key): kind for process, key, kind in ROW.findall(file.read())}


def keys_of(text):
    """Keys and fields of a format string: a directive in a name is a star."""
    text = re.sub(r"PRI\w+", "", text)
    text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("%%", "")
    text = re.sub(r"%[-0-9.*]*(?:l|ll|z)?[a-zA-Z]?", "%", text)
    for line in text.split("\\n"):
        name, equals, value = line.partition("=")
        if line.startswith(" ") and equals:  # goes on behind a value: a field of it, whose key was said before
            yield None, name.strip()
        elif equals and name and name != "%%":
            key = re.sub(r"%(?:/%)?", "*", name)
            yield key, None
            for field in re.findall(r"(?:^|\s)([a-z_0-9]+)=", value):
                yield key, field


def said():
    """{(process, key or key.field)}"""
    found = set()
    for folder, process in FOLDERS:
        for path in glob.glob(folder + "**/*.c", recursive=True):
            if next(p for f, p in FOLDERS if path.startswith(f)) != process:
                continue
            last = None
            with open(path) as file:
                for text in PRINTS.findall(file.read()):
                    for key, field in keys_of(text):
                        last = key or last
                        found.add((process, last if field is None else "%s.%s" % (last, field)))
    return found


def check():
    table, keys, wrong = rows(), said(), []
    for process, key in sorted(keys):
        if (process, key) not in table and ("any", key) not in table:
            wrong.append("%s: %s says %s, which is not in the table" % (TABLE, process, key))
    for process, key in sorted(table):
        who = [k for p, k in keys if process in (p, "any")]
        if process != "bus" and not key.endswith(".error") and not any(k == key or fnmatch.fnmatchcase(k, key) for k in who):
            wrong.append("%s: nobody says %s of %s" % (TABLE, key, process))
    return wrong
