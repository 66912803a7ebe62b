"""The result as an SVG: for each case a group of bars, one a candidate; throughput, CPU, memory."""
import math
from xml.sax.saxutils import escape

PANELS = [("pods_per_s", "pods/s (higher is better)", False),
          ("pods_per_core_s", "pods by CPU second of scheduler and API server (higher is better)", False),
          ("cpu_ms_per_pod", "CPU ms per pod, all processes of the scheduler, log scale", True),
          ("peak_pss_mib", "peak PSS in MiB, all processes", False)]
COLOURS = ["#1b6ca8", "#d98324", "#b3452f", "#8a8f98", "#3f8f4f", "#7b5aa6"]
LEFT, TOP, HEIGHT, GAP, BAR, BETWEEN = 70, 70, 150, 60, 18, 26


class Canvas:
    def __init__(self):
        self.parts = []

    def text(self, x, y, words, anchor="start", size=11, turn=None):
        turned = ' transform="rotate(%d %.1f %.1f)"' % (turn, x, y) if turn else ""
        self.parts.append('<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s"%s>%s</text>' % (
            x, y, size, anchor, turned, escape(words)))

    def bar(self, x, y, width, height, colour, title):
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>' % (
            x, y, width, height, colour, escape(title)))

    def line(self, x1, y1, x2, y2):
        self.parts.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#999" stroke-width="0.5"/>' % (
            x1, y1, x2, y2))


def share(value, low, high, logarithmic):
    """Where a value lies between the bottom, 0, and the top, 1."""
    if logarithmic:
        return (math.log10(max(value, low)) - math.log10(low)) / max(math.log10(high) - math.log10(low), 1e-9)
    return value / high if high else 0


def bounds(values, logarithmic):
    high = max(values)
    if not logarithmic:
        return 0, high
    low = 10.0 ** -3
    while low * 10 <= min(values):
        low *= 10
    top = low * 10
    while top < high:
        top *= 10
    return low, top


def panel(canvas, top, document, names, what):
    figure, title, logarithmic = what
    cases = document["summary"]
    values = [found["medians"][name][figure] for found in cases.values() for name in found["medians"]]
    values = [value for value in values if value]
    if not values:
        return
    low, high = bounds(values, logarithmic)
    canvas.text(LEFT, top - 8, title, size=12)
    for step in range(5):
        mark = low * (high / low) ** (step / 4) if logarithmic else high * step / 4
        y = top + HEIGHT * (1 - step / 4)
        canvas.line(LEFT, y, LEFT + len(cases) * group_width(names), y)
        canvas.text(LEFT - 6, y + 4, "%.3g" % mark, "end", 10)
    for at, (case, found) in enumerate(cases.items()):
        x = LEFT + BETWEEN / 2 + at * group_width(names)
        for place, name in enumerate(names):
            value = found["medians"].get(name, {}).get(figure)
            if value:
                height = HEIGHT * share(value, low, high, logarithmic)
                canvas.bar(x + place * BAR, top + HEIGHT - height, BAR - 2, height, COLOURS[place % len(COLOURS)],
                           "%s, %s: %.4g" % (case, name, value))


def group_width(names):
    return max(BAR * len(names) + BETWEEN, 100)


def picture(document):
    cases = document["summary"]
    names = []
    for found in cases.values():
        names += [name for name in found["medians"] if name not in names]
    canvas = Canvas()
    about = document["about"]
    options = about["options"]
    canvas.text(LEFT, 20, "%s API server, %s, %s nodes; commit %s, %s" % (
        options["api"], options["mode"], options["nodes"] or "upstream's", about["commit"], about["date"]), size=13)
    canvas.text(LEFT, 36, "%s, %d cores; medians" % (about["processor"], about["cores"]))
    for place, name in enumerate(names):
        canvas.bar(LEFT + place * 150, 44, 10, 10, COLOURS[place % len(COLOURS)], name)
        canvas.text(LEFT + 14 + place * 150, 53, name)
    for number, what in enumerate(PANELS):
        panel(canvas, TOP + 20 + number * (HEIGHT + GAP), document, names, what)
    bottom = TOP + 20 + len(PANELS) * (HEIGHT + GAP) - GAP
    for at, case in enumerate(cases):
        canvas.text(LEFT + at * group_width(names) + 8, bottom + 16, case.partition(":")[0], turn=20)
    width = max(LEFT + len(cases) * group_width(names) + 120, 150 * len(names) + LEFT + 20, 640)
    height = bottom + 150
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif">\n'
            '<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n' % (width, height, "\n".join(canvas.parts)))
