"""A key that is handed from client to client: the calls and wake-ups that one hand-over takes."""

import contextlib
import selectors
import statistics
import time

from servers import PATIENCE, Channel, encode

# Each client holds the key this long, in milliseconds.
HOLD = 20
# The pause of a Redis client between two attempts, in seconds.
INTERVAL = 0.1
QUEUE = encode("Start", {"key": "bench", "durationUSec": HOLD * 1000, "ifRunning": "wait"})
ATTEMPT = f"SET bench v NX PX {HOLD}\r\n".encode()


class Clients:
    """Many connections in one thread, and what all of them have done."""

    def __init__(self, server, count, stack):
        self.selector = stack.enter_context(selectors.DefaultSelector())
        self.sockets = [stack.enter_context(Channel(server.socket).socket) for _ in range(count)]
        for client in self.sockets:
            self.selector.register(client, selectors.EVENT_READ)
        # A wake-up is a message that a client receives, or the end of its pause: as many as if each were a program.
        self.calls = self.wakeups = 0
        # When each hand-over was noticed.
        self.starts = []

    def call(self, client, request):
        self.calls += 1
        client.sendall(request)

    def receive(self, end, start, timeout=PATIENCE):
        """The clients that have received something, with the bytes, in which ends of messages and starts are counted."""
        for key, _ in self.selector.select(timeout):
            data = key.fileobj.recv(1 << 16)
            if not data:
                raise EOFError("the server has closed a connection")
            self.wakeups += data.count(end)
            self.starts += [time.monotonic()] * data.count(start)
            yield key.fileobj, data


def queue(clients, wanted):
    """Every client queues, and the daemon answers one after the other."""
    for client in clients.sockets:
        clients.call(client, QUEUE)
    while len(clients.starts) < wanted:
        list(clients.receive(b"\0", b'"outcome":"started"'))
    # The calls of clients that still wait are for later hand-overs.
    clients.calls = len(clients.starts)


def poll(clients, wanted):
    """Every client tries again after an interval until it has the key; the attempts are spread over the interval."""
    waiting, count = set(clients.sockets), len(clients.sockets)
    begin, tried = time.monotonic(), 0
    while len(clients.starts) < wanted:
        due = int((time.monotonic() - begin) / INTERVAL * count)
        for number in range(tried, due):
            if (client := clients.sockets[number % count]) in waiting:
                clients.wakeups += 1
                clients.call(client, ATTEMPT)
        tried = due
        for client, data in clients.receive(b"\r\n", b"+OK\r\n", INTERVAL / count):
            if data == b"+OK\r\n":
                waiting.discard(client)


def handover(trial):
    """Many clients want one key, each for a moment."""
    count = trial.size(1_000)

    def contend(serving, method):
        with serving as server, contextlib.ExitStack() as stack:
            clients = Clients(server, count, stack)
            method(clients, trial.size(200))
            starts = clients.starts
        idle = [(after - before) * 1e6 - HOLD * 1e3 for before, after in zip(starts, starts[1:])]
        trial.record("handover-calls", server.name, clients.calls / len(starts))
        trial.record("handover-wakeups", server.name, clients.wakeups / len(starts))
        trial.record("handover-idle", server.name, statistics.median(idle))

    contend(trial.countdownd(), queue)
    contend(trial.redis(), queue if trial.before else poll)
