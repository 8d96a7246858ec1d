"""One run of all lines: servers, the load on them, and the results."""

import contextlib
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from measuring import PATIENCE, Connection, Daemon, Redis, Server

# As shipped, a stored change is written to the disk once a second; the snapshots of `save` are off.
DURABLE = ("--appendonly", "yes", "--appendfsync", "everysec")
# Events of expired keys, which are off by default in Redis.
TELLING = ("--notify-keyspace-events", "Ex")
# The errors of a round after which the next one continues.
FAILURES = (RuntimeError, OSError, EOFError, subprocess.TimeoutExpired)


class Sizes:
    """The sizes of the measures; a quick trial only shows that everything works."""

    def __init__(self, quick):
        self.many = 50_000 if quick else 1_000_000
        self.flood = 100_000 if quick else 2_000_000
        self.lone_seconds = 2 if quick else 20
        self.alone = 5_000 if quick else 100_000
        self.together = 10_000 if quick else 300_000
        self.pipelined = 50_000 if quick else 1_000_000
        self.endings = 5_000 if quick else 100_000
        self.spread = 1_000 if quick else 10_000
        self.changes = 640 if quick else 10_240
        self.waiters = 100 if quick else 1_000
        self.handovers = 20 if quick else 200
        self.watched_seconds = 2 if quick else 10
        self.idle_seconds = 3 if quick else 60
        self.programs = 5 if quick else 100
        self.timers = 2_000 if quick else 20_000
        self.keys = (1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
        self.connections = (1, 10, 100) if quick else (1, 10, 100, 1_000)


class Echo(Server):
    """Speaks to the load generator as the daemon does."""

    name = "countdownd"

    def __init__(self, trial, directory, call, length):
        self.socket = os.path.join(directory, "echo")
        self.process = trial.start_load("echo", socket=self.socket, call=call, bytes=length)
        until = time.monotonic() + PATIENCE
        while not self.is_listening():
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                raise RuntimeError(self.process.communicate()[1].strip())
            time.sleep(0.01)

    def is_listening(self):
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(self.socket) == 0


class Trial:
    def __init__(self, programs, load, rounds, quick):
        self.programs, self.load_program = programs, load
        self.rounds, self.sizes = rounds, Sizes(quick)
        # By name and server, the values of every round.
        self.values = {}
        self.failures = {}
        # A thousand connections, and the descriptors of Python and the servers.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))

    def record(self, name, server, value):
        self.values.setdefault(name, {}).setdefault(server, []).append(value)

    def median(self, name, server):
        values = self.values.get(name, {}).get(server)
        return statistics.median(values) if values else None

    def in_turn(self, line, *bodies):
        """Lets each body measure, A B A B; if one fails, its value is missing and the failure is printed."""
        for number in range(self.rounds):
            print(f"{time.strftime('%T')} {line}, round {number + 1} of {self.rounds}", file=sys.stderr, flush=True)
            for body in bodies:
                try:
                    body()
                except FAILURES as failure:
                    self.note_failure(line, failure)

    def on_both(self, line, measure, *redis):
        """Measures countdownd, and Redis with these arguments, in turn, each time on a fresh server."""
        def on(serving):
            with serving as server:
                measure(server)
        self.in_turn(line, lambda: on(self.countdownd()), lambda: on(self.redis(*redis)))

    def once(self, line, servers, body):
        """Lets the body measure all of these servers at the same time."""
        print(f"{time.strftime('%T')} {line}, all rounds at once", file=sys.stderr, flush=True)
        try:
            with contextlib.ExitStack() as stack:
                body([stack.enter_context(server) for server in servers])
        except FAILURES as failure:
            self.note_failure(line, failure)

    def note_failure(self, line, failure):
        print(f"bench: {line}: {failure}", file=sys.stderr, flush=True)
        self.failures.setdefault(line, []).append(str(failure))

    @contextlib.contextmanager
    def directory(self):
        path = tempfile.mkdtemp(prefix="countdownd-bench-")
        try:
            yield path
        finally:
            shutil.rmtree(path)

    @contextlib.contextmanager
    def countdownd(self, directory=None):
        with self.serving(lambda path: Daemon(os.path.join(self.programs, "countdownd"), path), directory) as server:
            yield server

    @contextlib.contextmanager
    def redis(self, *arguments, directory=None):
        with self.serving(lambda path: Redis(shutil.which("redis-server"), path, *arguments), directory) as server:
            yield server

    @contextlib.contextmanager
    def echo(self, directory, call):
        """A server that answers each call with as many bytes as the daemon does, and does nothing else."""
        with self.serving(lambda path: Echo(self, path, call, self.reply_bytes(call)), directory) as server:
            yield server

    def reply_bytes(self, call):
        with self.countdownd() as server:
            connection = self.connect(server)
            connection.send("Start", {"key": "bench/00000000000000", "durationUSec": 3_600_000_000})
            replies = [connection.receive_reply()]
            connection.send("Get", {"key": "bench/00000000000000"})
            replies.append(connection.receive_reply())
        # As it was on the wire, with the NUL.
        return len(json.dumps(replies[call == "get"], separators=(",", ":"))) + 1

    @contextlib.contextmanager
    def serving(self, start, directory):
        """A server on that directory, or on one of its own, which is ended afterwards."""
        with contextlib.ExitStack() as stack:
            server = start(directory or stack.enter_context(self.directory()))
            stack.callback(server.end)
            yield server

    def connect(self, countdownd):
        connection = Connection(countdownd.socket)
        connection.socket.settimeout(PATIENCE)
        return connection

    def load(self, measure, server=None, **options):
        return self.finish(self.start_load(measure, server, **options))

    def start_load(self, measure, server=None, **options):
        command = [self.load_program, measure]
        if server is not None:
            command += ["--server", server.name, "--socket", server.socket, "--pid", str(server.process.pid)]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        """The figures of a load that was started."""
        try:
            output, errors = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        if process.returncode != 0:
            raise RuntimeError(errors.strip() or f"countdown-load ended with {process.returncode}")
        return json.loads(output)

    def fill(self, server, count, first=0):
        """Starts this many countdowns as fast as the server accepts them."""
        return self.load("calls", server, call="start", connections=50, depth=32, count=count, first=first)
