"""Pictures for the report, as SVG text. Pure."""

from math import ceil, floor, log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 50, 60      # margins; the legend is in the right one
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
STEP = 20                                       # between two lines of the legend
STYLE = "text{font:12px sans-serif;fill:#222}.grid{stroke:#ddd}.axis{stroke:#222}"


class Scale:
    """The position of a value between two ends of the picture, on a logarithmic scale."""

    def __init__(self, low, high, start, end):
        self.low, self.span = log10(low), (log10(high) - log10(low)) or 1
        self.start, self.end = start, end

    def at(self, value):
        return self.start + (log10(value) - self.low) / self.span * (self.end - self.start)


def decades(values):
    """The powers of ten around the values: at least two."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return [10.0 ** n for n in range(low, max(high, low + 1) + 1)]


def text(x, y, words, anchor="middle", more=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>' % (x, y, anchor, more, escape(words))


def line(x1, y1, x2, y2, kind):
    return '<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>' % (kind, x1, y1, x2, y2)


def axes(xs, ys, x, y, labels):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = []
    for value in ys:
        out += [line(LEFT, y.at(value), right, y.at(value), "grid"),
                text(LEFT - 8, y.at(value) + 4, "{:,g} %".format(value), "end")]
    for value in xs:
        out += [line(x.at(value), TOP, x.at(value), bottom, "grid"),
                text(x.at(value), bottom + 20, "{:,}".format(value))]
    out += [line(LEFT, bottom, right, bottom, "axis"), line(LEFT, TOP, LEFT, bottom, "axis")]
    middle = (TOP + bottom) / 2
    out += [text((LEFT + right) / 2, HEIGHT - 15, labels[0]),
            text(18, middle, labels[1], more=' transform="rotate(-90 18 %.1f)"' % middle)]
    return out


def curve(points, colour):
    path = " ".join("%.1f,%.1f" % p for p in points)
    out = ['<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (colour, path)]
    return out + ['<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>' % (*p, colour) for p in points]


def lines_svg(title, labels, curves):
    """A picture of {name: {x: y}}, both positive, both axes logarithmic; None without data."""
    curves = {name: dict(sorted(c.items())) for name, c in curves.items() if c}
    if not curves:
        return None
    xs = sorted({v for c in curves.values() for v in c})
    ys = decades([v for c in curves.values() for v in c.values()])
    x = Scale(xs[0], xs[-1], LEFT + 15, WIDTH - RIGHT - 15)
    y = Scale(ys[0], ys[-1], HEIGHT - BOTTOM, TOP)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">'
           % (WIDTH, HEIGHT, WIDTH, HEIGHT), "<title>%s</title>" % escape(title), "<style>%s</style>" % STYLE,
           '<rect width="100%" height="100%" fill="#fff"/>', text(WIDTH / 2, 25, title)]
    out += axes(xs, ys, x, y, labels)
    # The legend is in the order of the ends of the curves, the most expensive first.
    ranked = sorted(curves, key=lambda name: list(curves[name].values())[-1], reverse=True)
    out.append(text(WIDTH - RIGHT + 15, TOP - 10, "at {:,}".format(xs[-1]), "start"))
    for i, name in enumerate(ranked):
        colour = COLOURS[list(curves).index(name) % len(COLOURS)]
        out += curve([(x.at(a), y.at(b)) for a, b in curves[name].items()], colour)
        at = TOP + 10 + i * STEP
        last = "%.1f %%" % curves[name][xs[-1]] if xs[-1] in curves[name] else "-"
        out += ['<rect x="%d" y="%d" width="14" height="4" fill="%s"/>' % (WIDTH - RIGHT + 15, at - 6, colour),
                text(WIDTH - RIGHT + 36, at, "%s, %s" % (name, last), "start")]
    return "\n".join(out + ["</svg>"]) + "\n"


def idle_svg(rows):
    """CPU at one message per millisecond by the number of open connections, from the medians of the section "idle".
    """
    curves = {name: {int(key[1:].split(".")[0]): value for key, value in row.items()
                     if key.endswith(".percent") and value > 0} for name, row in rows.items()}
    return lines_svg("CPU of the proxy at one message per millisecond", ("open connections", "CPU, % of one"), curves)
