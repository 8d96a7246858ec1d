"""The same measures with more and more keys, and with more and more connections."""

from benchmark.trial import DURABLE, TELLING

# Milliseconds by which an end counts as late if it was not delivered.
GROWTH_PATIENCE = 3000


def lead(count):
    """Milliseconds until a watcher has the ticks of this many running countdowns."""
    return 500 + count // 200


def growth(trial):
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
