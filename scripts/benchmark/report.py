"""The report of a trial: tables for the terminal and for docs/performance.md."""

import collections
import os
import platform
import re
import subprocess
import textwrap
import time

from benchmark.lines import SHAPES, expiry_sizes
from servers import ROOT

# A block of docs/performance.md that a trial writes; the text around the blocks is written by hand.
BLOCK = re.compile(r"(<!-- bench: (.+?) -->\n).*?(<!-- /bench -->)", re.DOTALL)
# The units of a figure, the greatest first, with their sizes.
UNITS = {
    "rate": [(1e6, " M/s"), (1, "/s")],
    "time": [(1e6, " s"), (1e3, " ms"), (1, " µs")],
    "size": [(2**20, " MiB"), (2**10, " KiB"), (1, " bytes")],
}
# The name under which a trial records a figure, its text, the kind of figure, and its aim: a bound for the ratio to Redis
# or for the figure itself.
Row = collections.namedtuple("Row", "name text kind aim", defaults=[None])
Aim = collections.namedtuple("Aim", "sign bound of")


def write(value, kind):
    """Three significant digits, and a unit that fits; nothing if there is no value."""
    if value is None:
        return ""
    if kind == "share":
        return f"{value * 100:.1f} %"
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "ratio":
        return f"1/{1 / value:,.0f}" if 0 < value < 0.01 else f"{value:.2f}"
    size, unit = next((one for one in UNITS[kind] if value >= one[0]), UNITS[kind][-1])
    value /= size
    return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f}{unit}"


def faster(least):
    return Aim("≥", least, "ratio")


def less(most):
    return Aim("≤", most, "ratio")


def within(most):
    return Aim("≤", most, "figure")


def shape(name):
    connections, depth, _ = SHAPES[name]
    return f"{connections} connection{'s' * (connections > 1)}{f', {depth} calls per write' * (depth > 1)}"


def calls(line, text, aims, p99):
    for name, aim in zip(SHAPES, aims):
        yield Row(f"{line}-{name}", f"{text}, {shape(name)}", "rate", faster(aim))
        yield Row(f"{line}-{name}-p99", f"p99 of {'32 replies' if name == '50x32' else 'a reply'}", "time", p99)


def effort(line):
    yield Row(f"{line}-processor", "processor time per end", "time")
    yield Row(f"{line}-switches", "context switches per end", "ratio")


ROWS = {
    "Calls": [
        *calls("start", "Start of a new key, `SET k v NX PX`", (1, 1.1, 1.2), less(1)),
        *calls("start-all", "StartAll of a new key and of one that all calls share, `EVALSHA` of a GCRA for two keys",
               (1, 1), less(1)),
        *calls("get", "Get, `PTTL`", (1, 1, 1), None),
        Row("mixed-50x32", f"a Start of a new key and a Get of it, by turns, {shape('50x32')}", "rate"),
        Row("mixed-50x32-p99", "p99 of 32 replies", "time"),
        Row("lone-p50", "a lone client that calls every 5 ms, Get and `PTTL`: median", "time"),
        Row("lone-p99", "p99", "time"),
    ],
    "Ends": [
        Row("endings-p50", "100,000 over 10 s, one watcher: median lateness", "time", less(1 / 10_000)),
        Row("endings-p99", "p99", "time", within(300)),
        Row("endings-max", "maximum", "time", within(5_000)),
        *effort("endings"),
        Row("lone-endings-p50", "10,000 over 10 s, one in each millisecond: median lateness", "time"),
        Row("lone-endings-p99", "p99", "time", within(300)),
        *effort("lone-endings"),
        Row("instant-max", "100,000 in one instant: all delivered after", "time", within(250_000)),
        Row("instant-p50", "half of them after", "time"),
        Row("instant-processor", "processor time per end", "time"),
    ],
    "Watching": [
        Row("fanout", "one key changed at full speed, 500 watchers (`PUBLISH`): deliveries", "rate"),
        Row("fanout-processor", "processor time per delivery", "time"),
        Row("ticks-share", "100,000 keys ticking at 1 Hz, one watcher: share of a core", "share", within(0.1)),
        Row("ticks-told", "delivered ticks", "share"),
        Row("ticks-processor", "processor time per tick", "time"),
        Row("ticks-many-told", "1,000,000 keys ticking at 1 Hz: delivered ticks", "share"),
        Row("ticks-many-share", "share of a core", "share"),
    ],
    "Queues": [
        Row("handover-calls", "1,000 clients want one key for 20 ms each: calls per hand-over (Start with `wait`; "
            "`SET k v NX PX` every 100 ms)", "count", within(1)),
        Row("handover-wakeups", "wake-ups of clients per hand-over", "count", within(1)),
        Row("handover-idle", "the key is free between two of them, median", "time", less(1)),
    ],
    "Many": [
        Row("memory", "memory per countdown at 1,000,000 with keys of 20 bytes, including the process", "size", less(0.7)),
        Row("ready-written", "ready with 1,000,000 stored; Redis with its log as written", "time", less(0.5)),
        Row("ready-rewritten", "the same; Redis with a rewritten log", "time", less(0.5)),
        Row("flood-max", "longest reply to a Get while 2,000,000 are started at full speed", "time", within(10_000)),
        Row("flood-p9999", "p99.99 of these", "time"),
        Row("flood-waking", "longest wait of the load generator for the kernel meanwhile", "time"),
        Row("flood-rate", "started meanwhile", "rate"),
    ],
    "At rest": [
        Row("idle-wakeups", "wake-ups per minute, 1,000 running, no watcher", "count", within(0)),
        Row("idle-switches", "context switches per minute", "count"),
        Row("idle-processor", "processor time per minute", "time"),
        Row("empty", "memory, empty", "size", less(1)),
    ],
    "Programs": [
        Row("show", "`countdownctl show tea`, `redis-cli PTTL tea`: whole command", "time", less(1)),
        Row("is-running", "`countdownctl is-running tea`", "time", less(1)),
    ],
    "Fleet": [
        Row("fleet-p50", "Start of a new key, `SET k v NX PX`, one call after the other: median", "time", less(3)),
        Row("fleet-far-p50", "the same through a relay that delivers 0.5 ms later", "time", less(1.3)),
        Row("fleet-rate-burst", "a burst of 300 on 300 connections, 50 a second; a GCRA script at Redis: last answer", "time",
            within(60_000)),
        Row("fleet-rate-refused", "a flood on 50 a second, burst 10; the script: a refusal, median", "time", within(1_000)),
        *(Row(f"fleet-start-{name}", f"Start, {shape(name)}", "rate") for name in SHAPES),
        Row("fleet-heard-p50", "a watcher of another host hears of a Start, 3 hosts: median", "time"),
        Row("fleet-heard-p99", "p99", "time", within(5_000)),
        Row("fleet-late-p50", "1,000 ends over 2 s, a watcher at each of 3 hosts: median lateness", "time"),
        Row("fleet-late-p99", "p99", "time", within(1_000)),
        Row("fleet-apart-p99", "from the first host to the last one, p99", "time", within(1_000)),
        Row("fleet-wakeups", "wake-ups of the daemon per minute, 1,000 running, no watcher", "count", within(18)),
        Row("fleet-commands", "commands to Redis per minute meanwhile", "count"),
        Row("fleet-million", "a new host has 1,000,000 countdowns after", "time", within(5e6)),
        Row("fleet-million-get", "longest reply to a Get meanwhile", "time", within(10_000)),
    ],
}


def cells(row, trial):
    """The cells of a row: the figures, their ratio with the smallest and greatest one of a round, and the aim."""
    own, other = (trial.median(row.name, server) for server in ("countdownd", "redis"))
    ratio = own / other if other else None
    text = write(ratio, "ratio")
    if other:
        rounds = zip(trial.values[row.name, "countdownd"], trial.values[row.name, "redis"])
        ratios = [write(ours / theirs, "ratio") for ours, theirs in sorted(rounds, key=lambda pair: pair[0] / pair[1])]
        text += f" ({ratios[0]} to {ratios[-1]})" if len(ratios) > 1 else ""
    aim = verdict = ""
    if row.aim and not trial.before:
        sign, bound, of = row.aim
        value, kind = (ratio, "ratio") if of == "ratio" else (own, row.kind)
        aim = f"{sign} {bound:g}" if kind in ("ratio", "count") and bound >= 0.01 else f"{sign} {write(bound, kind)}"
        verdict = "met" if (value >= bound if sign == "≥" else value <= bound) else "**missed**"
    return [row.text, write(own, row.kind), write(other, row.kind), text, aim, verdict]


def table(head, rows):
    """The rows that have figures."""
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *rows] if any(cells[1:])]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) if len(lines) > 1 else ""


def tables(trial):
    """The tables that have figures, by the title of their section."""
    found = {}
    for title, rows in ROWS.items():
        head = [title.lower(), "countdownd", "before" if trial.before else "Redis", "ratio", "aim", ""]
        found[title] = table(head, [cells(row, trial) for row in rows if trial.median(row.name, "countdownd") is not None])

    def shares(text, name):
        return [text, *(write(trial.median(name, server), "share") for server in ("countdownd", "redis"))]
    found["The load generator"] = table(["the load generator's share of a core", "with countdownd", "with Redis"], [
        *(shares(f"{call.capitalize()}, {shape(name)}", f"{call}-{name}-load") for call in ("start", "get") for name in SHAPES),
        shares("fan-out", "fanout-load"), shares("100,000 ticks per second", "ticks-load"),
        shares("1,000,000 ticks per second", "ticks-many-load"),
    ])
    found["Expiry"] = table(["other keys", "server", "delivered within 180 s", "p50", "p99", "aim for p99", "", "processor time",
                             "memory"], expiry_rows(trial))
    return {title: text for title, text in found.items() if text}


# The servers of the line `expiry`.
EXPIRY = {"floor": "a bare timerfd", "countdownd": "countdownd", "redis": "Redis",
          "eager": "Redis, `hz 500`, `active-expire-effort 10`"}


def expiry_rows(trial):
    sizes = expiry_sizes(trial)
    alone = trial.median("expiry-0-p99", "countdownd")
    for others in sizes:
        for server, text in EXPIRY.items():
            told = trial.median(f"expiry-{others}-told", server)
            if told is None:
                continue
            p50, p99 = (trial.median(f"expiry-{others}-{quantile}", server) for quantile in ("p50", "p99"))
            aim = verdict = ""
            if server == "countdownd" and others in (sizes[0], sizes[-1]):
                bound = 2_000 if others == 0 else 1.2 * alone
                aim = f"≤ {write(bound, 'time')}"
                verdict = "met" if p99 <= bound and told == 1000 else "**missed**"
            yield [f"{others:,}", text, f"{told:,.0f}", write(p50, "time"), write(p99, "time"), aim, verdict,
                   write(trial.median(f"expiry-{others}-processor", server), "time"),
                   write(trial.median(f"expiry-{others}-memory", server), "size")]


def circumstances(programs, rounds):
    """When, on what machine and of which versions a trial is: a function that writes it at the end."""
    def line(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^model name\s*: (.*)", file.read(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    text = (f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} processors ({model[1] if model else platform.machine()}), "
            f"{memory:.0f} GiB, Linux {platform.release()}, load {os.getloadavg()[0]:.1f} before; "
            f"{line(os.path.join(programs, 'countdownd'), '--version').splitlines()[0]} at commit "
            f"{line('git', '-C', ROOT, 'describe', '--always', '--dirty', '--abbrev=10')}, Redis "
            f"{re.search('v=([0-9.]+)', line('redis-server', '--version'))[1]}. Medians of {rounds} rounds, in turn, each on "
            "fresh servers, in ")
    begin = time.monotonic()
    return lambda: textwrap.fill(f"{text}{(time.monotonic() - begin) / 60:.0f} minutes.", 120)


def write_page(blocks):
    """Writes these blocks of docs/performance.md, and leaves the others."""
    path = os.path.join(ROOT, "docs/performance.md")
    with open(path) as file:
        text = BLOCK.sub(lambda block: f"{block[1]}{blocks[block[2]]}\n{block[3]}" if block[2] in blocks else block[0],
                         file.read())
    with open(path, "w") as file:
        file.write(text)
