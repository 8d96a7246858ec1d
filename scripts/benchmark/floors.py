"""The machine's own speed, with as many bytes as countdownd has to move."""

import glob
import os

from benchmark.traffic import shapes


def floors(trial):
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
