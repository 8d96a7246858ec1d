#!/usr/bin/env python3
"""Lets many programs follow countdowns at once while the daemon is killed again and again: trial_follow.py [--follows 2000]
[--kills 50] [--clients python,asyncio,node] [--seed 1]

Each follow has to end exactly once, in the way that the daemon's history has it. Prints counts, and exits with 1 after a fault.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from harness import BUILT, PYTHON_CLIENT, Peer

PATIENCE = 180.0
FOLLOWERS = {"node": ["node", str(Path(__file__).parent / "drivers/followers_node.js")]}
for _client in ("python", "asyncio"):
    FOLLOWERS[_client] = [sys.executable, str(Path(__file__).parent / "drivers/followers_python.py"), _client]


class Daemon:
    """A daemon whose socket stays while it is away, as with a service manager."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.socket = self.folder / "socket"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen(4096)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        command = f'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" --state-directory "$1" 3<&{self._listener.fileno()}'
        self._process = subprocess.Popen(
            ["sh", "-c", command, BUILT / "countdownd", self.folder / "state"],
            pass_fds=[self._listener.fileno()],
            env={"PATH": os.environ["PATH"]},
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    @contextlib.contextmanager
    def connection(self) -> Any:
        with socket.socket(socket.AF_UNIX) as connected:
            connected.connect(str(self.socket))
            yield Peer(connected)

    def call(self, method: str, **parameters: Any) -> Any:
        """The parameters of the reply. A call that the daemon did not answer is made again."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), self.connection() as peer:
                peer.write({"method": f"io.countdownd.{method}", "parameters": parameters})
                return peer.read().get("parameters", {})
            time.sleep(0.02)
        raise AssertionError(f"no answer to {method} within {PATIENCE} s")

    def ends(self, revision: int) -> dict[str, list[dict[str, Any]]]:
        """The kept ends after a revision, by their keys."""
        found = collections.defaultdict(list)
        with self.connection() as peer:
            peer.write({"method": "io.countdownd.Watch", "parameters": {"tickUSec": 0, "since": revision}, "more": True})
            while True:
                for event in peer.read()["parameters"]["events"]:
                    if event["type"] in ("finished", "cancelled"):
                        found[event["key"]].append(event)
                    if event["type"] == "synced":
                        return found

    def close(self) -> None:
        self.kill()
        self._listener.close()
        shutil.rmtree(self.folder)


def plan(number: int, chance: random.Random, span: float) -> dict[str, Any]:
    """A follow: after how many seconds it begins, and of which countdown."""
    length = chance.uniform(span / 4, span)
    kind = number % 10
    follow = {"number": number, "after": chance.uniform(0, span / 2), "key": f"own/{number}", "duration": length}
    match kind:
        case 0 | 1:
            follow["cancelled"] = chance.uniform(0.1, 0.9)
        case 2:
            follow["forget"] = True
        case 3:
            follow |= {"ifRunning": "fail"}
        case 4:
            follow |= {"ifRunning": "restart"}
        case 5:
            follow |= {"key": f"shared/{number // 100}", "duration": span}
        case 6:
            follow |= {"tick": 1}
    return follow


def read_ends(process: "subprocess.Popen[bytes]", ends: dict[int, list[dict[str, Any]]]) -> None:
    assert process.stdout
    for line in process.stdout:
        told = json.loads(line)
        ends[told["number"]].append(told)


def fault_of(follow: dict[str, Any], told: list[dict[str, Any]], kept: dict[str, list[dict[str, Any]]]) -> str | None:
    """Why a follow has not ended as it has to."""
    if len(told) != 1:
        return f"{follow} has {len(told)} ends: {told}"
    end, history = told[0], kept[follow["key"]]
    if end["firsts"] > 1 or end["lasts"] != 1:
        return f"{follow} has other steps than one first and one last: {end}"
    if follow.get("forget"):
        return None if end["type"] in ("finished", "gone") and not history else f"{follow}: {end}, and the history has {history}"
    if follow["key"].startswith("own/") and len(history) != 1:
        return f"{follow} ran {len(history)} times: {history}"
    ran = [(one["type"], one["countdown"]["startedUSec"], one.get("lateUSec")) for one in history]
    return None if (end["type"], end["startedUSec"], end["lateUSec"]) in ran else f"{follow}: {end}, and the history has {ran}"


def cancel_in_time(daemon: Daemon, follows: list[dict[str, Any]], begin: float) -> None:
    """Cancels some countdowns on their way."""
    for follow in sorted(follows, key=lambda one: one["after"] + one["cancelled"] * one["duration"]):
        time.sleep(max(0.0, begin + follow["after"] + follow["cancelled"] * follow["duration"] - time.monotonic()))
        daemon.call("Cancel", key=follow["key"])


def trial(client: str, follows: int, kills: int, seed: int) -> int:
    """Makes one trial, and returns the number of faults."""
    chance = random.Random(seed)
    span = max(8.0, kills * 1.5)
    plans = [plan(number, chance, span) for number in range(follows)]
    ends: dict[int, list[dict[str, Any]]] = collections.defaultdict(list)
    with contextlib.closing(Daemon()) as daemon:
        revision = daemon.call("GetStatus")["revision"]
        process = subprocess.Popen(
            FOLLOWERS[client],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PYTHON_CLIENT), "COUNTDOWND_SOCKET": str(daemon.socket)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        reader = threading.Thread(target=read_ends, args=[process, ends])
        reader.start()
        begin = time.monotonic()
        assert process.stdin
        process.stdin.write("".join(json.dumps(one) + "\n" for one in plans).encode())
        process.stdin.close()
        cancelling = threading.Thread(target=cancel_in_time, args=[daemon, [one for one in plans if "cancelled" in one], begin])
        cancelling.start()
        for number in range(kills):
            time.sleep(max(0.0, begin + span * (number + chance.random()) / kills - time.monotonic()))
            daemon.kill()
            time.sleep(chance.choice([0, 0, 0.1, 0.3]))
            daemon.start()
        cancelling.join(PATIENCE + span)
        reader.join(PATIENCE + span)
        if reader.is_alive():
            process.kill()
        kept = daemon.ends(revision)
    faults = [fault for one in plans if (fault := fault_of(one, ends[one["number"]], kept))]
    for fault in faults[:10]:
        print(fault, file=sys.stderr)
    all_ends = [end for told in ends.values() for end in told]
    counts = collections.Counter(end["type"] for end in all_ends)
    aways = sum(end["aways"] for end in all_ends)
    shown = ", ".join(f"{count} {type}" for type, count in sorted(counts.items()))
    print(f"{client}: {follows} follows, {kills} kills: {shown}; {aways} times away; {len(faults)} faults", flush=True)
    return len(faults)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--follows", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--clients", default=",".join(FOLLOWERS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.exit(any([trial(client, options.follows, options.kills, options.seed) for client in options.clients.split(",")]))


if __name__ == "__main__":
    main()
