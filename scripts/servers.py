"""What `bench` and the trials share: servers on private directories, connections to them, and the options that all scripts have."""

import argparse
import ctypes
import glob
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Seconds in which a server has to be ready, or to answer.
PATIENCE = 120


def parser_of(doc, names=(), daemon="bin/countdownd"):
    """A parser of the options --daemon and, if a script measures several things, of the names of those to measure."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daemon", type=program, default=os.path.join(ROOT, daemon), help=f"instead of {daemon}")
    if names:
        parser.add_argument("names", nargs="*", type=lambda name: one_of(names, name), default=list(names),
                            metavar="NAME", help="of: " + ", ".join(names))
    return parser


def one_of(names, name):
    if name not in names:
        raise argparse.ArgumentTypeError(f"invalid name '{name}': use {', '.join(names)}")
    return name


def program(path):
    """The whole path of an executable, by its name or path."""
    found = shutil.which(path)
    if found is None:
        raise argparse.ArgumentTypeError(f"there is no program '{path}': build it, or install its package")
    return os.path.abspath(found)


def need(*programs):
    """Ends the script if a program is not there."""
    for name in programs:
        try:
            program(name)
        except argparse.ArgumentTypeError as error:
            sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")


def need_inotify():
    """Fails if a daemon would get no inotify instance, because it would look after its files in another way."""
    descriptor = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:
        raise RuntimeError("all inotify instances are in use: end other programs, or raise fs.inotify.max_user_instances")
    os.close(descriptor)


def wait_until(is_so, what, seconds=PATIENCE, pause=0.002):
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"not after {seconds} s: {what}")
        time.sleep(pause)


def listens(path):
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(path) == 0


def temporary():
    return tempfile.TemporaryDirectory(prefix="countdownd-")


def lines_of(path):
    """The values of a file in /proc that has a name and a value in each line."""
    with open(path) as file:
        return dict(line.split(":", 1) for line in file)


class Server:
    """A process that listens on a socket, from when it is ready until the end of the `with` statement."""

    def __init__(self, command, is_ready, environment=None, log=None):
        begin = time.monotonic()
        self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            wait_until(lambda: self.process.poll() is not None or is_ready(), f"{command[0]} is ready")
            if self.process.poll() is not None:
                raise RuntimeError(f"{command[0]} ended with {self.process.returncode} before it was ready")
        except BaseException:
            self.end(signal.SIGKILL)
            raise
        self.seconds_to_ready = time.monotonic() - begin

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, how=signal.SIGTERM):
        """Ends the process if it runs, and returns its exit code."""
        self.process.send_signal(how)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def resident_bytes(self, greatest=False):
        """Its memory now, or the most that it has had."""
        size = lines_of(f"/proc/{self.process.pid}/status")["VmHWM" if greatest else "VmRSS"]
        return int(size.split()[0]) * 1024

    def activity(self):
        """How often its threads have gone to sleep, and the nanoseconds for which they have run."""
        switches = nanoseconds = 0
        for thread in glob.glob(f"/proc/{self.process.pid}/task/*"):
            switches += int(lines_of(f"{thread}/status")["voluntary_ctxt_switches"])
            with open(f"{thread}/schedstat") as file:
                nanoseconds += int(file.read().split()[0])
        return switches, nanoseconds


class Daemon(Server):
    """A daemon on a private directory, which says by systemd's protocol when it is ready."""

    # The column of its figures, and what it speaks.
    name = dialect = "countdownd"

    def __init__(self, executable, directory, *arguments, under=(), log=None):
        """Runs the executable by itself, or as the argument of a tool that observes it."""
        self.socket = os.path.join(directory, "socket")
        notify = os.path.join(directory, f"notify-{time.monotonic_ns()}")
        managed = ("WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID")
        environment = {name: value for name, value in os.environ.items() if name not in managed}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(notify)
            listener.settimeout(1)
            super().__init__(
                [*under, executable, "--socket", self.socket, "--state-directory", os.path.join(directory, "state"),
                 "--log-level", "warning", *arguments],
                lambda: says_ready(listener), {**environment, "NOTIFY_SOCKET": notify}, log,
            )


def says_ready(listener):
    try:
        return b"READY=1" in listener.recv(4096)
    except TimeoutError:
        return False


class Refused(Exception):
    """A call was answered with an error."""


class Channel:
    """A connection to a Unix socket or to a port of this machine, over which requests and replies go as bytes."""

    def __init__(self, address, end=b"\0"):
        self.socket = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        self.socket.connect(address if isinstance(address, str) else ("127.0.0.1", address))
        self.socket.settimeout(PATIENCE)
        if not isinstance(address, str):
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.end, self.rest = end, b""

    def read(self):
        """More bytes, after those that no reply was made of yet."""
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the server has closed the connection")
        self.rest += data

    def ask(self, request=b""):
        """The bytes of a reply up to its end, which are not looked at."""
        self.socket.sendall(request)
        while not self.rest.endswith(self.end):
            self.read()
        reply, self.rest = self.rest, b""
        return reply

    def skip(self, text, count=1):
        """Reads until this text has come as often."""
        while (found := self.rest.count(text)) < count:
            count -= found
            self.rest = self.rest.rpartition(text)[2][1 - len(text):]
            self.read()
        self.rest = self.rest.rpartition(text)[2]


def encode(method, parameters, **flags):
    return json.dumps({"method": "io.countdownd." + method, "parameters": parameters, **flags}).encode() + b"\0"


class Connection(Channel):
    """A connection to a daemon, whose replies are read."""

    def send(self, method, parameters, **flags):
        self.socket.sendall(encode(method, parameters, **flags))

    def receive(self):
        """The parameters of the next reply."""
        while b"\0" not in self.rest:
            self.read()
        message, self.rest = self.rest.split(b"\0", 1)
        reply = json.loads(message)
        if "error" in reply:
            raise Refused(message.decode())
        self.continues = reply.get("continues", False)
        return reply["parameters"]

    def call(self, method, **parameters):
        self.send(method, parameters)
        return self.receive()

    def list(self, **parameters):
        """The countdowns of all pages."""
        self.send("List", parameters, more=True)
        continues = True
        while continues:
            yield from self.receive()["countdowns"]
            continues = self.continues

    def watch(self, **parameters):
        """The events of a watch, as they come."""
        self.send("Watch", parameters, more=True)
        return itertools.chain.from_iterable(self.receive()["events"] for _ in itertools.count())


def start_many(path, count, prefix, first_usec=3_600_000_000, step_usec=0):
    """Starts countdowns as fast as the daemon takes them, a thousand calls in a write."""
    connection = Connection(path)
    for begin in range(0, count, 1000):
        connection.socket.sendall(b"".join(
            b'{"method":"io.countdownd.Start","parameters":{"key":"%s%08d","durationUSec":%d},"oneway":true}\0'
            % (prefix, number, first_usec + number * step_usec)
            for number in range(begin, min(begin + 1000, count))
        ))
    connection.call("GetStatus")
