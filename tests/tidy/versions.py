"""versions: the version is said in several places, for several readers, and once more by a tag; all say the same."""
import re
import subprocess

PLACES = [  # file, how its newest version is written
    ("proto/bus/options.h", r'#define OPTIONS_VERSION "([\d.]+)"'),
    ("debian/changelog", r"\Aberth \(([\d.]+)\)"),
    ("CHANGELOG.md", r"^## ([\d.]+)"),
    ("compose/chart/Chart.yaml", r'^version: ([\d.]+)\nappVersion: "\1"$'),
]


def differences(said, tags):
    """said: file to version, None where it says none; tags: those of this commit."""
    program = said[PLACES[0][0]]
    lines = ["%s: says %s, the programs say %s" % (path, version, program) for path, version in said.items() if version != program or version is None]
    return lines + ["%s: this commit is tagged %s, the programs say %s" % (PLACES[0][0], tag, program) for tag in tags if tag != "v" + str(program)]


def self_test():
    same = {path: "1.2.3" for path, _ in PLACES}
    assert not differences(same, ["v1.2.3"]) and len(differences(same, ["v1.2.4"])) == 1
    assert len(differences(dict(same, **{"CHANGELOG.md": None}), [])) == 1


def check():
    self_test()
    said = {}
    for path, pattern in PLACES:
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.M)
        said[path] = found and found[1]
    tags = subprocess.run(["git", "tag", "--points-at", "HEAD", "--list", "v[0-9]*"], capture_output=True, text=True, check=False).stdout.split()
    return differences(said, tags)
