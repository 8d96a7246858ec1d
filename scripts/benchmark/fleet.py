"""The lines of a fleet: daemons in front of one Redis, beside a program that calls the same Redis itself."""

import collections
import contextlib
import json
import multiprocessing
import os
import select
import selectors
import socket
import statistics
import time
import types

from benchmark.trial import DURABLE, Redis
from servers import PATIENCE, Channel, Connection, Daemon, Refused, Server, encode, listens, temporary, wait_until

HOUR = 3_600_000_000
# Connections, calls per write, and the number of calls.
SHAPES = {"1": (1, 1, 5_000), "50": (50, 1, 50_000), "50x32": (50, 32, 100_000)}


class Bridge(Server):
    def __init__(self, trial, directory, port):
        self.socket = os.path.join(directory, "bridge")
        url = os.path.join(directory, "url")
        with open(url, "w") as file:
            file.write(f"redis://127.0.0.1:{port}/\n")
        super().__init__([os.path.join(trial.programs, "countdownd-redis"), "--url-file", url, "--listen", self.socket],
                         lambda: listens(self.socket))


def to_redis(server):
    return Channel(server.port, b"\r\n")


def resp(*words):
    encoded = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def start_call(key, **parameters):
    return encode("Start", {"key": key, "durationUSec": HOUR, **parameters})


def set_call(key):
    return resp("SET", key, "v", "NX", "PX", HOUR // 1000)


@contextlib.contextmanager
def engine():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with temporary() as directory, Redis(directory, "--port", str(port), *DURABLE) as server:
        server.port = port
        yield server


@contextlib.contextmanager
def member(trial, server):
    """A daemon of the fleet with its bridge."""
    with temporary() as directory, Bridge(trial, directory, server.port) as bridge, \
            Daemon(os.path.join(trial.programs, "countdownd"), directory, "--backend", bridge.socket) as daemon:
        yield daemon


@contextlib.contextmanager
def host(trial, server):
    """The same, once it follows the fleet."""
    with member(trial, server) as daemon:
        wait_until(lambda: follows(daemon), "the daemon follows the fleet")
        yield daemon


def follows(daemon):
    with contextlib.suppress(Refused):
        return bool(Connection(daemon.socket).call("List"))


def start(trial):
    """Starts at a daemon of a fleet, and `SET NX PX` at the same Redis."""
    first = 0
    with engine() as redis, host(trial, redis) as daemon:
        for shape, (connections, depth, count) in SHAPES.items():
            for server in daemon, redis:
                told = trial.load("calls", server, call="start", connections=connections, depth=depth, first=first,
                                  count=trial.size(count))
                trial.record(f"fleet-start-{shape}", server.name, told["callsPerSecond"])
                first += count


def record_in_turn(trial, line, count, redis, daemon):
    """Makes many calls one after the other, by turns at each place."""
    taken = {"redis": [], "countdownd": []}
    calls = {"redis": (to_redis(redis), set_call), "countdownd": (Channel(daemon.socket), start_call)}
    for number in range(count):
        for place, (channel, call) in calls.items():
            request, begin = call(f"{line}/{number}"), time.perf_counter()
            reply = channel.ask(request)
            taken[place].append((time.perf_counter() - begin) * 1e6)
            if b"+OK" not in reply and b"started" not in reply:
                raise RuntimeError(f"{place} answered {reply!r}")
    for place, times in taken.items():
        trial.record(line, place, statistics.median(times))


def near(trial):
    """The median of one call after the other."""
    with engine() as redis, host(trial, redis) as daemon:
        record_in_turn(trial, "fleet-p50", trial.size(3_000), redis, daemon)


def far(trial):
    """The same if the network takes half a millisecond in each direction."""
    with engine() as redis, distant(redis) as server, host(trial, server) as daemon:
        record_in_turn(trial, "fleet-far-p50", trial.size(1_000), server, daemon)


@contextlib.contextmanager
def distant(redis):
    """The server behind a process that delivers everything half a millisecond later."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        relay = multiprocessing.Process(target=deliver_late, args=(listener, redis.port, 0.0005))
        relay.start()
        try:
            yield types.SimpleNamespace(port=listener.getsockname()[1])
        finally:
            relay.terminate()
            relay.join()


def deliver_late(listener, port, delay):
    others, held = {}, collections.deque()
    while True:
        until_due = max(0, held[0][0] - time.monotonic()) if held else None
        # Other than epoll, select waits for parts of a millisecond.
        for source in select.select([listener, *others], [], [], until_due)[0]:
            if source is listener:
                pair = listener.accept()[0], Channel(port).socket
                pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                others.update({pair[0]: pair[1], pair[1]: pair[0]})
            elif source in others:
                received = source.recv(1 << 16)
                if received:
                    held.append((time.monotonic() + delay, others[source], received))
                else:
                    del others[others.pop(source)]
        while held and held[0][0] <= time.monotonic():
            _, target, received = held.popleft()
            if target in others:
                target.sendall(received)


@contextlib.contextmanager
def watchers(daemons, prefix):
    """Watches at each daemon; the closure returns the next replies with the time and the place of each. They are decoded later,
    because that would delay the next ones."""
    with selectors.DefaultSelector() as selector:
        for place, daemon in enumerate(daemons):
            connection = Connection(daemon.socket)
            next(event for event in connection.watch(match=[f"{prefix}*"], tickUSec=0) if event["type"] == "synced")
            selector.register(connection.socket, selectors.EVENT_READ, (place, connection))

        def read():
            for key, _ in selector.select(PATIENCE):
                place, connection = key.data
                connection.read()
                now = time.time()
                *replies, connection.rest = connection.rest.split(b"\0")
                for reply in replies:
                    yield now, place, reply
        yield read


def spread(trial):
    """When the watchers of the other hosts hear of a change, and when all hosts end a countdown."""
    with engine() as redis, host(trial, redis) as first, host(trial, redis) as second, host(trial, redis) as third:
        caller, heard = Channel(first.socket), []
        with watchers((second, third), "heard/") as read:
            for number in range(trial.size(1_000)):
                begin, missing = time.time(), {0, 1}
                caller.ask(start_call(f"heard/{number}"))
                while missing:
                    for now, place, _ in read():
                        heard.append((now - begin) * 1e6)
                        missing.discard(place)
        record_quantiles(trial, "fleet-heard", heard)
        record_ends(trial, (first, second, third), caller)


def record_ends(trial, daemons, caller):
    count = trial.size(1_000)
    with watchers(daemons, "end/") as read:
        first = int(time.time() * 1e6) + 2_000_000 + 1_000 * count
        deadlines = {f"end/{number}": first + 2_000 * number for number in range(count)}
        for key, deadline in deadlines.items():
            caller.ask(encode("Start", {"key": key, "deadlineUSec": deadline}))
        replies, missing = [], count * len(daemons)
        while missing > 0:
            for reply in read():
                replies.append(reply)
                missing -= reply[2].count(b'"type":"finished"')
    ended = {key: [] for key in deadlines}
    for now, _, reply in replies:
        for event in json.loads(reply)["parameters"]["events"]:
            if event["type"] == "finished":
                ended[event["key"]].append(now * 1e6)
    record_quantiles(trial, "fleet-late", [each - deadlines[key] for key, instants in ended.items() for each in instants])
    trial.record("fleet-apart-p99", "countdownd", quantile([max(instants) - min(instants) for instants in ended.values()], 99))


def quantile(values, percent):
    return statistics.quantiles(values, n=100)[percent - 1]


def record_quantiles(trial, line, values):
    for percent in 50, 99:
        trial.record(f"{line}-p{percent}", "countdownd", quantile(values, percent))


FILL = """
    local now = redis.call('TIME')[1] * 1000000
    for number = ARGV[1], ARGV[2] do
        redis.call('HSET', KEYS[1], string.format('bench/%014d', number), string.format(
            '%.0f %032x.%d {"kind":"started","state":"running","clock":"elapsed","duration":3600000000,' ..
            '"deadline":%.0f,"start":%.0f}', now + number, 1, number, now + 3600000000, now))
    end
    redis.call('SET', KEYS[2], string.format('%.0f', now + ARGV[2]))
    return 1"""


def million(trial):
    """A new host of a fleet with very many countdowns: when it has them, and the longest answer meanwhile."""
    count, longest = trial.size(1_000_000), 0
    with engine() as redis:
        tcp = to_redis(redis)
        for first in range(1, count + 1, 10_000):
            last = min(first + 9_999, count)
            reply = tcp.ask(resp("EVAL", FILL, 2, "cd:{fleet/0}:now", "cd:{fleet/0}:version", first, last))
            if reply != b":1\r\n":
                raise RuntimeError(reply.decode())
        with member(trial, redis) as daemon:
            begin, channel, reply = time.perf_counter(), Channel(daemon.socket), b"error"
            while b"error" in reply:
                if time.perf_counter() - begin > 4 * PATIENCE:
                    raise RuntimeError(reply.decode())
                time.sleep(0.0005)
                asked = time.perf_counter()
                reply = channel.ask(encode("Get", {"key": "bench/00000000000001"}))
                longest = max(longest, time.perf_counter() - asked)
            trial.record("fleet-million", "countdownd", (time.perf_counter() - begin) * 1e6)
            trial.record("fleet-million-get", "countdownd", longest * 1e6)
            if Connection(daemon.socket).call("GetStatus")["running"] != count:
                raise RuntimeError("the daemon has not all countdowns")


# GCRA as programs call it at Redis: the key has the instant until which tokens are taken.
GCRA = """
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local free = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + ARGV[1]
    if free - now > tonumber(ARGV[2]) then return 0 end
    redis.call('SET', KEYS[1], string.format('%.0f', free), 'PX', math.ceil((free - now) / 1000))
    return 1"""
TOKEN = 20_000


def rates(trial):
    """A rate whose tokens come faster than the margin, and the script at the same Redis: a burst, and refusals in a flood."""
    def asked(key, burst):
        most = TOKEN * burst
        return {"countdownd": start_call(key, durationUSec=TOKEN, ifRunning="extend", upToUSec=most),
                "redis": resp("EVAL", GCRA, 1, key, TOKEN, most)}

    with engine() as redis, host(trial, redis) as daemon:
        def connect(name, count):
            return [to_redis(redis) if name == "redis" else Channel(daemon.socket) for _ in range(count)]

        for name, request in asked("burst", 300).items():
            channels = connect(name, 300)
            begin = time.perf_counter()
            for channel in channels:
                channel.socket.sendall(request)
            accepted = sum(is_accepted(channel.ask()) for channel in channels)
            trial.record("fleet-rate-burst", name, (time.perf_counter() - begin) * 1e6)
            if accepted != 300:
                raise RuntimeError(f"{name} accepted {accepted} of a burst of 300")
        for name, request in asked("flood", 10).items():
            times = refusals(connect(name, 20), request, trial.size(1_000))
            trial.record("fleet-rate-refused", name, statistics.median(times))


def refusals(channels, request, count):
    """The times of the refused ones of many calls, one each 2.5 ms on any channel that is free."""
    with selectors.DefaultSelector() as selector:
        for channel in channels:
            selector.register(channel.socket, selectors.EVENT_READ, channel)
        free, sent, refused = list(channels), {}, []
        begin = time.perf_counter()
        for number in range(count):
            until = begin + number * 0.0025
            while not free or time.perf_counter() < until:
                for key, _ in selector.select(max(0, until - time.perf_counter()) if free else PATIENCE):
                    reply, now = key.data.ask(), time.perf_counter()
                    if not is_accepted(reply):
                        refused.append((now - sent[key.data]) * 1e6)
                    free.append(key.data)
            channel = free.pop()
            sent[channel] = time.perf_counter()
            channel.socket.sendall(request)
    return refused


def is_accepted(reply):
    if reply in (b":1\r\n", b":0\r\n"):
        return reply == b":1\r\n"
    if b'"outcome"' in reply or b"AlreadyRunning" in reply:
        return b"AlreadyRunning" not in reply
    raise RuntimeError(f"neither accepted nor refused: {reply!r}")


def fleet(trial):
    for measure in start, near, far, rates, spread, million:
        measure(trial)
