"""The rows of the comparison: the name, the unit and the aim of each."""

import collections

from benchmark import figures

# A row: the name under which a trial records it, its text, the format of its figures, and its aim.
Row = collections.namedtuple("Row", "name what write aim")


class Aim:
    """A bound for a ratio to Redis or for a figure of countdownd."""

    def __init__(self, text, is_met):
        self.text, self.is_met = text, is_met


def at_least(least):
    return Aim(f"≥ {least:g}", lambda own, ratio: ratio is not None and ratio >= least)


def at_most(most):
    text = f"≤ {figures.ratio(most)}" if most < 0.01 else f"≤ {most:g}"
    return Aim(text, lambda own, ratio: ratio is not None and ratio <= most)


def within(most, write):
    return Aim(f"≤ {write(most)}", lambda own, ratio: own <= most)


NONE = Aim("", lambda own, ratio: None)


def shapes(line, what, least, p99):
    names = {"1": "1 connection", "50": "50 connections", "50x32": "50 connections, 32 calls per write"}
    for shape, aim in zip(names, least):
        yield Row(f"{line}-{shape}", f"{what}, {names[shape]}", figures.rate, at_least(aim))
        what_of = "32 replies" if shape == "50x32" else "a reply"
        yield Row(f"{line}-{shape}-p99", f"p99 of {what_of}", figures.microseconds, p99)


ROWS = {
    "Calls": [
        *shapes("start", "Start of a new key, `SET k v NX PX`", (1, 1.3, 1.2), at_most(1)),
        *shapes("get", "Get, `PTTL`", (1, 1.3, 0.8), NONE),
        Row("lone-p50", "a lone client that calls every 5 ms, Get and `PTTL`: median", figures.microseconds, NONE),
        Row("lone-p99", "p99", figures.microseconds, NONE),
    ],
    "Ends": [
        Row("endings-p50", "100,000 over 10 s, one watcher: median lateness", figures.microseconds, at_most(1 / 10_000)),
        Row("endings-p99", "p99", figures.microseconds, within(300, figures.microseconds)),
        Row("endings-max", "maximum", figures.microseconds, within(5_000, figures.microseconds)),
        Row("instant-max", "100,000 in one instant: all delivered after", figures.microseconds,
            within(250_000, figures.microseconds)),
        Row("instant-p50", "half of them after", figures.microseconds, NONE),
    ],
    "Watching": [
        Row("fanout", "one key changed at full speed, 500 watchers (`PUBLISH`): deliveries", figures.rate, at_least(1)),
        Row("fanout-processor", "processor time per delivery", figures.microseconds, NONE),
        Row("ticks-share", "100,000 keys ticking at 1 Hz, one watcher: share of a core", figures.share,
            within(0.1, figures.share)),
        Row("ticks-told", "delivered ticks", figures.share, NONE),
        Row("ticks-processor", "processor time per tick", figures.microseconds, NONE),
        Row("ticks-many-told", "1,000,000 keys ticking at 1 Hz: delivered ticks", figures.share, NONE),
        Row("ticks-many-share", "share of a core", figures.share, NONE),
    ],
    "Queues": [
        Row("handover-calls", "1,000 clients want one key for 20 ms each: calls per hand-over (Start with `wait`; `SET k v NX PX` "
            "every 100 ms)", figures.count, within(1, figures.count)),
        Row("handover-wakeups", "wake-ups of clients per hand-over", figures.count, within(1, figures.count)),
        Row("handover-idle", "the key is free between two of them, median", figures.microseconds, at_most(1)),
        Row("handover-events-calls", "calls per hand-over; Redis at each event of the expired key", figures.count, NONE),
        Row("handover-events-wakeups", "wake-ups of clients", figures.count, NONE),
    ],
    "Many": [
        Row("memory", "memory per countdown at 1,000,000 with keys of 20 bytes, including the process", figures.size,
            at_most(0.7)),
        Row("ready-written", "ready with 1,000,000 stored; Redis with its log as written", figures.seconds, at_most(0.5)),
        Row("ready-rewritten", "the same; Redis with a rewritten log", figures.seconds, at_most(0.5)),
        Row("ready-killed", "the same after SIGKILL", figures.seconds, NONE),
        Row("flood-max", "longest reply to a Get while 2,000,000 are started at full speed", figures.microseconds,
            within(10_000, figures.microseconds)),
        Row("flood-p9999", "p99.99 of these", figures.microseconds, NONE),
        Row("flood-waking", "longest wait of the load generator for the kernel meanwhile",
            figures.microseconds, NONE),
        Row("flood-rate", "started meanwhile", figures.rate, NONE),
    ],
    "At rest": [
        Row("idle-wakeups", "wake-ups per minute, 1,000 running, no watcher", figures.count, within(0, figures.count)),
        Row("idle-switches", "context switches per minute", figures.count, NONE),
        Row("idle-processor", "processor time per minute", figures.milliseconds, NONE),
        Row("empty", "memory, empty", figures.size, at_most(1)),
    ],
    "Programs": [
        Row("show", "`countdownctl show tea`, `redis-cli PTTL tea`: whole command", figures.milliseconds, at_most(1)),
        Row("is-running", "`countdownctl is-running tea`", figures.milliseconds, at_most(1)),
        Row("start", "`countdownctl start tea 1h`", figures.milliseconds, NONE),
    ],
}


class Told:
    """A row with the figures of a trial."""

    def __init__(self, row, trial):
        self.row = row
        self.own, self.other = trial.median(row.name, "countdownd"), trial.median(row.name, "redis")
        self.ratio = self.own / self.other if self.own is not None and self.other else None
        self.is_met = None if self.own is None else row.aim.is_met(self.own, self.ratio)
        values = trial.values.get(row.name, {})
        rounds = list(zip(values.get("countdownd", []), values.get("redis", [])))
        # One ratio per round; the median of the ratios is not the ratio of the medians.
        self.ratios = [own / other for own, other in rounds if other] if self.other else []

    @property
    def verdict(self):
        if self.row.aim is NONE:
            return ""
        return {True: "met", False: "**missed**", None: "not measured"}[self.is_met]

    def cells(self):
        def write(value):
            return "" if value is None else self.row.write(value)
        ratio = "" if self.ratio is None else figures.ratio(self.ratio)
        if len(self.ratios) > 1:
            ratio += f" ({figures.ratio(min(self.ratios))} to {figures.ratio(max(self.ratios))})"
        return [self.row.what, write(self.own), write(self.other), ratio, self.row.aim.text, self.verdict]


def table(head, rows):
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def comparison(trial):
    """The title, the rows and the table of each section that has figures."""
    for title, rows in ROWS.items():
        # Lines that were not requested are left out; lines that failed stay.
        told = [one for one in (Told(row, trial) for row in rows) if one.own is not None or trial.failures]
        if any(one.own is not None for one in told):
            head = [title.lower(), "countdownd", "Redis", "ratio", "aim", ""]
            yield title, told, table(head, [one.cells() for one in told])
