"""What the measuring scripts share: servers of their own, a connection to the daemon, and figures."""

import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

# Seconds in which a server has to be ready, or to answer.
PATIENCE = 120


def find(name, folder=None, how=""):
    """The path of a program; where it is not there, the script ends and says how to have it."""
    path = shutil.which(name, path=folder)
    if path is None:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {name} is not there{f' in {folder}' if folder else ''}: {how}")
    return os.path.abspath(path)


class Server:
    """A process of its own that listens on a socket: what it takes of the machine, and its end."""

    def await_ready(self, is_ready, begin):
        """Asks again and again, and notes how long it took since the beginning; a server that is never ready is ended."""
        try:
            while not is_ready():
                if self.process.poll() is not None:
                    raise RuntimeError(f"{self.name} ended with {self.process.returncode} before it was ready")
                if time.monotonic() - begin > PATIENCE:
                    raise RuntimeError(f"{self.name} is not ready after {PATIENCE} s")
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.seconds_to_ready = time.monotonic() - begin

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def greatest_bytes(self):
        """The most resident memory that it has had."""
        with open(f"/proc/{self.process.pid}/status") as file:
            sizes = dict(line.split(":", 1) for line in file)
        return int(sizes["VmHWM"].split()[0]) * 1024

    def activity(self):
        """Of each thread, how often it has gone to sleep, and the nanoseconds for which it has run."""
        threads = {}
        for path in glob.glob(f"/proc/{self.process.pid}/task/*"):
            with open(f"{path}/status") as status, open(f"{path}/schedstat") as schedule:
                lines = dict(line.split(":", 1) for line in status)
                threads[path] = int(lines["voluntary_ctxt_switches"]), int(schedule.read().split()[0])
        return threads

    def activity_since(self, before):
        """What has come to these since then; a thread that has ended counts no more, a new one from its beginning."""
        since = [(now[0] - then[0], now[1] - then[1])
                 for path, now in self.activity().items() for then in [before.get(path, (0, 0))]]
        return sum(switches for switches, _ in since), sum(nanoseconds for _, nanoseconds in since)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


class Daemon(Server):
    """A daemon on a private directory, started and waited for by systemd's readiness protocol."""

    name = "countdownd"

    def __init__(self, executable, directory, *arguments, under=()):
        """Runs the executable by itself, or as the argument of a tool that observes it."""
        self.socket = os.path.join(directory, "socket")
        notify = os.path.join(directory, "notify")
        if os.path.exists(notify):
            os.unlink(notify)
        managed = ("WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID")
        environment = {name: value for name, value in os.environ.items() if name not in managed}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(notify)
            listener.settimeout(1)
            begin = time.monotonic()
            self.process = subprocess.Popen(
                [*under, executable, "--socket", self.socket, "--state-directory", os.path.join(directory, "state"),
                 "--log-level", "warning", *arguments],
                env={**environment, "NOTIFY_SOCKET": notify},
            )
            self.await_ready(lambda: self.says_ready(listener), begin)

    def says_ready(self, listener):
        try:
            return b"READY=1" in listener.recv(4096)
        except TimeoutError:
            return False


class Redis(Server):
    """A Redis on a private directory, waited for until it answers PING: it takes connections before it has loaded."""

    name = "redis"

    def __init__(self, executable, directory, *arguments):
        self.socket = os.path.join(directory, "redis")
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [executable, "--port", "0", "--unixsocket", self.socket, "--dir", directory, "--logfile", "redis.log",
             "--save", "", *arguments]
        )
        self.await_ready(self.is_ready, begin)

    def is_ready(self):
        with contextlib.suppress(OSError):
            if self.ask("PING") == b"+PONG\r\n":
                return True
        time.sleep(0.002)
        return False

    def ask(self, command):
        """What it answers to a command, as it is on the wire."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(self.socket)
            connection.sendall(command.encode() + b"\r\n")
            reply = connection.recv(1 << 16)
            while not reply.endswith(b"\r\n"):
                reply += connection.recv(1 << 16)
            return reply


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""

    def send(self, method, parameters, **flags):
        call = {"method": "io.countdownd." + method, "parameters": parameters, **flags}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive_reply(self):
        while b"\0" not in self.rest:
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError("the daemon has closed the connection")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def receive(self):
        return self.receive_reply()["parameters"]

    def call(self, method, parameters=None):
        self.send(method, parameters or {})
        return self.receive()


def start_many(path, count, prefix, first_usec, step_usec):
    """Starts countdowns as fast as the daemon takes them, a thousand calls in a write."""
    connection = Connection(path)
    for begin in range(0, count, 1000):
        connection.socket.sendall(b"".join(
            b'{"method":"io.countdownd.Start","parameters":{"key":"%s%08d","durationUSec":%d},"oneway":true}\0'
            % (prefix, number, first_usec + number * step_usec)
            for number in range(begin, min(begin + 1000, count))
        ))
    connection.call("GetStatus")


def run_program(command, environment, nothing):
    """The seconds from a program's start until it has ended; it reads from the descriptor and writes there."""
    actions = [(os.POSIX_SPAWN_DUP2, nothing, descriptor) for descriptor in range(3)]
    begin = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment, file_actions=actions)
    _, status = os.waitpid(process, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds


def run_in_turn(commands, runs, environment):
    """The milliseconds of each run of each program, A B A B; five runs before them are for the caches."""
    taken = [[] for _ in commands]
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in range(runs + 5):
        for place, command in enumerate(commands):
            seconds = run_program(command, environment, nothing)
            if number >= 5:
                taken[place].append(seconds * 1000)
    os.close(nothing)
    return taken


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def lateness(values):
    return "median %d µs, p99 %d µs, max %d µs" % (quantile(values, .5), quantile(values, .99), max(values))
