"""Calls, ends, changes and ticks between clients and a server. Each line has fresh servers, in turn."""

import glob
import os

from benchmark.trial import DURABLE, TELLING

# Milliseconds by which an end counts as late if it was not delivered.
GROWTH_PATIENCE = 3000
SHAPES = {"1": (1, 1), "50": (50, 1), "50x32": (50, 32)}


def shapes(trial):
    """Each shape: its name, connections, depth, and the number of calls in about a second."""
    sizes = (trial.sizes.alone, trial.sizes.together, trial.sizes.pipelined)
    return [(name, *SHAPES[name], size) for name, size in zip(SHAPES, sizes)]


def start(trial):
    def measure(server):
        first = 0
        for shape, connections, depth, count in shapes(trial):
            told = trial.load("calls", server, call="start", connections=connections, depth=depth, count=count, first=first)
            first += count
            note_calls(trial, f"start-{shape}", server, told)
    trial.on_both("start", measure, *DURABLE)


def get(trial):
    keys = 100_000

    def measure(server):
        trial.fill(server, keys)
        for shape, connections, depth, count in shapes(trial):
            told = trial.load("calls", server, call="get", connections=connections, depth=depth, keys=keys,
                              count=count * (2 if depth > 1 else 1))
            note_calls(trial, f"get-{shape}", server, told)
    trial.on_both("get", measure)


def lone(trial):
    """A client that calls every 5 ms, so that each call wakes the server."""
    keys = 1_000

    def measure(server):
        trial.fill(server, keys)
        told = trial.load("probe", server, call="get", keys=keys, every=5_000, seconds=trial.sizes.lone_seconds)
        trial.record("lone-p50", server.name, told["answer_p50"])
        trial.record("lone-p99", server.name, told["answer_p99"])
    trial.on_both("lone", measure)


def note_calls(trial, line, server, told):
    trial.record(line, server.name, told["callsPerSecond"])
    trial.record(f"{line}-p99", server.name, told["answer_p99"])
    trial.record(f"{line}-load", server.name, told["loadShare"])


def endings(trial):
    end_many(trial, "endings", trial.sizes.spread)


def instant(trial):
    end_many(trial, "instant", 0)


def end_many(trial, line, spread):
    def measure(server):
        told = trial.load("endings", server, count=trial.sizes.endings, spread=spread, lead=4000)
        for quantile in ("p50", "p99", "max"):
            trial.record(f"{line}-{quantile}", server.name, told[f"late_{quantile}"])
    trial.on_both(line, measure, *DURABLE, *TELLING)


def fanout(trial):
    def measure(server):
        told = trial.load("fanout", server, watchers=500, depth=32, count=trial.sizes.changes)
        trial.record("fanout", server.name, told["deliveriesPerSecond"])
        trial.record("fanout-processor", server.name, processor(told) / told["deliveries"] * 1e6)
        trial.record("fanout-load", server.name, told["loadShare"])
    trial.on_both("fanout", measure, *DURABLE)


def ticks(trial):
    def measure(line, keys):
        with trial.countdownd() as server:
            trial.fill(server, keys)
            told = trial.load("ticks", server, seconds=trial.sizes.watched_seconds)
            trial.record(f"{line}-share", server.name, processor(told) / told["seconds"])
            trial.record(f"{line}-told", server.name, told["ticks"] / (keys * told["seconds"]))
            trial.record(f"{line}-processor", server.name, processor(told) / told["ticks"] * 1e6)
            trial.record(f"{line}-load", server.name, told["loadShare"])
    trial.in_turn("ticks", lambda: measure("ticks", trial.sizes.many // 10),
                  lambda: measure("ticks-many", trial.sizes.many))


def processor(told):
    return told["serverUser"] + told["serverSystem"]


def lead(count):
    """Milliseconds until a watcher has the ticks of this many running countdowns."""
    return 500 + count // 200


def growth(trial):
    """The same measures with more and more keys, and with more and more connections."""
    def with_keys(serving, count):
        with serving as server:
            told = trial.load("calls", server, call="start", connections=50, count=count)
            trial.record(f"keys-start-{count}", server.name, told["callsPerSecond"])
            trial.record(f"keys-memory-{count}", server.name, server.resident_bytes())
            told = trial.load("calls", server, call="get", connections=50, count=trial.sizes.together // 3, keys=count)
            trial.record(f"keys-get-{count}", server.name, told["callsPerSecond"])
            told = trial.load("endings", server, first=50_000_000, count=1000, spread=1000, lead=lead(count),
                              patience=GROWTH_PATIENCE)
            trial.record(f"keys-late-{count}", server.name, told["late_p50"])

    def with_connections(serving, count):
        with serving as server:
            calls = trial.sizes.alone // 2
            for call in ("start", "get"):
                told = trial.load("calls", server, call=call, connections=count, count=calls, keys=calls)
                trial.record(f"connections-{call}-{count}", server.name, told["callsPerSecond"])

    def each(measure, sizes):
        for count in sizes:
            for serving in (trial.countdownd, lambda: trial.redis(*DURABLE, *TELLING)):
                yield lambda serving=serving, count=count: measure(serving(), count)

    trial.in_turn("growth", *each(with_keys, trial.sizes.keys), *each(with_connections, trial.sizes.connections))


def floors(trial):
    """The machine's own speed, with as many bytes as countdownd has to move."""
    def timer():
        told = trial.load("timer", count=trial.sizes.timers)
        for quantile in ("p50", "p99", "max"):
            trial.record(f"timer-{quantile}", "floor", told[f"late_{quantile}"])

    def echo():
        for call in ("start", "get"):
            with trial.directory() as directory, trial.echo(directory, call) as server:
                for shape, connections, depth, count in shapes(trial):
                    told = trial.load("calls", server, call=call, connections=connections, depth=depth,
                                      count=count * (2 if depth > 1 else 1))
                    trial.record(f"echo-{call}-{shape}", "floor", told["callsPerSecond"])
                    trial.record(f"echo-{call}-{shape}-load", "floor", told["loadShare"])

    def append():
        length = row_bytes(trial)
        with trial.directory() as directory:
            for depth in (1, 32, 512):
                told = trial.load("append", file=os.path.join(directory, "rows"), bytes=length, depth=depth)
                trial.record(f"append-{depth}", "floor", told["rowsPerSecond"])
        trial.record("append-bytes", "floor", length)

    trial.in_turn("floors", timer, echo, append)


def row_bytes(trial):
    """The bytes of the database per row, when it has all rows."""
    count = 20_000
    with trial.directory() as directory:
        with trial.countdownd(directory) as server:
            trial.fill(server, count)
        return sum(os.path.getsize(path) for path in glob.glob(f"{directory}/state/*.db*")) // count
