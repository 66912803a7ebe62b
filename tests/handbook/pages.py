"""pages: what there is in a page of Markdown: fenced blocks, links, headings; and commands of berth in them."""
import os
import re

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.S | re.M)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.M)
NEW_FILE = re.compile(r"New\s+file\s+`([^`]+)`:\n+$")
# berth as the command of a line or of a part of one, and what follows up to the end of that part
COMMAND = re.compile(r"(?:^|[|;&(] *|\$\(|(?:sudo|nice|exec|kubectl|chrt -r 5) +|`)(?:[\w./~$-]*/)?berth +([a-z]+)\b([^|;&`)#\n]*)", re.M)
OPTION = re.compile(r"(?<!\S)(--?[a-z][\w-]*)")


class Block:
    """A fenced block: its words behind the fence, its text, its line, and the file that it is to become."""

    def __init__(self, page, words, text, line, file):
        self.page, self.words, self.text, self.line, self.file = page, words.split(), text, line, file


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def blocks(path):
    text = read(path)
    found = []
    for m in FENCE.finditer(text):
        named = NEW_FILE.search(text, 0, m.start())
        file = named.group(1) if named and named.end() == m.start() else None
        found.append(Block(path, m.group(1), m.group(2), text.count("\n", 0, m.start()) + 1, file))
    return found


def lines(block):
    """The commands of a block, one each, without what the shell takes for a comment."""
    joined = re.sub(r"\s*\\\n\s*", " ", block.text)
    return [line for line in (re.sub(r"(^|\s+)#\s.*$", "", line).strip() for line in joined.splitlines()) if line]


# A line that begins like this is a command and no picture.
SHELL = re.compile(r"^(?:\$ |sudo |source |make\b|(?:[\w./~-]*/)?berth(?:-[a-z]+)? |build/bin/|kubectl |docker|helm |curl |tests/|dpkg|apt|[A-Z_]+=\S+ )", re.M)


def marked(paths, word):
    """(page, block) of all blocks of commands with that word behind the language."""
    return [(path, block) for path in paths for block in blocks(path) if block.words == ["sh", word]]


def prose(text):
    """The text without its fenced blocks, lines kept."""
    return FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text)


def slug(heading):
    """The anchor that GitHub, and pandoc, give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(path):
    found, seen = set(), {}
    for heading in HEADING.findall(prose(read(path))):
        name = slug(heading)
        found.add(name if name not in seen else "%s-%d" % (name, seen[name]))
        seen[name] = seen.get(name, 0) + 1
    return found


def links(path):
    """(line, target) of each link, without those inside of code."""
    text = re.sub(r"`[^`\n]*`", lambda m: "x" * len(m.group(0)), prose(read(path)))
    return [(text.count("\n", 0, m.start()) + 1, m.group(1)) for m in LINK.finditer(text)]


def in_order(folder):
    """The index, and the pages in the order in which it names them."""
    index = os.path.join(folder, "README.md")
    order = [index]
    for _, target in links(index):
        page = os.path.join(folder, target.partition("#")[0])
        if re.fullmatch(r"[\w-]+\.md", os.path.basename(page)) and "/" not in target and os.path.exists(page) and page not in order:
            order.append(page)
    return order


def commands(text):
    """(name, options) of each call of berth in a text."""
    joined = text.replace("\\\n", " ")
    return [(m.group(1), OPTION.findall(m.group(2))) for m in COMMAND.finditer(joined)]
