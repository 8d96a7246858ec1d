"""Measures what hostile clients do to the others: how late a bystander's countdowns end meanwhile, how long its calls take, and
the memory.

Each attack meets a daemon of its own. The bystander ends a countdown every 5 ms all the time; `lateUSec` is what the daemon says
of each. The attacker is a process of its own and takes as much of the machine as it can get, which is in the figures; a second
bystander, a program that does nothing but to sleep until an instant every 5 ms, says how late the kernel lets anybody be.
With names, only these attacks are tried. Prints a table in Markdown.
"""

import contextlib
import itertools
import multiprocessing
import resource
import socket
import threading
import time
from functools import partial

from servers import PATIENCE, Connection, Daemon, Refused, encode, parser_of, start_many, temporary, wait_until

GET = encode("Get", {"key": "hostile/00000001"})
# How often a bystander looks, in microseconds.
STEP = 5_000
DAY = 86_400_000_000


def restart(key, label=""):
    return encode("Start", {"key": key, "ifRunning": "restart", "label": label}, oneway=True)


def push(peer, data):
    """Sends for ever, as fast as it is taken, until the connection is closed."""
    with contextlib.suppress(OSError):
        while True:
            peer.sendall(data)


def push_aside(connection, call):
    """Repeats a call in a thread."""
    threading.Thread(target=push, args=(connection.socket, call * 1000), daemon=True).start()


# An attack prepares itself until its first `yield`, after which it is measured, and goes on for as long as it wants.


def at_rest(path):
    yield


def never_reads(path):
    """Watches all without reading, while a second connection changes things as fast as it can; comes back for ever."""
    yield
    push_aside(Connection(path), restart("hostile", "x" * 1000))
    while True:
        watchers = [Connection(path) for _ in range(20)]
        for watcher in watchers:
            watcher.watch(tickUSec=0)
        time.sleep(1)


def reads_a_byte(path):
    """Reads a list of 100,000 a byte a millisecond, on a hundred connections."""
    start_many(path, 100_000, b"hostile/")
    yield
    readers = [Connection(path) for _ in range(100)]
    for reader in readers:
        reader.send("List", {}, more=True)
    while True:
        for reader in readers:
            reader.socket.recv(1)
        time.sleep(0.001)


def writes_a_byte(path):
    """Writes calls a byte at a time, as fast as it can, on a hundred connections."""
    writers = [Connection(path) for _ in range(100)]
    yield
    while True:
        for byte, writer in itertools.product(GET, writers):
            writer.socket.sendall(bytes([byte]))
        for writer in writers:
            writer.read()


def many_connections(path):
    """Opens 5,000 connections, then closes and opens them, as fast as it can."""
    yield
    while True:
        held = [Connection(path) for _ in range(5_000)]
        while held:
            held.pop().socket.close()


def endless_message(path):
    """Sends a gibibyte without a NUL, or as much of it as is taken, again and again."""
    yield
    while True:
        push(Connection(path).socket, b"{" * (1 << 16))


def pipelines(path, count, reads):
    """Sends calls on some connections as fast as they are taken, and reads all answers or none."""
    start_many(path, 10, b"hostile/")
    peers = [Connection(path) for _ in range(count)]
    for peer in peers:
        push_aside(peer, GET)
    yield
    while reads:
        for peer in peers:
            peer.socket.recv(1 << 20)


def ticks(path, reads):
    """Watches 100,000 countdowns every 10 ms, and reads everything or nothing."""
    start_many(path, 100_000, b"hostile/")
    watcher = Connection(path)
    watcher.watch(match=["*"], tickUSec=10_000)
    yield
    while reads and watcher.socket.recv(1 << 20):
        pass
    time.sleep(3600)


def disconnects(path):
    """Leaves in every state, as fast as it can: in a message, a list, the beginning of a watch, a wait, a page."""
    start_many(path, 10_000, b"hostile/")
    yield
    states = [
        lambda peer: peer.socket.sendall(GET[:30]),
        lambda peer: peer.send("List", {}, more=True),
        lambda peer: (peer.send("List", {}, more=True), peer.socket.recv(100)),
        lambda peer: peer.watch(),
        lambda peer: (peer.watch(tickUSec=10_000), peer.socket.recv(100)),
        lambda peer: peer.send("Wait", {"key": "hostile/00000001"}),
        lambda peer: (peer.watch(), peer.socket.shutdown(socket.SHUT_WR)),
        lambda peer: (peer.watch(), peer.socket.shutdown(socket.SHUT_RD)),
    ]
    for state in itertools.cycle(states):
        peer = Connection(path)
        state(peer)
        peer.socket.close()


def patterns(path):
    """Lists with 64 patterns of the worst kind over 10,000 keys of 255 bytes, and watches with them, while all changes."""
    start_many(path, 10_000, b"a" * 247)
    worst = ["*" + "a" * 126 + "b%d" % number for number in range(64)]
    watchers = [Connection(path) for _ in range(20)]
    for watcher in watchers:
        watcher.watch(match=worst, tickUSec=0)
    push_aside(Connection(path), restart("a" * 255))
    lister = Connection(path)
    yield
    while True:
        lister.send("List", {"match": worst}, more=True)
        lister.receive()


def watch_for_ever(path, selections):
    """Watches on a connection for each selection, as far as the daemon allows, and changes a countdown as fast as it can."""
    watchers = [Connection(path) for _ in selections]
    for watcher, selection in zip(watchers, selections):
        watcher.send("Watch", {"tickUSec": 0} | selection, more=True)
        with contextlib.suppress(Refused):
            watcher.receive()
    push_aside(Connection(path), restart("hostile"))
    yield
    time.sleep(3600)


def many_keys(path):
    """Watches 257 keys on each of 3,900 connections, all of them different."""
    return watch_for_ever(path, [{"keys": [f"hostile/{number}/{key}" for key in range(257)]} for number in range(3900)])


def short_patterns(path, form):
    """Watches with 64 short patterns on each of 1,020 connections, all of them different."""
    return watch_for_ever(path, [{"match": [form % (number * 64 + each) for each in range(64)]} for number in range(1020)])


def like_keys(path):
    """Starts a million countdowns whose keys of 255 bytes differ in the last eight alone."""
    yield
    start_many(path, 1_000_000, b"k" * 247)


def push_from_many(path, calls):
    """Repeats a call on each connection, as fast as it is taken."""
    for call in calls:
        push_aside(Connection(path), call)
    yield


def start_all(path):
    """Extends 16 cooldowns with each call, on 16 connections."""
    def cooldowns(number):
        return [{"key": f"hostile/{number}/{each}", "durationUSec": 1, "upToUSec": DAY} for each in range(16)]
    return push_from_many(path, [encode("StartAll", {"cooldowns": cooldowns(number)}, oneway=True) for number in range(16)])


def stored_text(path, method, gives_text=False, **parameters):
    """Changes 16 countdowns with as much text as is allowed, on 16 connections; the text is in the calls or not."""
    caller = Connection(path)
    text = {"label": "x" * 1024, "metadata": {f"name-{pair:03}": "x" * 120 for pair in range(32)}}
    keys = [f"hostile/{number}" for number in range(16)]
    for key in keys:
        caller.call("Start", key=key, durationUSec=DAY, **text)
    if gives_text:
        parameters |= text
    return push_from_many(path, [encode(method, {"key": key, **parameters}, oneway=True) for key in keys])


ATTACKS = {
    "at-rest": at_rest, "never-reads": never_reads, "reads-a-byte": reads_a_byte, "writes-a-byte": writes_a_byte,
    "connections": many_connections, "endless-message": endless_message,
    "pipelines": partial(pipelines, count=10, reads=False), "pipelines-and-reads": partial(pipelines, count=2, reads=True),
    "ticks": partial(ticks, reads=False), "ticks-and-reads": partial(ticks, reads=True), "disconnects": disconnects,
    "patterns": patterns, "many-keys": many_keys, "short-patterns": partial(short_patterns, form="hostile/%x*"),
    "tried-patterns": partial(short_patterns, form="*%x"), "like-keys": like_keys,
    "start-all": start_all, "stored-text": partial(stored_text, method="Adjust", byUSec=1),
    "text-in-calls": partial(stored_text, method="Start", gives_text=True, ifRunning="restart"),
}


def attack(name, path, ready):
    """Makes an attack until its process is killed."""
    for _ in ATTACKS[name](path):
        ready.set()
    time.sleep(3600)


class Bystander:
    """Ends a countdown every 5 ms; the daemon says how late each was. After each end it restarts a countdown, and notes how long that
    call takes, in microseconds."""

    def __init__(self, path):
        self.caller, self.taken = Connection(path), []
        self.starter = Connection(path)
        self.keys = [f"own/{number}" for number in range(200)]
        self.events = Connection(path).watch(keys=self.keys, tickUSec=0)
        while next(self.events)["type"] != "synced":
            pass

    def measure(self, count):
        """The keys come round again, so each countdown begins when the 200th before it has ended."""
        late = []
        for number, key in enumerate(self.keys):
            self.start(key, (number + 20) * STEP)
        while len(late) < count:
            event = next(self.events)
            if event["type"] == "finished":
                late.append(event["lateUSec"])
                begin = time.monotonic_ns()
                self.caller.call("Start", key="own/call", ifRunning="restart")
                self.taken.append((time.monotonic_ns() - begin) // 1000)
                self.start(event["key"], 200 * STEP)
        return late

    def start(self, key, duration):
        self.starter.send("Start", {"key": key, "durationUSec": duration, "forget": True}, oneway=True)


def sleep_and_note(connection):
    """Sleeps for 5 ms again and again, until it is asked how late the kernel woke it, in microseconds."""
    late = []
    while not connection.poll():
        wanted = time.monotonic_ns() + STEP * 1000
        time.sleep(STEP / 1e6)
        late.append((time.monotonic_ns() - wanted) // 1000)
    connection.send(late)


def lateness(values):
    ordered = sorted(values)
    return "%d, %d, %d" % (ordered[len(values) // 2], ordered[len(values) * 99 // 100], ordered[-1])


def run_aside(function, *arguments):
    process = multiprocessing.Process(target=function, args=arguments, daemon=True)
    process.start()
    return process


def try_attack(name, options, directory):
    """Returns the row of an attack."""
    with Daemon(options.daemon, directory) as daemon:
        before = daemon.resident_bytes()
        bystander, status = Bystander(daemon.socket), Connection(daemon.socket)
        ready = multiprocessing.Event()
        attacker = run_aside(attack, name, daemon.socket, ready)
        if not ready.wait(PATIENCE):
            raise TimeoutError(f"the attack {name} has not begun after {PATIENCE} s")
        ours, theirs = multiprocessing.Pipe()
        run_aside(sleep_and_note, theirs)
        late = bystander.measure(int(options.seconds * 1_000_000 / STEP))
        ours.send(None)
        slept = ours.recv()
        attacker.kill()
        wait_until(lambda: status.call("GetStatus")["connections"] <= 4, "the attacker's connections are closed")
        time.sleep(1)
        memory = [before, daemon.resident_bytes(greatest=True), daemon.resident_bytes()]
        assert daemon.process.poll() is None
        return (f"`scripts/bench hostile {name}`", lateness(late), lateness(bystander.taken), lateness(slept),
                ", ".join("%.1f" % (size / 2**20) for size in memory), str(status.call("GetStatus")["counters"]["slowPeers"]))


def main():
    parser = parser_of(__doc__, ATTACKS)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    # The attack `connections` opens 5,000.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))
    print("| command | lateness of ends | its calls take | lateness of a sleeping program | memory | disconnected |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in options.names:
        with temporary() as directory:
            print("| " + " | ".join(try_attack(name, options, directory)) + " |", flush=True)
