"""The report of a trial: tables for the terminal, and the figures and plots of docs/performance.md."""

import collections
import io
import os
import platform
import re
import subprocess
import textwrap
import time

from benchmark import figures
from benchmark.rows import comparison, table
from benchmark.traffic import SHAPES

# A block of docs/performance.md that a trial writes; the text around the blocks is written by hand.
BLOCK = re.compile(r"(<!-- bench: (.+?) -->\n).*?(<!-- /bench -->)", re.DOTALL)

# The title, the text below the horizontal axis, the format of the vertical axis, and each server's points.
Panel = collections.namedtuple("Panel", "title below write series")

COLORS = {"countdownd": "#1f77d0", "redis": "#d0661f"}
NAMES = {"countdownd": "countdownd", "redis": "Redis"}
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "countdownd", "font.size": 9, "axes.grid": True, "grid.color": "#80808060",
    **dict.fromkeys(["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], "#808890"),
}


def machine():
    """The date and the machine of a trial."""
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 2**20
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "machine": f"{os.cpu_count()} processors ({models[0] if models else platform.machine()}), {memory:.0f} GiB, "
                   f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f} before",
    }


def versions(programs):
    """The versions of both servers."""
    def line(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    commit = line("git", "rev-parse", "--short=10", "HEAD")
    if line("git", "status", "--porcelain", "--untracked-files=no", "--", "Sources", "Bench", "scripts", "Package.swift"):
        commit += " and changes that were not committed"
    redis = line("redis-server", "--version").split()
    return {
        "commit": commit,
        "countdownd": line(os.path.join(programs, "countdownd"), "--version").splitlines()[0],
        "redis": next(word[2:] for word in redis if word.startswith("v=")),
    }


def to_terminal(trial):
    parts = [text for _, _, text in comparison(trial)]
    parts += [text for text in (floors(trial), generator(trial)) if text]
    return "\n\n".join(parts + failures(trial))


def failures(trial):
    return [f"`{line}`, {len(said)} time{'s' * (len(said) > 1)}: {said[0]}" for line, said in trial.failures.items()]


def missed(trial):
    """The rows that miss their aim: the document has to say why."""
    return [one.row.what for _, told, _ in comparison(trial) for one in told if one.is_met is False]


def floors(trial):
    rows = []
    for quantile, name in (("p50", "median"), ("p99", "p99"), ("max", "max")):
        floor, own = trial.median(f"timer-{quantile}", "floor"), trial.median(f"endings-{quantile}", "countdownd")
        if floor is not None:
            rows.append([f"lateness of a bare timerfd, 10,000 times per second: {name}", figures.microseconds(floor),
                         "" if own is None else figures.microseconds(own)])
    for call in ("start", "get"):
        for shape in SHAPES:
            floor, own = trial.median(f"echo-{call}-{shape}", "floor"), trial.median(f"{call}-{shape}", "countdownd")
            if floor is not None:
                beside = "" if own is None else f"{figures.rate(own)}, {figures.share(own / floor)}"
                rows.append([f"epoll echo with the reply size of {call.capitalize()}, {shape_name(shape)}",
                             figures.rate(floor), beside])
    for depth in (1, 32, 512):
        floor = trial.median(f"append-{depth}", "floor")
        if floor is not None:
            length = trial.median("append-bytes", "floor")
            rows.append([f"rows of {length:.0f} bytes appended to a file, {depth} per write", figures.rate(floor), ""])
    return table(["floor", "measured", "countdownd"], rows) if rows else ""


def shape_name(shape):
    connections, depth = SHAPES[shape]
    return f"{connections} connection{'s' * (connections > 1)}{f' × {depth}' * (depth > 1)}"


def generator(trial):
    rows = []
    for call in ("start", "get"):
        for shape in SHAPES:
            names = (f"{call}-{shape}-load", "countdownd"), (f"{call}-{shape}-load", "redis"), \
                    (f"echo-{call}-{shape}-load", "floor")
            shares = [trial.median(*name) for name in names]
            if any(share is not None for share in shares):
                asked = trial.median(f"echo-{call}-{shape}", "floor")
                rows.append([f"{call.capitalize()}, {shape_name(shape)}",
                             *["" if share is None else figures.share(share) for share in shares],
                             "" if asked is None else figures.rate(asked)])
    for line, name in (("fanout-load", "fan-out"), ("ticks-load", "100,000 ticks per second"),
                       ("ticks-many-load", "1,000,000 ticks per second")):
        shares = [trial.median(line, server) for server in ("countdownd", "redis")]
        if shares[0] is not None:
            rows.append([name, *["" if share is None else figures.share(share) for share in shares], "", ""])
    head = ["the load generator's share of a core", "with countdownd", "with Redis", "with the echo", "calls to the echo"]
    return table(head, rows) if rows else ""


def plots(trial):
    """The text of each plot, by the name of its file; none where growth was not measured."""
    def panel(title, below, write, name, sizes, scale=lambda value, size: value):
        series = {}
        for server in ("countdownd", "redis"):
            points = [(size, trial.median(f"{name}-{size}", server)) for size in sizes]
            points = [(size, scale(value, size)) for size, value in points if value]
            if len(points) > 1:
                series[server] = points
        return Panel(title, below, write, series) if series else None

    keys, connections = trial.sizes.keys, trial.sizes.connections
    panels = {
        "growth-keys.svg": [
            panel("Start, 50 connections", "keys, from none", figures.rate, "keys-start", keys),
            panel("Get, 50 connections", "keys", figures.rate, "keys-get", keys),
            panel("median lateness of an end", "other running keys", figures.microseconds, "keys-late", keys),
            panel("resident", "keys", figures.megabytes, "keys-memory", keys),
        ],
        "growth-connections.svg": [
            panel("Start", "connections", figures.rate, "connections-start", connections),
            panel("Get", "connections", figures.rate, "connections-get", connections),
        ],
    }
    return {name: draw(wanted) for name, wanted in panels.items() if all(wanted)}


def draw(panels, columns=2):
    """The text of an SVG file with logarithmic axes, for light and dark backgrounds."""
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


def page(text, trial, told_machine, told_versions):
    """The text of docs/performance.md with the figures of a trial in its blocks."""
    blocks = {title: text for title, _, text in comparison(trial)}
    blocks |= {"Floors": floors(trial), "The load generator": generator(trial)}
    blocks["Trial"] = textwrap.fill(
        f"{told_machine['date']}, {told_machine['machine']}; {told_versions['countdownd']} at commit "
        f"{told_versions['commit']}, Redis {told_versions['redis']}. Medians of {trial.rounds} "
        f"round{'s' * (trial.rounds > 1)}, in turn, each on fresh servers.", 120)
    blocks["Failures"] = "\n".join(f"- not measured: {one}" for one in failures(trial))
    return BLOCK.sub(lambda block: f"{block[1]}{blocks.get(block[2], '')}\n{block[3]}", text)
