"""A copy of the tree, with what is built of it, in which something is added and built."""
import os
import re
import shutil
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND_SECONDS = 900


class Copy:
    """The tree as it is, with what is built of it, so that only what is touched is built; of what is built
    without some folders."""

    def __init__(self, top, without=()):
        self.top, self.tmp, self.added = os.path.join(top, "tree"), os.path.join(top, "tmp"), {}
        os.makedirs(self.tmp)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.splitlines()
        for name in listed:
            there, here = os.path.join(TOP, name), os.path.join(self.top, name)
            if os.path.isfile(there):
                os.makedirs(os.path.dirname(here), exist_ok=True)
                shutil.copy2(there, here)
        built = os.path.join(TOP, "build", "release")
        if os.path.isdir(built):
            shutil.copytree(built, os.path.join(self.top, "build", "release"), symlinks=True,
                            ignore=shutil.ignore_patterns(*without))

    def path(self, name):
        return name.replace("/tmp", self.tmp) if name.startswith("/tmp/") else os.path.join(self.top, name)

    def note(self, name, text):
        if not name.startswith("/tmp/"):
            self.added[name] = self.added.get(name, 0) + len(text.splitlines())

    def create(self, name, text):
        if os.path.exists(self.path(name)):
            return "%s is there already" % name
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        self.note(name, text)
        return None

    def insert(self, name, line, text):
        with open(self.path(name), encoding="utf-8") as f:
            whole = f.read()
        if whole.count(line + "\n") != 1:
            return "%s has the line %d times: %s" % (name, whole.count(line + "\n"), line)
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(whole.replace(line + "\n", line + "\n" + text))
        self.note(name, text)
        return None

    def run(self, command):
        done = subprocess.run(["bash", "-c", command.replace("/tmp/", self.tmp + "/")], cwd=self.top, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=COMMAND_SECONDS)
        # make says what it compiles; what the page promises is what the last command prints
        return done.returncode, "".join(line + "\n" for line in done.stdout.splitlines()
                                        if not re.match(r"  [A-Z]+ +\S+$", line))
