"""Plots with logarithmic axes by matplotlib, for light and dark backgrounds."""

import collections
import io

# The title, the text below the horizontal axis, the format of the vertical axis, and each server's points.
Panel = collections.namedtuple("Panel", "title below write series")

COLORS = {"countdownd": "#1f77d0", "redis": "#d0661f"}
NAMES = {"countdownd": "countdownd", "redis": "Redis"}
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "countdownd", "font.size": 9, "axes.grid": True, "grid.color": "#80808060",
    **dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], "#808890"),
}


def draw(panels, columns=2):
    """The text of an SVG file."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot, ticker
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(rows, columns, figsize=(4 * columns, 2.6 * rows), layout="constrained", squeeze=False)
        for axis, panel in zip(axes.flat, panels):
            for server, points in panel.series.items():
                axis.loglog(*zip(*points), marker="o", markersize=4, color=COLORS[server], label=NAMES[server])
            axis.set_title(panel.title, fontweight="bold")
            axis.set_xlabel(panel.below)
            axis.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:,.0f}"))
            axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _, write=panel.write: write(value)))
            axis.legend(frameon=False)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(figure)
    return file.getvalue()
