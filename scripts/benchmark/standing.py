"""The memory and processor time of a server with many countdowns, or with nothing to do."""

import os
import shutil
import signal
import statistics
import time

from measuring import PATIENCE, run_in_turn

from benchmark.trial import DURABLE


def many(trial):
    """Memory with many countdowns, and a start with many stored ones."""
    count = trial.sizes.many

    def countdownd():
        with trial.directory() as directory:
            with trial.countdownd(directory) as server:
                trial.record("empty", "countdownd", server.resident_bytes())
                trial.fill(server, count)
                trial.record("memory", "countdownd", server.resident_bytes() / count)
            with trial.countdownd(directory) as server:
                expect(trial.connect(server).call("GetStatus")["running"], count)
                for line in ("ready-written", "ready-rewritten"):
                    trial.record(line, "countdownd", server.seconds_to_ready)
                server.end(signal.SIGKILL)
            with trial.countdownd(directory) as server:
                trial.record("ready-killed", "countdownd", server.seconds_to_ready)

    def redis():
        with trial.redis() as server:
            trial.record("empty", "redis", server.resident_bytes())
            trial.fill(server, count)
            trial.record("memory", "redis", server.resident_bytes() / count)
        # If Redis rewrote its file by itself, the loaded content would be unknown.
        arguments = (*DURABLE, "--auto-aof-rewrite-percentage", "0")
        with trial.directory() as directory:
            with trial.redis(*arguments, directory=directory) as server:
                trial.fill(server, count)
            with trial.redis(*arguments, directory=directory) as server:
                expect(keys_of(server), count)
                trial.record("ready-written", "redis", server.seconds_to_ready)
                rewrite(server)
            with trial.redis(*arguments, directory=directory) as server:
                expect(keys_of(server), count)
                trial.record("ready-rewritten", "redis", server.seconds_to_ready)

    trial.in_turn("many", countdownd, redis)


def expect(found, count):
    if found != count:
        raise RuntimeError(f"{found} of {count} are there after a start")


def keys_of(redis):
    return int(redis.ask("DBSIZE")[1:])


def rewrite(redis):
    redis.ask("BGREWRITEAOF")
    until = time.monotonic() + 60
    while b"aof_rewrite_in_progress:1" in (told := redis.ask("INFO persistence")) or b"_scheduled:1" in told:
        if time.monotonic() > until:
            raise RuntimeError("redis has not rewritten its log in a minute")
        time.sleep(0.1)


def flood(trial):
    """The longest answer while very many countdowns are started at full speed."""
    asked_for = 90_000_000

    def measure(server):
        trial.fill(server, 1000, first=asked_for)
        loading = trial.start_load("calls", server, call="start", connections=50, depth=32, count=trial.sizes.flood)
        probe = trial.start_load("probe", server, call="get", first=asked_for, keys=1000, every=200, seconds=120,
                                 **{"while": loading.pid})
        try:
            # The probe continues until the load has ended.
            loaded = trial.finish(loading)
            told = trial.finish(probe)
        finally:
            for process in (loading, probe):
                if process.poll() is None:
                    process.kill()
        trial.record("flood-max", server.name, told["answer_max"])
        trial.record("flood-p9999", server.name, told["answer_p9999"])
        trial.record("flood-waking", server.name, told["waking_max"])
        trial.record("flood-rate", server.name, loaded["callsPerSecond"])
    trial.on_both("flood", measure, *DURABLE)


def idle(trial):
    """All rounds at once, because idle servers do not disturb each other: each with 1,000 running keys and no watcher."""
    rounds, seconds = trial.rounds, trial.sizes.idle_seconds

    def measure(servers):
        connections = [trial.connect(server) for server in servers[:rounds]]
        for server in servers:
            trial.fill(server, 1000)
        # The starts are stored and trimmed, and idle threads have ended.
        time.sleep(10)
        wake_ups = [connection.call("GetStatus")["counters"]["wakeUps"] for connection in connections]
        before = [server.activity() for server in servers]
        time.sleep(seconds)
        for server, resting in zip(servers, before):
            switches, nanoseconds = server.activity_since(resting)
            trial.record("idle-switches", server.name, switches)
            trial.record("idle-processor", server.name, nanoseconds / 1e6)
        for connection, woken in zip(connections, wake_ups):
            # Reading the figures wakes the server.
            trial.record("idle-wakeups", "countdownd", connection.call("GetStatus")["counters"]["wakeUps"] - woken - 1)

    trial.once("idle", [trial.countdownd() for _ in range(rounds)] + [trial.redis(*DURABLE) for _ in range(rounds)],
               measure)


def programs(trial):
    def measure():
        with trial.countdownd() as ours, trial.redis() as theirs:
            environment = {"COUNTDOWND_SOCKET": ours.socket, "PATH": os.environ["PATH"], "TZ": "UTC0"}
            own = os.path.join(os.path.abspath(trial.programs), "countdownctl")
            other = [shutil.which("redis-cli"), "-s", theirs.socket, "PTTL", "tea"]
            trial.connect(ours).call("Start", {"key": "tea", "durationUSec": 3_600_000_000})
            theirs.ask("SET tea v PX 3600000")
            signal.alarm(PATIENCE)
            commands = {"show": [own, "show", "tea"], "is-running": [own, "is-running", "tea"],
                        "start": [own, "start", "tea", "1h"]}
            *taken_by_ours, answered = run_in_turn([*commands.values(), other], trial.sizes.programs, environment)
            signal.alarm(0)
            for line, taken in zip(commands, taken_by_ours):
                trial.record(line, "countdownd", statistics.median(taken))
                trial.record(line, "redis", statistics.median(answered))
    trial.in_turn("programs", measure)
