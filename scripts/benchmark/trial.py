"""The servers of a trial, the load on them, and the results."""

import contextlib
import json
import os
import resource
import statistics
import subprocess

from servers import Channel, Daemon, Server, listens, program, temporary

# As shipped, a stored change is written to the disk once a second; the snapshots of `save` are off.
DURABLE = ("--appendonly", "yes", "--appendfsync", "everysec")
# Events of expired keys, which are off by default in Redis.
EVENTS = ("--notify-keyspace-events", "Ex")


class Redis(Server):
    """A Redis on a private directory, ready when it answers PING: it takes connections before it has loaded."""

    name = dialect = "redis"

    def __init__(self, directory, *arguments):
        self.socket = os.path.join(directory, "redis")
        super().__init__([program("redis-server"), "--port", "0", "--unixsocket", self.socket, "--dir", directory,
                          "--logfile", "redis.log", "--save", "", *arguments], self.is_ready)

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.ask("PING") == b"+PONG\r\n"

    def ask(self, command):
        """What it answers to a command, as it is on the wire."""
        channel = Channel(self.socket, b"\r\n")
        with channel.socket:
            return channel.ask(command.encode() + b"\r\n")


class Floor(Server):
    """A part of the load generator that answers it as the daemon does."""

    name = dialect = "countdownd"

    def __init__(self, command, directory):
        self.socket = os.path.join(directory, "floor")
        super().__init__([*command, "--socket", self.socket], lambda: listens(self.socket))


class Before(Daemon):
    """An older daemon, in the place and the column of Redis."""

    name, dialect = "redis", "countdownd"


class Trial:
    def __init__(self, programs, load, quick, before=None):
        self.programs, self.load_program, self.quick, self.before = programs, load, quick, before
        # By name and server, the values of every round.
        self.values = {}
        # A thousand connections, and the descriptors of Python and the servers.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))

    def size(self, whole):
        """The size of a measure; a quick trial only shows that everything works."""
        return max(1, whole // 20) if self.quick else whole

    def record(self, name, server, value):
        self.values.setdefault((name, server), []).append(value)

    def median(self, name, server):
        values = self.values.get((name, server))
        return statistics.median(values) if values else None

    def countdownd(self, directory=None):
        return serving(lambda path: Daemon(os.path.join(self.programs, "countdownd"), path), directory)

    def redis(self, *arguments, directory=None):
        """Redis, or the older daemon that is measured instead of it."""
        if self.before:
            return serving(lambda path: Before(os.path.join(self.before, "countdownd"), path), directory)
        return serving(lambda path: Redis(path, *arguments), directory)

    def burst(self):
        return serving(lambda path: Floor([self.load_program, "burst"], path))

    def start_load(self, measure, server=None, **options):
        command = [self.load_program, measure]
        if server is not None:
            options |= {"server": server.dialect, "socket": server.socket, "pid": server.process.pid}
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        """The figures of a load that was started."""
        try:
            output, errors = process.communicate(timeout=300)
        finally:
            process.kill()
        if process.returncode != 0:
            raise RuntimeError(errors.strip() or f"countdown-load ended with {process.returncode}")
        return json.loads(output)

    def load(self, measure, server=None, **options):
        return self.finish(self.start_load(measure, server, **options))

    def fill(self, server, count, first=0):
        """Starts this many countdowns as fast as the server accepts them."""
        self.load("calls", server, call="start", connections=50, depth=32, count=count, first=first)


@contextlib.contextmanager
def serving(start, directory=None):
    """A server on that directory, or on one of its own."""
    with contextlib.ExitStack() as stack:
        directory = directory or stack.enter_context(temporary())
        yield stack.enter_context(start(directory))
