"""Counts the instructions of a call, an event or a stored countdown with callgrind, by function.

  start, get    a call; ten connections send 32 calls each time
  mixed         the same, with a Get after each Start
  lone-start    a Start of a client that waits for each reply
  ending        a countdown that ends, all of them in one instant, delivered to one watcher
  lone-ending   a Start of a client that waits for the end of the one before, and its end, delivered to one watcher
  tick          a tick at 1 Hz, all of them in the same instant of a second, delivered to one watcher
  delivery      a change of one key, delivered to one of 100 watchers, 32 changes at a time: its calls are counted too
  load          a stored countdown that is read at the start
  show          a run of the countdownctl beside the daemon, `countdownctl show KEY`

With --check, it fails if a count is more than 2 % above its budget in scripts/instruction-budgets. With --write, it writes the counts
there. Without both, it prints the functions that take most; callgrind's own files stay in .build/callgrind:
`callgrind_annotate --inclusive=yes .build/callgrind/get | swift demangle --simplified` adds to each function the functions
that it calls.

Needs valgrind, and programs with their symbols. A count does not depend on how busy or how fast the machine is, but on the compiler
and on the system's libraries: the budgets are for those of .github/workflows/ci.yml. So of the lone ones, only the daemon's turns
are counted: before a turn, the loop spins and sleeps for as long as the client takes. And each turn is counted by itself, and the
least counts: others have work that comes with the time, such as a base of the store, or a turn for a timer that fired early. The
store's log is empty in the beginning, because its length counts, too.
"""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import time

from servers import ROOT, Connection, Daemon, need, need_inotify, parser_of, start_many, temporary

COUNT = 20_000
CONNECTIONS = 10
WATCHERS = 100
DEPTH = 32
HOUR = 3_600_000_000
START = b'{"method":"io.countdownd.Start","parameters":{"key":"key:start:%010d","durationUSec":3600000000}}\0'
START_AT = b'{"method":"io.countdownd.Start","parameters":{"key":"key:start:%%010d","deadlineUSec":%d}}\0'
START_BRIEFLY = b'{"method":"io.countdownd.Start","parameters":{"key":"key:brief:%010d","durationUSec":1500}}\0'
RESTART = (b'{"method":"io.countdownd.Start","parameters":{"key":"key:known:%010d","durationUSec":3600000000,'
           b'"ifRunning":"restart"}}\0')
GET = b'{"method":"io.countdownd.Get","parameters":{"key":"key:known:%010d"}}\0'
# Seconds until the countdowns that end in one instant: all of them are started meanwhile, under callgrind.
LEAD = 15
# What may be interrupted is counted so many times, and the least counts; what comes alone, for one of so many.
PARTS = 3
LONE = 50
# Of what comes alone: how many turns store changes, each of which begins another dump; and the functions by which callgrind knows them.
LONE_COMMITS = {"lone-start": 1, "lone-ending": 2}
TURN = "$s10countdownd6DaemonC4turn*"
COMMIT = "$s10countdownd13RetryingStoreV6commit*"
# The budgets, and by how much of one a count may be above it. One this far below is advised to be lowered.
BUDGETS = os.path.join(ROOT, "scripts/instruction-budgets")
TOLERANCE = 0.02
ADVICE = 0.05


@contextlib.contextmanager
def counted(daemon):
    """Counts meanwhile, into a file of its own."""
    def control(*options):
        subprocess.run(["callgrind_control", *options, str(daemon.process.pid)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    control("--instr=on")
    yield
    control("--instr=off")
    control("--dump")


def send_calls(daemon, call, count):
    """Sends the call of each number on all connections in turn, and waits for all answers."""
    connections = [Connection(daemon.socket) for _ in range(CONNECTIONS)]
    for begin in range(0, count, DEPTH * CONNECTIONS):
        batches = [range(first, min(first + DEPTH, count)) for first in range(begin, begin + DEPTH * CONNECTIONS, DEPTH)]
        for connection, batch in zip(connections, batches):
            connection.socket.sendall(b"".join(call(number) for number in batch))
        for connection, batch in zip(connections, batches):
            connection.skip(b"\0", len(batch))


def watch(daemon, **parameters):
    """A connection that follows countdowns."""
    connection = Connection(daemon.socket)
    connection.send("Watch", parameters, more=True)
    connection.skip(b'"type":"synced"')
    # Events that came with it are not counted.
    connection.rest = b""
    return connection


# Each returns how many calls or events it has counted each time.


def count_call(call):
    def count(daemon):
        # Initialization, and the growth of tables, are not part of a call.
        send_calls(daemon, GET.__mod__, 2_000)
        each = COUNT // PARTS
        for part in range(PARTS):
            with counted(daemon):
                send_calls(daemon, lambda number: call(part * each + number), each)
        return each
    return count


def count_ending(daemon):
    instant = int((time.time() + LEAD) * 1_000_000)
    send_calls(daemon, (START_AT % instant).__mod__, COUNT)
    watcher = watch(daemon, tickUSec=0)
    with counted(daemon):
        if time.time() * 1_000_000 > instant:
            raise TimeoutError(f"to start {COUNT:,} countdowns took longer than {LEAD} s")
        watcher.skip(b'"type":"finished"', COUNT)
    return COUNT


def count_lone(call, has_watcher):
    def count(daemon):
        caller, watcher = Connection(daemon.socket), watch(daemon, tickUSec=0) if has_watcher else None
        caller.call("Get", key="key:known:%010d" % 0)
        with counted(daemon):
            for number in range(COUNT // LONE):
                caller.socket.sendall(call % number)
                caller.skip(b"\0")
                if watcher:
                    watcher.skip(b'"type":"finished"')
        return 1
    return count


def count_tick(daemon):
    # Few enough for the socket, so that no tick is left out because the watcher has not read the ones before.
    wanted = COUNT // 20
    # They tick at the same instant in each second, and are counted between two such instants.
    send_calls(daemon, (START_AT % (int(time.time() + 3_600) * 1_000_000)).__mod__, wanted)
    watcher = watch(daemon, tickUSec=1_000_000)
    for _ in range(PARTS):
        watcher.skip(b'"type":"tick"', wanted)
        with counted(daemon):
            watcher.skip(b'"type":"tick"', wanted)
    return wanted


def count_delivery(daemon):
    turns = COUNT // WATCHERS // DEPTH
    watchers = [watch(daemon, tickUSec=0, keys=["key:known:%010d" % 0]) for _ in range(WATCHERS)]
    caller = Connection(daemon.socket)
    with counted(daemon):
        for _ in range(turns):
            caller.socket.sendall(RESTART % 0 * DEPTH)
            caller.skip(b"\0", DEPTH)
            for watcher in watchers:
                watcher.skip(b'"type":"restarted"', DEPTH)
    return turns * DEPTH * WATCHERS


def mixed(number):
    """A Start of a new key, and after it a Get of a key that runs."""
    return START % (number // 2) if number % 2 == 0 else GET % (number // 2)


COUNTED = {"start": count_call(START.__mod__), "get": count_call(GET.__mod__), "mixed": count_call(mixed),
           "lone-start": count_lone(START, False), "ending": count_ending, "lone-ending": count_lone(START_BRIEFLY, True),
           "tick": count_tick, "delivery": count_delivery}


def callgrind(written, *options):
    return ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={written}", *options]


def observe(executable, folder, written, *options):
    # Otherwise each process has its own hash seed, and collisions of its own.
    os.environ["SWIFT_DETERMINISTIC_HASHING"] = "1"
    return Daemon(executable, folder, under=callgrind(written, "--collect-systime=no", *options))


def store_known(executable, folder):
    """Stores countdowns."""
    with Daemon(executable, folder) as daemon:
        start_many(daemon.socket, COUNT, b"key:known:00", HOUR, 1_000)
    # The mark of a clean stop is a part of what is read.
    with Daemon(executable, folder):
        pass


def total(written):
    with open(written) as file:
        return int(re.search(r"^totals: (\d+)", file.read(), re.MULTILINE)[1])


def count_load(executable, folder, written):
    """Counts a start with countdowns, and returns the instructions of a start without any."""
    with observe(executable, folder, written):
        pass
    empty = total(written)
    store_known(executable, folder)
    with observe(executable, folder, written):
        pass
    return empty


def count_show(executable, folder, written):
    with Daemon(executable, folder) as daemon:
        start_many(daemon.socket, 1, b"key:known:00", HOUR)
        program = os.path.join(os.path.dirname(executable), "countdownctl")
        subprocess.run([*callgrind(written), program, "show", "key:known:0000000000"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "COUNTDOWND_SOCKET": daemon.socket})


def least_turns(dumps, commits):
    """For each turn of one, in their order, the dump with the least instructions."""
    dumps = sorted(dumps, key=lambda name: int(name.rpartition(".")[2]))
    # The first one has the beginning, and the last ones have the end.
    dumps = dumps[2:-2]
    if not dumps or total(dumps[0]) == 0:
        sys.exit(f"count: nothing was counted: are {TURN} and {COMMIT} still functions of the daemon?")
    return [min(dumps[first::commits], key=total) for first in range(commits)]


def count(name, executable, folder, written):
    """The instructions of one, how many were counted, and the instructions of a start without any."""
    if name == "load":
        empty = count_load(executable, folder, written)
        return (total(written) - empty) / COUNT, COUNT, empty / COUNT
    if name == "show":
        count_show(executable, folder, written)
        return total(written), 1, 0
    commits, options = LONE_COMMITS.get(name), ["--instr-atstart=no"]
    if commits:
        store_known(executable, folder)
        options += [f"--toggle-collect={TURN}", f"--dump-before={COMMIT}"]
    with observe(executable, folder, written, *options) as daemon:
        if name != "tick" and not commits:
            start_many(daemon.socket, COUNT, b"key:known:00", HOUR, 1_000)
        number = COUNTED[name](daemon)
    dumps = glob.glob(f"{written}.*")
    least = least_turns(dumps, commits) if commits else [min(dumps, key=total)]
    each = sum(map(total, least)) / number
    os.replace(least[0], written)
    return each, number, 0


def measure(name, options):
    """The instructions of one."""
    with temporary() as folder:
        written = os.path.join(folder, "callgrind")
        each, number, others = count(name, options.daemon, folder, written)
        kept = shutil.copy(written, os.path.join(ROOT, ".build/callgrind", name))
    less = f", without {others:,.0f} of a start without any" if others else ""
    of = f" each of {number:,}" if number > 1 else ""
    print(f"{name}: {each:,.0f} instructions{of}{less}", flush=True)
    if not options.check and not options.write:
        subprocess.run(f"callgrind_annotate --auto=no '{kept}' | swift demangle --simplified | cut -c 1-160 | head -n 60",
                       shell=True, check=True)
    return each


def read_budgets():
    """The most instructions of each count, by its name."""
    with open(BUDGETS) as file:
        return {name: int(number) for name, number in map(str.split, file)}


def write_budgets(counts):
    budgets = read_budgets() | {name: round(each) for name, each in counts.items()}
    with open(BUDGETS, "w") as file:
        file.writelines(f"{name} {number}\n" for name, number in budgets.items())


def check(counts):
    """Ends the script if a count is above its budget."""
    above, budgets = [], read_budgets()
    for name, each in counts.items():
        budget = budgets[name]
        if each > budget * (1 + TOLERANCE):
            above.append(f"{name}: {each:,.0f} instructions are {each / budget - 1:.1%} above the budget of {budget:,}")
        elif each < budget * (1 - ADVICE):
            print(f"{name}: {each:,.0f} instructions are {1 - each / budget:.1%} below the budget of {budget:,}: lower it with "
                  f"scripts/bench count --write {name}")
    if above:
        sys.exit("\n".join(above))


def main():
    parser = parser_of(__doc__, [*COUNTED, "load", "show"])
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="fail if a count is above its budget")
    how.add_argument("--write", action="store_true", help="make the counts the budgets")
    options = parser.parse_args()
    need("valgrind")
    os.makedirs(os.path.join(ROOT, ".build/callgrind"), exist_ok=True)
    counts = {}
    for name in options.names:
        need_inotify()
        counts[name] = measure(name, options)
    if options.write:
        write_budgets(counts)
    if options.check:
        check(counts)
