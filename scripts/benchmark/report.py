"""What a trial has come to: tables for the terminal, and docs/performance.md with its plots."""

import os
import platform
import subprocess
import textwrap
import time

from benchmark import figures
from benchmark.growth import GROWTH_PATIENCE
from benchmark.notes import NOTES
from benchmark.plots import Panel, draw
from benchmark.rows import comparison, table
from benchmark.traffic import SHAPES

PLOTS = {
    "growth-keys.svg": "Start, Get, endings and memory with more and more keys",
    "growth-connections.svg": "Start and Get with more and more connections",
}


def machine():
    """What it was measured on, in a few words each."""
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
    """Of what was measured."""
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


def missing_notes(trial):
    """The rows that miss their aim and have no note."""
    return [one.row.name for _, told, _ in comparison(trial) for one in told
            if one.is_met is False and one.row.name not in NOTES]


def notes(told):
    """What limits the rows that miss their aim: said once of all of which it is the same."""
    rows = {}
    for one in told:
        if one.is_met is False and one.row.name in NOTES:
            rows.setdefault(NOTES[one.row.name], []).append(f"*{one.row.what}*")
    return "\n".join(
        textwrap.fill(f"- {'; '.join(missed)}: {note}", 120, subsequent_indent="  ", break_on_hyphens=False)
        for note, missed in rows.items())


def floors(trial):
    rows = []
    for quantile, name in (("p50", "median"), ("p99", "p99"), ("max", "max")):
        floor, own = trial.median(f"timer-{quantile}", "floor"), trial.median(f"endings-{quantile}", "countdownd")
        if floor is not None:
            rows.append([f"a bare timerfd, 10,000 times a second: late, {name}", figures.microseconds(floor),
                         "" if own is None else figures.microseconds(own)])
    for call in ("start", "get"):
        for shape in SHAPES:
            floor, own = trial.median(f"echo-{call}-{shape}", "floor"), trial.median(f"{call}-{shape}", "countdownd")
            if floor is not None:
                beside = "" if own is None else f"{figures.rate(own)}, {figures.share(own / floor)}"
                rows.append([f"epoll echo with the bytes of {call.capitalize()}, {shape_name(shape)}",
                             figures.rate(floor), beside])
    for depth in (1, 32, 512):
        floor = trial.median(f"append-{depth}", "floor")
        if floor is not None:
            length = trial.median("append-bytes", "floor")
            rows.append([f"rows of {length:.0f} bytes appended to a file, {depth} in a write", figures.rate(floor), ""])
    return table(["floor", "measured", "countdownd, beside it"], rows) if rows else ""


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
    for line, name in (("fanout-load", "fan-out"), ("ticks-load", "100,000 ticks a second"),
                       ("ticks-many-load", "1,000,000 ticks a second")):
        shares = [trial.median(line, server) for server in ("countdownd", "redis")]
        if shares[0] is not None:
            rows.append([name, *["" if share is None else figures.share(share) for share in shares], "", ""])
    head = ["the load generator's share of a core", "at countdownd", "at Redis", "at the echo", "it asks the echo"]
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
            panel("Start, 50 connections", "keys, begun with none", figures.rate, "keys-start", keys),
            panel("Get, 50 connections", "keys", figures.rate, "keys-get", keys),
            panel("an ending: late at the median", "keys that run on", figures.microseconds, "keys-late", keys),
            panel("resident", "keys", figures.megabytes, "keys-memory", keys),
        ],
        "growth-connections.svg": [
            panel("Start", "connections", figures.rate, "connections-start", connections),
            panel("Get", "connections", figures.rate, "connections-get", connections),
        ],
    }
    return {name: draw(wanted) for name, wanted in panels.items() if all(wanted)}


def page(trial, told_machine, told_versions):
    """The text of docs/performance.md."""
    parts = [
        "# Performance",
        textwrap.fill(
            f"Written by `make bench`: run it and get your own. {told_machine['date']}, {told_machine['machine']}; "
            f"{told_versions['countdownd']} at commit {told_versions['commit']}, Redis {told_versions['redis']}. Medians of "
            f"{trial.rounds} round{'s' * (trial.rounds > 1)}, in turn, each on fresh servers.", 120),
        METHOD,
    ]
    for title, told, text in comparison(trial):
        parts += [f"## {title}", text, notes(told)]
    parts += ["## Floors", FLOORS, floors(trial), "## The load generator", GENERATOR, generator(trial)]
    if plots(trial):
        parts += ["## Growth", GROWTH, *[f"![{what}]({name})" for name, what in PLOTS.items()]]
    if trial.failures:
        parts += ["## What could not be measured", "\n".join(f"- {one}" for one in failures(trial))]
    return "\n\n".join(part for part in parts if part) + "\n"


METHOD = """\
Both servers listen on a Unix socket, and the same program of one thread (`Bench/`) puts the load on both. countdownd runs
as shipped. Redis runs with `--appendonly yes --appendfsync everysec --save ''`: what either has answered survives `kill -9`.
For `PTTL`, for its memory and for the programs it runs without its log; for its endings it has
`--notify-keyspace-events Ex`, and the watcher is a subscriber of `__keyevent@0__:expired`. All else of it is as it comes.
Keys have 20 bytes, the value is `v`.

A ratio is countdownd's figure divided by that of Redis, with the least and the greatest of the rounds behind it: more is
better of what is done in a second, less of everything else. An aim without a ratio is one for countdownd's own figure.
`make bench BENCH='--lines start get'` measures some lines and prints them; `BENCH=--quick` shows in two minutes that
everything goes, with figures that say nothing."""

FLOORS = """\
What the machine lets anybody do: a server that reads what is there and answers each request with the same number of bytes as
countdownd does, and nothing else; a loop around a timer; rows as long as those of the database, written and not waited for."""

GENERATOR = """\
It lays its requests out before it sends them and searches what it receives for the end of each reply. The last column is
what it comes to at a server that does nothing: as much it can ask for at least."""

GROWTH = f"""\
All axes are logarithmic. The lateness is that of 1,000 endings in a second, while so many others run on; what has not been
told {GROWTH_PATIENCE // 1000} s after the last deadline counts as late by that."""
