"""Calls, ends, changes and ticks between clients and a server. Each line has fresh servers, in turn."""

from benchmark.trial import DURABLE, TELLING

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
