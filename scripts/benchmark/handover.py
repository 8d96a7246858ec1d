"""A key that is handed from client to client: the calls and wake-ups that one hand-over takes."""

import json
import selectors
import socket
import statistics
import time

from measuring import PATIENCE

from benchmark.trial import TELLING

# Each client holds the key this long, in milliseconds.
HOLD = 20
# The pause of a Redis client between two attempts, in seconds.
INTERVAL = 0.1
ATTEMPT = f"SET bench v NX PX {HOLD}\r\n".encode()


class Clients:
    """Many connections in one thread, and what all of them have done."""

    def __init__(self, path, count):
        self.selector = selectors.DefaultSelector()
        # A wake-up is a message that a client receives, or the end of its pause: as many as if each were a program.
        self.calls = self.wakeups = 0
        # When each hand-over was noticed.
        self.starts = []
        self.sockets = [self.connect(path) for _ in range(count)]

    def connect(self, path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection

    def listen(self, connection):
        connection.setblocking(False)
        self.selector.register(connection, selectors.EVENT_READ)

    def call(self, connection, request):
        self.calls += 1
        connection.send(request)

    def received(self, timeout):
        """The connections that have received something, with the bytes."""
        for key, _ in self.selector.select(timeout):
            data = key.fileobj.recv(1 << 16)
            if not data:
                raise EOFError("the server has closed a connection")
            yield key.fileobj, data

    def close(self):
        for connection in self.sockets:
            connection.close()
        self.selector.close()

    def record(self, trial, server, name):
        idle = [(after - before) * 1e6 - HOLD * 1e3 for before, after in zip(self.starts, self.starts[1:])]
        trial.record(f"{name}-calls", server, self.calls / len(self.starts))
        trial.record(f"{name}-wakeups", server, self.wakeups / len(self.starts))
        trial.record(f"{name}-idle", server, statistics.median(idle))


def queue(clients, wanted):
    """Every client queues, and the daemon answers one after the other."""
    request = {"key": "bench", "durationUSec": HOLD * 1000, "ifRunning": "wait"}
    call = json.dumps({"method": "io.countdownd.Start", "parameters": request}).encode() + b"\0"
    for connection in clients.sockets:
        clients.listen(connection)
        clients.call(connection, call)
    while len(clients.starts) < wanted:
        for _, data in clients.received(PATIENCE):
            clients.wakeups += data.count(b"\0")
            clients.starts += [time.monotonic()] * data.count(b'"outcome":"started"')
    # The calls of clients that still wait are for later hand-overs.
    clients.calls = len(clients.starts)


def poll(clients, wanted):
    """Every client tries again after an interval until it has the key; the attempts are spread over the interval."""
    waiting = list(clients.sockets)
    for connection in waiting:
        clients.listen(connection)
    begin, tried = time.monotonic(), 0
    while len(clients.starts) < wanted:
        due = int((time.monotonic() - begin) / INTERVAL * len(waiting))
        for number in range(tried, due):
            if (connection := waiting[number % len(waiting)]) is not None:
                clients.wakeups += 1
                clients.call(connection, ATTEMPT)
        tried = due
        for connection, data in clients.received(INTERVAL / len(waiting)):
            clients.wakeups += 1
            if data == b"+OK\r\n":
                clients.starts.append(time.monotonic())
                waiting[waiting.index(connection)] = None


def try_at_events(clients, wanted):
    """Every client tries when the server reports that the key has expired, on a second connection, because one that
    subscribes makes no other calls."""
    half = len(clients.sockets) // 2
    callers = dict(zip(clients.sockets[:half], clients.sockets[half:]))
    for subscriber, caller in callers.items():
        subscriber.sendall(b"SUBSCRIBE __keyevent@0__:expired\r\n")
        subscriber.recv(1 << 10)
        clients.listen(subscriber)
        clients.listen(caller)
    clients.call(clients.sockets[half], ATTEMPT)
    while len(clients.starts) < wanted:
        for connection, data in clients.received(PATIENCE):
            if connection in callers:
                for _ in range(data.count(b"bench\r\n")):
                    clients.wakeups += 1
                    clients.call(callers[connection], ATTEMPT)
            else:
                # A reply is "+OK" or "$-1".
                clients.wakeups += data.count(b"\r\n")
                clients.starts += [time.monotonic()] * data.count(b"+OK\r\n")


def handover(trial):
    """Many clients want one key, each for a moment."""
    count = trial.sizes.waiters

    def contend(serving, method, connections, *names):
        with serving as server:
            clients = Clients(server.socket, connections)
            try:
                method(clients, trial.sizes.handovers)
                for name in names:
                    clients.record(trial, server.name, name)
            finally:
                clients.close()

    trial.in_turn(
        "handover",
        lambda: contend(trial.countdownd(), queue, count, "handover", "handover-events"),
        lambda: contend(trial.redis(), poll, count, "handover"),
        lambda: contend(trial.redis(*TELLING), try_at_events, 2 * count, "handover-events"),
    )
