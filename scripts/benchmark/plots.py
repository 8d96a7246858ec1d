"""Plots as SVG: panels with logarithmic axes, which can be read on a light and on a dark ground."""

import collections
import math
import re

# A panel: its title, what stands below the horizontal axis, how a value on the vertical one is written, and of each
# server the points.
Panel = collections.namedtuple("Panel", "title below write series")

WIDTH, HEIGHT = 400, 260
LEFT, RIGHT, TOP, BOTTOM = 76, 36, 38, 42
COLORS = {"countdownd": "own", "redis": "other"}
NAMES = {"countdownd": "countdownd", "redis": "Redis"}

STYLE = """
  text { font: 12px sans-serif; fill: #24292f }
  .title { font-weight: bold } .quiet { fill: #57606a } .grid { stroke: #d0d7de; stroke-width: 1 }
  .own { stroke: #0969da; fill: #0969da } .other { stroke: #bc4c00; fill: #bc4c00 }
  path { fill: none !important; stroke-width: 2 } text.own, text.other { stroke: none; font-weight: bold }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
    .own { stroke: #4493f8; fill: #4493f8 } .other { stroke: #f0883e; fill: #f0883e }
  }
"""


class Axis:
    """A logarithmic axis over whole decades."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        if self.low == self.high:
            self.high += 1
        self.begin, self.end = begin, end

    def place(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def decades(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def short(figure):
    """A power of ten without the digits that say nothing."""
    return re.sub(r"\.0+(?= )", "", figure)


def draw(panels, columns=2):
    """The text of an SVG file."""
    rows = math.ceil(len(panels) / columns)
    width, height = WIDTH * columns, HEIGHT * rows
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             f"<style>{STYLE}</style>"]
    for number, panel in enumerate(panels):
        parts.append(f'<g transform="translate({number % columns * WIDTH} {number // columns * HEIGHT})">')
        parts += draw_panel(panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def draw_panel(panel):
    points = [point for series in panel.series.values() for point in series]
    across = Axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    yield f'<text x="{LEFT}" y="14" class="title">{panel.title}</text>'
    for value in across.decades():
        x = across.place(value)
        yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>'
        yield f'<text class="quiet" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{value:,.0f}</text>'
    for value in up.decades():
        y = up.place(value)
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
        yield f'<text class="quiet" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(panel.write(value))}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="quiet" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{panel.below}</text>'
    for number, (server, series) in enumerate(panel.series.items()):
        color = COLORS[server]
        places = [f"{across.place(x):.1f} {up.place(y):.1f}" for x, y in series]
        yield f'<path class="{color}" d="M{" L".join(places)}"/>'
        for place in places:
            x, y = place.split()
            yield f'<circle class="{color}" cx="{x}" cy="{y}" r="3"/>'
        yield f'<text class="{color}" x="{LEFT + number * 90}" y="{TOP - 8}">{NAMES[server]}</text>'
