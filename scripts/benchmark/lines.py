"""What is measured: each line of a trial is a function, which is called once in each round."""

import contextlib
import itertools
import os
import shutil
import signal
import statistics
import time

from benchmark.fleet import engine, fleet, host
from benchmark.handover import handover
from benchmark.trial import DURABLE, EVENTS
from servers import PATIENCE, Connection, need_inotify, temporary, wait_until

# Connections, calls per write, and the number of calls in about a second.
SHAPES = {"1": (1, 1, 100_000), "50": (50, 1, 300_000), "50x32": (50, 32, 1_000_000)}
HOUR = 3_600_000_000


def on_both(*redis):
    """A line that measures fresh servers in turn: countdownd, and Redis with these arguments."""
    def of(measure):
        def line(trial):
            for serving in trial.countdownd(), trial.redis(*redis):
                with serving as server:
                    measure(trial, server)
        return line
    return of


@on_both(*DURABLE)
def start(trial, server):
    first = 0
    for shape, (connections, depth, count) in SHAPES.items():
        call(trial, server, f"start-{shape}", call="start", connections=connections, depth=depth, first=first,
             count=trial.size(count))
        first += trial.size(count)


@on_both(*DURABLE)
def start_all(trial, server):
    first = 0
    for shape in ("1", "50"):
        connections, depth, count = SHAPES[shape]
        call(trial, server, f"start-all-{shape}", call="start-all", connections=connections, depth=depth, first=first,
             count=trial.size(count // 2))
        first += trial.size(count // 2)


@on_both()
def get(trial, server):
    keys = 100_000
    trial.fill(server, keys)
    for shape, (connections, depth, count) in SHAPES.items():
        call(trial, server, f"get-{shape}", call="get", connections=connections, depth=depth, keys=keys,
             count=trial.size(count * (2 if depth > 1 else 1)))


@on_both(*DURABLE)
def mixed(trial, server):
    call(trial, server, "mixed-50x32", call="start+get", connections=50, depth=32, count=trial.size(1_000_000))


def call(trial, server, line, **options):
    told = trial.load("calls", server, **options)
    trial.record(line, server.name, told["callsPerSecond"])
    trial.record(f"{line}-p99", server.name, told["answer_p99"])
    trial.record(f"{line}-load", server.name, told["loadShare"])


@on_both()
def lone(trial, server):
    """A client that calls every 5 ms, so that each call wakes the server."""
    trial.fill(server, 1_000)
    told = trial.load("probe", server, call="get", keys=1_000, every=5_000, seconds=trial.size(10))
    trial.record("lone-p50", server.name, told["answer_p50"])
    trial.record("lone-p99", server.name, told["answer_p99"])


@on_both(*DURABLE, *EVENTS)
def endings(trial, server):
    end_many(trial, server, "endings", 100_000, 10_000)


@on_both(*DURABLE, *EVENTS)
def lone_endings(trial, server):
    end_many(trial, server, "lone-endings", 10_000, 10_000)


@on_both(*DURABLE, *EVENTS)
def instant(trial, server):
    end_many(trial, server, "instant", 100_000, 0)


def end_many(trial, server, line, count, spread):
    count = trial.size(count)
    told = trial.load("endings", server, count=count, spread=spread and trial.size(spread), lead=4000)
    for quantile in ("p50", "p99", "max"):
        trial.record(f"{line}-{quantile}", server.name, told[f"late_{quantile}"])
    trial.record(f"{line}-processor", server.name, told["serverProcessor"] / count * 1e6)
    trial.record(f"{line}-switches", server.name, told["serverSwitches"] / count)


@on_both(*DURABLE)
def fanout(trial, server):
    told = trial.load("fanout", server, watchers=500, depth=32, count=trial.size(10_240))
    trial.record("fanout", server.name, told["deliveriesPerSecond"])
    trial.record("fanout-processor", server.name, told["serverProcessor"] / told["deliveries"] * 1e6)
    trial.record("fanout-load", server.name, told["loadShare"])


def ticks(trial):
    lines = ("ticks", trial.size(100_000)), ("ticks-many", trial.size(1_000_000))
    servers = (trial.countdownd, trial.redis) if trial.before else (trial.countdownd,)
    for (line, keys), serving in itertools.product(lines, servers):
        with serving() as server:
            trial.fill(server, keys)
            told = trial.load("ticks", server, seconds=2 if trial.quick else 10)
        trial.record(f"{line}-share", server.name, told["serverProcessor"] / told["seconds"])
        trial.record(f"{line}-told", server.name, told["ticks"] / (keys * told["seconds"]))
        trial.record(f"{line}-processor", server.name, told["serverProcessor"] / told["ticks"] * 1e6)
        trial.record(f"{line}-load", server.name, told["loadShare"])


def many(trial):
    """Memory with many countdowns, and a start with many stored ones."""
    count = trial.size(1_000_000)

    def fill(server):
        trial.record("empty", server.name, server.resident_bytes())
        trial.fill(server, count)
        trial.record("memory", server.name, server.resident_bytes() / count)

    def ready(server, running, *lines):
        if running != count:
            raise RuntimeError(f"{running} of {count} are there after a start")
        for line in lines:
            trial.record(line, server.name, server.seconds_to_ready * 1e6)

    for serving in (trial.countdownd, trial.redis) if trial.before else (trial.countdownd,):
        with temporary() as directory:
            with serving(directory=directory) as server:
                fill(server)
            with serving(directory=directory) as server:
                ready(server, Connection(server.socket).call("GetStatus")["running"], "ready-written", "ready-rewritten")
    if trial.before:
        return
    with trial.redis() as server:
        fill(server)
    # If Redis rewrote its file by itself, the loaded content would be unknown.
    arguments = (*DURABLE, "--auto-aof-rewrite-percentage", "0")
    with temporary() as directory:
        with trial.redis(*arguments, directory=directory) as server:
            trial.fill(server, count)
        with trial.redis(*arguments, directory=directory) as server:
            ready(server, int(server.ask("DBSIZE")[1:]), "ready-written")
            server.ask("BGREWRITEAOF")
            wait_until(lambda: b"aof_last_bgrewrite_status:ok" in (told := server.ask("INFO persistence"))
                       and b"_in_progress:1" not in told and b"_scheduled:1" not in told, "Redis has rewritten its log")
        with trial.redis(*arguments, directory=directory) as server:
            ready(server, int(server.ask("DBSIZE")[1:]), "ready-rewritten")


@on_both(*DURABLE)
def flood(trial, server):
    """The longest answer while very many countdowns are started at full speed."""
    asked_for = 90_000_000
    trial.fill(server, 1000, first=asked_for)
    loading = trial.start_load("calls", server, call="start", connections=50, depth=32, count=trial.size(2_000_000))
    # The probe continues until the load has ended.
    probe = trial.start_load("probe", server, call="get", first=asked_for, keys=1000, every=200, seconds=120,
                             **{"while": loading.pid})
    try:
        loaded = trial.finish(loading)
    finally:
        told = trial.finish(probe)
    trial.record("flood-max", server.name, told["answer_max"])
    trial.record("flood-p9999", server.name, told["answer_p9999"])
    trial.record("flood-waking", server.name, told["waking_max"])
    trial.record("flood-rate", server.name, loaded["callsPerSecond"])


def idle(trial):
    """A daemon, a daemon of a fleet and Redis, all at once, because idle servers do not disturb each other: with 1,000 running
    keys and no watcher."""
    need_inotify()
    with trial.countdownd() as ours, trial.redis(*DURABLE) as theirs, engine() as redis, host(trial, redis) as member:
        for server in ours, theirs, member:
            trial.fill(server, 1_000)
        connections = [Connection(daemon.socket) for daemon in (ours, member)]

        def counts():
            commands = redis.ask("INFO stats").split(b"total_commands_processed:")[1].split()[0]
            return [*(each.call("GetStatus")["counters"]["wakeUps"] for each in connections), int(commands)]
        # The starts are stored and trimmed, and idle threads have ended.
        time.sleep(10)
        counted = counts()
        # Until the daemons sleep again.
        time.sleep(1)
        before = {server: server.activity() for server in (ours, theirs)}
        time.sleep(trial.size(60))
        for server, (switches, nanoseconds) in before.items():
            now = server.activity()
            trial.record("idle-switches", server.name, now[0] - switches)
            trial.record("idle-processor", server.name, (now[1] - nanoseconds) / 1e3)
        for line, count, now in zip(("idle-wakeups", "fleet-wakeups", "fleet-commands"), counted, counts()):
            # The call that asks wakes it once, and is a command.
            trial.record(line, "countdownd", now - count - 1)


def programs(trial):
    with trial.countdownd() as ours, trial.redis() as theirs:
        Connection(ours.socket).call("Start", key="tea", durationUSec=HOUR)
        theirs.ask("SET tea v PX 3600000")
        environment = {"COUNTDOWND_SOCKET": ours.socket, "PATH": os.environ["PATH"], "TZ": "UTC0"}
        own = os.path.join(trial.programs, "countdownctl")
        commands = {"show": [own, "show", "tea"], "is-running": [own, "is-running", "tea"],
                    "redis": [shutil.which("redis-cli"), "-s", theirs.socket, "PTTL", "tea"]}
        taken = {line: [] for line in commands}
        signal.alarm(PATIENCE)
        for number in range(trial.size(100) + 5):
            for line, command in commands.items():
                taken[line].append(time_of(command, environment))
        signal.alarm(0)
        for line in ("show", "is-running"):
            # The first five runs are for the caches.
            trial.record(line, "countdownd", statistics.median(taken[line][5:]))
            trial.record(line, "redis", statistics.median(taken["redis"][5:]))


def time_of(command, environment):
    """The microseconds from a program's start until it has ended."""
    with open("/dev/null", "r+b") as nothing:
        actions = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), descriptor) for descriptor in range(3)]
        begin = time.perf_counter()
        _, status = os.waitpid(os.posix_spawn(command[0], command, environment, file_actions=actions), 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return (time.perf_counter() - begin) * 1e6


# The settings with which Redis looks for expired keys as often and as long as it can.
EAGER = ("--hz", "500", "--active-expire-effort", "10")


def expiry_sizes(trial):
    """Numbers of other keys, which end an hour later."""
    return [0, *(trial.size(count) for count in (10_000, 100_000, 1_000_000))]


def expiry(trial, with_redis=True):
    """1,000 ends at one chosen instant beside more and more other keys, as redis#15620 and valkey#4384 measure them."""
    for others in expiry_sizes(trial):
        expire(trial, others, countdownd=trial.countdownd())
        if not others:
            expire(trial, others, floor=trial.burst())
        if with_redis:
            # At once, because most of the time is waiting for them, and each of them has one thread.
            expire(trial, others, redis=trial.redis(*EVENTS), eager=trial.redis(*EVENTS, *EAGER))


def expiry_alone(trial):
    """The same without Redis, so in two minutes."""
    expiry(trial, with_redis=False)


def expire(trial, others, **fresh):
    """The same on servers by their names in the table, all at once."""
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(serving) for name, serving in fresh.items()}
        for server in servers.values():
            if others:
                trial.fill(server, others)
        # The lead is until the watcher has the running countdowns.
        loads = {name: trial.start_load("endings", server, first=50_000_000, count=1000, spread=0,
                                        lead=2000 + others // 150, patience=3_000 if trial.quick else 180_000)
                 for name, server in servers.items()}
        for load in loads.values():
            stack.callback(load.kill)
        for name, load in loads.items():
            told = trial.finish(load)
            trial.record(f"expiry-{others}-memory", name, servers[name].resident_bytes())
            trial.record(f"expiry-{others}-told", name, told["told"])
            for quantile in ("p50", "p99") if told["told"] else ():
                trial.record(f"expiry-{others}-{quantile}", name, told[f"toldLate_{quantile}"])
            trial.record(f"expiry-{others}-processor", name, told["serverProcessor"] * 1e6)


def growth_sizes(trial):
    """Numbers of keys, and of connections."""
    sizes = [1_000, 10_000, 100_000, 1_000_000], [1, 10, 100, 1_000]
    return [[size for size in some if size <= trial.size(some[-1])] for some in sizes]


def growth(trial):
    """The same measures with more and more keys, and with more and more connections."""
    def with_keys(server, count):
        told = trial.load("calls", server, call="start", connections=50, count=count)
        trial.record(f"keys-start-{count}", server.name, told["callsPerSecond"])
        trial.record(f"keys-memory-{count}", server.name, server.resident_bytes())
        told = trial.load("calls", server, call="get", connections=50, count=trial.size(100_000), keys=count)
        trial.record(f"keys-get-{count}", server.name, told["callsPerSecond"])
        # The lead is until the watcher has the ticks of all keys; an end that was not delivered counts as 3 s late.
        told = trial.load("endings", server, first=50_000_000, count=1000, spread=1000, lead=500 + count // 200,
                          patience=3000)
        trial.record(f"keys-late-{count}", server.name, told["late_p50"])

    def with_connections(server, count):
        calls = trial.size(50_000)
        for name in ("start", "get"):
            told = trial.load("calls", server, call=name, connections=count, count=calls, keys=calls)
            trial.record(f"connections-{name}-{count}", server.name, told["callsPerSecond"])

    for measure, sizes in zip((with_keys, with_connections), growth_sizes(trial)):
        for count in sizes:
            for serving in trial.countdownd(), trial.redis(*DURABLE, *EVENTS):
                with serving as server:
                    measure(server, count)


# In the order in which they are measured.
LINES = {
    "start": start, "start-all": start_all, "get": get, "mixed": mixed, "lone": lone, "endings": endings,
    "lone-endings": lone_endings, "instant": instant, "fanout": fanout, "ticks": ticks,
    "handover": handover, "many": many, "idle": idle, "programs": programs, "flood": flood, "growth": growth,
    "fleet": fleet,
}
# Measured in one round: it waits for a minute, and counts rather than times.
ONCE = ("idle",)
# Measured only if named, and then written into parts of the page of their own: most of their time is waiting.
APART = {"expiry": expiry, "expiry-alone": expiry_alone}
# What an older daemon can be measured by, in the place of Redis.
TURNS = ("start", "start-all", "get", "mixed", "lone", "endings", "lone-endings", "instant", "fanout", "ticks", "handover",
         "many", "flood")
