"""The plots of docs/performance.md, which are readable on light and dark backgrounds."""

import math
import os

import matplotlib
from matplotlib import pyplot, ticker

from benchmark.lines import expiry_sizes, growth_sizes
from benchmark.report import EXPIRY, UNITS, write
from servers import ROOT

# Of each plot: its title, the text below the horizontal axis, the kind of figure, and the name under which it is recorded.
GROWTH = {
    "growth-keys": [
        ("Start, 50 connections", "keys, from none", "rate", "keys-start"),
        ("Get, 50 connections", "keys", "rate", "keys-get"),
        ("median lateness of an end", "other running keys", "time", "keys-late"),
        ("resident", "keys", "size", "keys-memory"),
    ],
    "growth-connections": [
        ("Start", "connections", "rate", "connections-start"),
        ("Get", "connections", "rate", "connections-get"),
    ],
}
COLORS = {"floor": "#808890", "countdownd": "#1f77d0", "redis": "#d0661f", "eager": "#d0a01f"}
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "countdownd", "font.size": 9, "axes.grid": True, "grid.color": "#80808060",
    **dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], "#808890"),
}


def steps(least, greatest, unit):
    """Round values for a logarithmic axis, from one below the figures to one above them, with about five between: 1, 2 and 5 times
    a power of ten of the unit, or only these powers or some of them if there are many."""
    decades = range(math.floor(math.log10(least / unit)) - 1, math.ceil(math.log10(greatest / unit)) + 2)
    for every in (1, 2, 3):
        for factors in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 5), (1,)):
            values = [unit * factor * 10**decade for decade in decades[::every] for factor in factors]
            inside = [value for value in values if least < value < greatest]
            if len(inside) <= 5:
                return [max(v for v in values if v <= least), *inside, min(v for v in values if v >= greatest)]
    raise ValueError(f"no steps from {least} to {greatest}")


def panel(axis, trial, sizes, title, below, kind, name):
    """Draws the figures of all servers, on axes whose values can be read, with a legend below, where no line runs."""
    figures = []
    for server, text in EXPIRY.items():
        values = {size: value for size in sizes if (value := trial.median(name.format(size), server)) is not None}
        if not values:
            continue
        axis.plot(values.keys(), values.values(), marker="o", markersize=4, color=COLORS[server], label=text.replace("`", ""))
        figures += values.values()
    # A size of 0 has no logarithm.
    axis.set_xscale("symlog", linthresh=min(size for size in sizes if size))
    axis.set_yscale("log")
    unit = next((size for size, _ in UNITS[kind] if max(figures) >= size), 1)
    ticks = steps(min(figures), max(figures), unit if kind == "size" else 1)
    axis.set_ylim(ticks[0], ticks[-1])
    axis.yaxis.set_major_locator(ticker.FixedLocator(ticks))
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: write(value, kind)))
    axis.xaxis.set_major_locator(ticker.FixedLocator(sizes))
    axis.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
    for one in (axis.xaxis, axis.yaxis):
        one.set_minor_locator(ticker.NullLocator())
    axis.set_title(title, fontweight="bold")
    axis.set_xlabel(below)
    axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.24), ncol=2)


def plot(name, trial, sizes, panels, height):
    """Writes a plot with two panels beside each other, or one."""
    columns = min(2, len(panels))
    rows = len(panels) // columns
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(rows, columns, figsize=(8, height * rows), layout="constrained", squeeze=False)
        for axis, (title, below, kind, line) in zip(axes.flat, panels):
            panel(axis, trial, sizes, title, below, kind, line)
        figure.savefig(os.path.join(ROOT, f"docs/{name}.svg"), format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(figure)


def draw_growth(trial):
    for (name, panels), sizes in zip(GROWTH.items(), growth_sizes(trial)):
        plot(name, trial, sizes, [(*texts, f"{line}-{{}}") for *texts, line in panels], 2.8)


def draw_expiry(trial):
    plot("expiry", trial, expiry_sizes(trial),
         [("1,000 ends at one instant: median lateness of those that came", "other keys", "time", "expiry-{}-p50")], 3.6)
