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
import threading
import time
import types

from measuring import PATIENCE, ROOT, Connection, Daemon, Refused, Server, wait_until

from benchmark.trial import DURABLE, Redis, temporary

HOUR = 3_600_000_000
# Connections, calls per write, and the number of calls.
SHAPES = {"1": (1, 1, 5_000), "50": (50, 1, 50_000), "50x32": (50, 32, 100_000)}
FOREVER = 1 << 52
# A record as a daemon writes it.
RECORD = json.dumps({"kind": "started", "state": "running", "deadline": FOREVER, "clock": "elapsed", "duration": HOUR,
                     "start": FOREVER - HOUR})
SCRIPT = os.path.join(ROOT, "FleetBridge/Sources/FleetBridge/propose.lua")


class Bridge(Server):
    def __init__(self, trial, directory, port, namespace="fleet"):
        self.socket = os.path.join(directory, "bridge")
        url = os.path.join(directory, "url")
        with open(url, "w") as file:
            file.write(f"redis://127.0.0.1:{port}/?namespace={namespace}\n")
        super().__init__([os.path.join(trial.programs, "countdownd-redis"), "--url-file", url, "--listen", self.socket],
                         self.is_ready)

    def is_ready(self):
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(self.socket) == 0


class Plain:
    """A connection that sends bytes and reads replies up to their end, without looking at them."""

    def __init__(self, family, address, end):
        self.socket = socket.socket(family)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(address)
        if family == socket.AF_INET:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.end = end

    def ask(self, request):
        self.socket.sendall(request)
        reply = self.socket.recv(1 << 16)
        while not reply.endswith(self.end):
            reply += self.socket.recv(1 << 16)
        return reply


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def resp(*words):
    encoded = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def varlink(method, **parameters):
    return json.dumps({"method": method, "parameters": parameters}).encode() + b"\0"


@contextlib.contextmanager
def engine():
    port = free_port()
    with temporary() as directory, Redis(directory, "--port", str(port), *DURABLE) as server:
        server.port = port
        yield server


@contextlib.contextmanager
def host(trial, server):
    """A daemon of the fleet with its bridge, once it follows the fleet."""
    with temporary() as directory, Bridge(trial, directory, server.port) as bridge, \
            Daemon(os.path.join(trial.programs, "countdownd"), directory, "--backend", bridge.socket) as daemon:
        wait_until(lambda: is_known(daemon), "the daemon follows the fleet")
        yield daemon


def is_known(daemon):
    try:
        Connection(daemon.socket).call("List")
        return True
    except Refused:
        return False


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


def load_script(connection):
    with open(SCRIPT) as file:
        return connection.ask(resp("SCRIPT", "LOAD", file.read())).split(b"\r\n")[1].decode()


def changes(script, names, record="{}"):
    """The words of a call of the script that makes a record under a new key for each name."""
    keys = (f"cd:{{script/0}}:{name}" for name in ("now", "due", "version", "log", "origin"))
    proposals = ((f"k{name}", "", 0, FOREVER, FOREVER, name, record) for name in names)
    return "EVALSHA", script, 5, *keys, 65_536, *(word for proposal in proposals for word in proposal)


def hops(trial):
    """The median of one call after the other: at Redis, at its script, at the bridge and at the daemon."""
    with engine() as redis, host(trial, redis) as daemon, temporary() as directory, \
            Bridge(trial, directory, redis.port, namespace="hops") as bridge:
        tcp = Plain(socket.AF_INET, ("127.0.0.1", redis.port), b"\r\n")
        script = load_script(tcp)
        to_bridge = Plain(socket.AF_UNIX, bridge.socket, b"\0")
        to_daemon = Plain(socket.AF_UNIX, daemon.socket, b"\0")
        wait_until(lambda: b"error" not in to_bridge.ask(varlink("io.countdownd.Backend.Describe")), "the bridge is connected")

        def of_script(number):
            return tcp.ask(resp(*changes(script, [f"i.{number}"])))

        def of_bridge(number):
            proposal = {"key": f"k{number}", "expected": "", "notBeforeUSec": 0, "notAfterUSec": FOREVER,
                        "dueUSec": FOREVER, "id": f"i.{number}", "record": "{}"}
            return to_bridge.ask(varlink("io.countdownd.Backend.Propose", shard=0, proposals=[proposal]))

        asked = {
            "engine": lambda number: tcp.ask(resp("SET", f"hop/{number}", "v", "NX", "PX", 3_600_000)),
            "script": of_script,
            "bridge": of_bridge,
            "daemon": lambda number: to_daemon.ask(varlink("io.countdownd.Start", key=f"hop/{number}", durationUSec=HOUR)),
        }
        taken = {hop: [] for hop in asked}
        for number in range(trial.size(3_000)):
            for hop, ask in asked.items():
                begin = time.perf_counter()
                reply = ask(number)
                taken[hop].append((time.perf_counter() - begin) * 1e6)
                if not any(made in reply for made in (b"+OK", b"won", b"started")):
                    raise RuntimeError(f"{hop} answered {reply!r}")
    for hop, times in taken.items():
        trial.record(f"fleet-hop-{hop}", "countdownd", statistics.median(times))
    trial.record("fleet-p50", "countdownd", statistics.median(taken["daemon"]))
    trial.record("fleet-p50", "redis", statistics.median(taken["engine"]))


def far(trial):
    """The median of one call after the other if the network takes half a millisecond in each direction."""
    with engine() as redis, distant(redis) as server, host(trial, server) as daemon:
        to_redis = Plain(socket.AF_INET, ("127.0.0.1", server.port), b"\r\n")
        to_daemon = Plain(socket.AF_UNIX, daemon.socket, b"\0")
        asked = {
            "redis": lambda number: to_redis.ask(resp("SET", f"far/{number}", "v", "NX", "PX", 3_600_000)),
            "countdownd": lambda number: to_daemon.ask(varlink("io.countdownd.Start", key=f"far/{number}", durationUSec=HOUR)),
        }
        taken = {name: [] for name in asked}
        for number in range(trial.size(1_000)):
            for name, ask in asked.items():
                begin = time.perf_counter()
                ask(number)
                taken[name].append((time.perf_counter() - begin) * 1e6)
    for name, times in taken.items():
        trial.record("fleet-far-p50", name, statistics.median(times))


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
                pair = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
                for end in pair:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
    selector = selectors.DefaultSelector()
    for place, daemon in enumerate(daemons):
        connection = Connection(daemon.socket)
        for event in connection.watch(match=[f"{prefix}*"], tickUSec=0):
            if event["type"] == "synced":
                break
        selector.register(connection.socket, selectors.EVENT_READ, (place, connection))

    def read():
        for key, _ in selector.select(PATIENCE):
            place, connection = key.data
            connection.read()
            now = time.time()
            *replies, connection.rest = connection.rest.split(b"\0")
            for reply in replies:
                yield now, place, reply
    with contextlib.closing(selector):
        yield read


def spread(trial):
    """When the watchers of the other hosts hear of a change, and when all hosts end a countdown."""
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(engine())
        daemons = [stack.enter_context(host(trial, redis)) for _ in range(3)]
        caller = Plain(socket.AF_UNIX, daemons[0].socket, b"\0")
        heard = []
        with watchers(daemons[1:], "heard/") as read:
            for number in range(trial.size(1_000)):
                begin, missing = time.time(), {0, 1}
                caller.ask(varlink("io.countdownd.Start", key=f"heard/{number}", durationUSec=HOUR))
                while missing:
                    for now, place, _ in read():
                        heard.append((now - begin) * 1e6)
                        missing.discard(place)
        trial.record("fleet-heard-p50", "countdownd", statistics.median(heard))
        trial.record("fleet-heard-p99", "countdownd", quantile(heard, 99))
        record_ends(trial, daemons, caller)


def record_ends(trial, daemons, caller):
    count = trial.size(1_000)
    with watchers(daemons, "end/") as read:
        first = int(time.time() * 1e6) + 2_000_000 + 1_000 * count
        deadlines = {f"end/{number}": first + 2_000 * number for number in range(count)}
        for key, deadline in deadlines.items():
            caller.ask(varlink("io.countdownd.Start", key=key, deadlineUSec=deadline))
        replies, missing = [], count * len(daemons)
        while missing > 0:
            for reply in read():
                replies.append(reply)
                missing -= reply[2].count(b'"type":"finished"')
    ended = {key: {} for key in deadlines}
    for now, place, reply in replies:
        for event in json.loads(reply)["parameters"]["events"]:
            if event["type"] == "finished":
                ended[event["key"]][place] = now * 1e6
    late = [instant - deadlines[key] for key, places in ended.items() for instant in places.values()]
    trial.record("fleet-late-p50", "countdownd", statistics.median(late))
    trial.record("fleet-late-p99", "countdownd", quantile(late, 99))
    trial.record("fleet-apart-p99", "countdownd", quantile([max(p.values()) - min(p.values()) for p in ended.values()], 99))


def quantile(values, percent):
    return statistics.quantiles(values, n=100)[percent - 1]


def deliveries(trial):
    """The processor time of Redis for each message to each subscriber, with one change in a message and with 64."""
    hosts, calls = trial.size(1_000), trial.size(200)
    with engine() as redis, contextlib.ExitStack() as stack:
        tcp = Plain(socket.AF_INET, ("127.0.0.1", redis.port), b"\r\n")
        script = load_script(tcp)

        def spent(depth, lap):
            _, begin = redis.activity()
            for call in range(calls):
                tcp.ask(resp(*changes(script, [f"{lap}.{depth}.{call}.{n}" for n in range(depth)], RECORD)))
            return redis.activity()[1] - begin

        alone = {depth: spent(depth, "alone") for depth in (1, 64)}
        stack.enter_context(subscribers(redis, hosts))
        for depth in alone:
            trial.record(f"fleet-delivery-{depth}", "countdownd", (spent(depth, "all") - alone[depth]) / calls / hosts / 1e3)


@contextlib.contextmanager
def subscribers(redis, count):
    """Connections that subscribe to the changes, and a thread that reads from all of them."""
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        for _ in range(count):
            plain = Plain(socket.AF_INET, ("127.0.0.1", redis.port), b"\r\n")
            stack.enter_context(plain.socket)
            plain.ask(resp("SSUBSCRIBE", "cd:{script/0}:log"))
            selector.register(plain.socket, selectors.EVENT_READ)
        is_over = threading.Event()

        def read():
            while not is_over.is_set():
                for key, _ in selector.select(0.1):
                    key.fileobj.recv(1 << 16)
        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield
        finally:
            is_over.set()
            reader.join()


def rest(trial):
    """A daemon of a fleet in which nothing changes."""
    with engine() as redis, host(trial, redis) as daemon:
        trial.fill(daemon, 1_000)
        time.sleep(10)
        connection = Connection(daemon.socket)
        woken = connection.call("GetStatus")["counters"]["wakeUps"]
        time.sleep(1)
        commands = commands_of(redis)
        time.sleep(trial.size(60))
        trial.record("fleet-commands", "countdownd", commands_of(redis) - commands - 1)
        # The call that asks wakes it once.
        trial.record("fleet-wakeups", "countdownd", connection.call("GetStatus")["counters"]["wakeUps"] - woken - 1)


def commands_of(redis):
    connection = Plain(socket.AF_INET, ("127.0.0.1", redis.port), b"\r\n")
    lines = connection.ask(resp("INFO", "stats")).decode().splitlines()
    return int(next(line for line in lines if line.startswith("total_commands_processed:")).split(":")[1])


def million(trial):
    """A new host of a fleet with very many countdowns: when it has them, and the longest answer meanwhile."""
    count = trial.size(1_000_000)
    with engine() as redis:
        fill = """
            local now = redis.call('TIME')[1] * 1000000
            for number = ARGV[1], ARGV[2] do
                redis.call('HSET', KEYS[1], string.format('bench/%014d', number), string.format(
                    '%.0f %032x.%d {"kind":"started","state":"running","clock":"elapsed","duration":3600000000,' ..
                    '"deadline":%.0f,"start":%.0f}', now + number, 1, number, now + 3600000000, now))
            end
            redis.call('SET', KEYS[2], string.format('%.0f', now + ARGV[2]))
            return 1"""
        tcp = Plain(socket.AF_INET, ("127.0.0.1", redis.port), b"\r\n")
        for first in range(1, count + 1, 10_000):
            last = min(first + 9_999, count)
            reply = tcp.ask(resp("EVAL", fill, 2, "cd:{fleet/0}:now", "cd:{fleet/0}:version", first, last))
            if reply != b":1\r\n":
                raise RuntimeError(reply.decode())
        with temporary() as directory, Bridge(trial, directory, redis.port) as bridge, \
                Daemon(os.path.join(trial.programs, "countdownd"), directory, "--backend", bridge.socket) as daemon:
            begin, longest = time.perf_counter(), 0
            connection = Plain(socket.AF_UNIX, daemon.socket, b"\0")
            while True:
                asked = time.perf_counter()
                reply = connection.ask(varlink("io.countdownd.Get", key="bench/00000000000001"))
                longest = max(longest, time.perf_counter() - asked)
                if b"error" not in reply:
                    break
                if time.perf_counter() - begin > 4 * PATIENCE:
                    raise RuntimeError(reply.decode())
                time.sleep(0.0005)
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
    with engine() as redis, host(trial, redis) as daemon:
        def asked(key, burst):
            most = TOKEN * burst
            return {
                "countdownd": varlink("io.countdownd.Start", key=key, durationUSec=TOKEN, ifRunning="extend", upToUSec=most),
                "redis": resp("EVAL", GCRA, 1, key, TOKEN, most),
            }

        def connect(name):
            if name == "redis":
                return Plain(socket.AF_INET, ("127.0.0.1", redis.port), b"\r\n")
            return Plain(socket.AF_UNIX, daemon.socket, b"\0")

        for name, request in asked("burst", 300).items():
            connections = [connect(name) for _ in range(300)]
            begin = time.perf_counter()
            for connection in connections:
                connection.socket.sendall(request)
            accepted = sum(is_accepted(connection.ask(b"")) for connection in connections)
            trial.record("fleet-rate-burst", name, (time.perf_counter() - begin) * 1e6)
            if accepted != 300:
                raise RuntimeError(f"{name} accepted {accepted} of a burst of 300")
        for name, request in asked("flood", 10).items():
            times = refusals([connect(name) for _ in range(20)], request, trial.size(1_000))
            trial.record("fleet-rate-refused", name, statistics.median(times))


def refusals(connections, request, count):
    """The times of the refused ones of many calls, one each 2.5 ms on any connection that is free."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        free, sent, refused = list(connections), {}, []
        begin = time.perf_counter()
        for number in range(count):
            until = begin + number * 0.0025
            while not free or time.perf_counter() < until:
                for key, _ in selector.select(max(0, until - time.perf_counter()) if free else PATIENCE):
                    reply, now = key.data.ask(b""), time.perf_counter()
                    if not is_accepted(reply):
                        refused.append((now - sent[key.data]) * 1e6)
                    free.append(key.data)
            connection = free.pop()
            sent[connection] = time.perf_counter()
            connection.socket.sendall(request)
    return refused


def is_accepted(reply):
    if reply in (b":1\r\n", b":0\r\n"):
        return reply == b":1\r\n"
    if b'"outcome"' in reply or b"AlreadyRunning" in reply:
        return b"AlreadyRunning" not in reply
    raise RuntimeError(f"neither accepted nor refused: {reply!r}")


def fleet(trial):
    for measure in start, hops, far, rates, spread, deliveries, rest, million:
        measure(trial)
