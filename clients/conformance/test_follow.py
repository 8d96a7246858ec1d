"""`follow`: its table, with the state machine of the Python client, and with each client a daemon that is killed at each message."""

import concurrent.futures
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any

from harness import DRIVERS, PATIENCE, PYTHON_CLIENT, Daemon, Driver, ServerTests

sys.path.insert(0, str(PYTHON_CLIENT))
from countdownd import _calls, _errors, _follow
from countdownd._types import Event, Step

TABLE = json.loads((Path(__file__).parent / "follow.json").read_text())


def countdown(name: str) -> dict[str, Any]:
    found: dict[str, Any] = TABLE["countdowns"][name]
    return found


def error_of(wire: dict[str, Any]) -> _errors.CountdowndError:
    kind: type[_errors.CountdowndError] = getattr(_errors, wire["name"])
    if not issubclass(kind, _errors.CallError):
        return kind("of the table")
    parameters = {**wire, "reason": "of the table"}
    if "countdown" in wire:
        parameters["countdown"] = countdown(wire["countdown"])
    return kind(wire["name"], parameters)


class TableTests(unittest.TestCase):
    maxDiff = None

    def test_each_row_of_the_table_has_its_acts_and_steps(self) -> None:
        for scenario in TABLE["scenarios"]:
            with self.subTest(scenario["name"]):
                self.check(scenario)

    def check(self, scenario: dict[str, Any]) -> None:
        follow = scenario["follow"]
        parameters = follow["start"] and {
            **dict.fromkeys(["durationUSec", "deadlineUSec", "ifRunning", "metadata", "forget"]),
            **follow["start"],
            "key": follow["key"],
        }
        now = 0.0
        machine = _follow.Following(
            follow["key"], parameters, follow.get("missingOk", False), TABLE["token"], clock=lambda: now
        )
        generator = machine.acts()
        self.assertIsNone(next(generator))
        for number, row in enumerate(scenario["rows"]):
            place = f"row {number}: {row['in']}"
            now = row["in"].get("atUSec", 1_700_000_000_000_000) / 1_000_000
            acts, steps, raised = self.put(generator, self.sent(row["in"]))
            self.assertEqual(raised, row.get("raises"), place)
            self.assertEqual(acts, row["acts"], place)
            self.check_steps(steps, row["steps"], place)

    def put(self, generator: Any, sent: Any) -> tuple[list[Any], list[Step], str | None]:
        """The acts and steps until the next input, and the error."""
        acts: list[Any] = []
        steps: list[Step] = []
        try:
            act = generator.send(sent)
            while isinstance(act, Step | Exception):
                steps += [act] if isinstance(act, Step) else []
                acts += [{"act": "rewatch"}] if isinstance(act, Exception) else []
                act = next(generator)
        except StopIteration:
            return [*acts, {"act": "close"}], steps, None
        except _errors.CountdowndError as error:
            return [*acts, {"act": "close"}], steps, type(error).__name__
        if act:
            made = {name: value for name, value in act.parameters.items() if value is not None}
            acts.append({"act": "start", "afterUSec": round(act.pause * 1_000_000), "parameters": made})
        return acts, steps, None

    def sent(self, given: dict[str, Any]) -> Any:
        if reply := given.get("reply"):
            return _calls.started({**reply, "countdown": countdown(reply["countdown"])})
        if error := given.get("error"):
            return error_of(error)
        return self.event(given["event"]), self.listed(given)

    def event(self, wire: dict[str, Any]) -> Event:
        if wire["type"] == "disconnected":
            return Event("disconnected", error=error_of({"name": wire["error"], "limit": "connections", "maximum": 9}))
        full = {**wire, "countdown": countdown(wire["countdown"])} if "countdown" in wire else wire
        return Event.from_wire(full)

    def listed(self, given: dict[str, Any]) -> Any:
        return _calls.countdown({"countdown": countdown(given["listed"])}) if "listed" in given else None

    def check_steps(self, steps: list[Step], rows: list[dict[str, Any]], place: str) -> None:
        self.assertEqual([step.type for step in steps], [row["type"] for row in rows], place)
        for step, row in zip(steps, rows):
            if "countdown" not in row:
                self.assertIsNone(step.countdown, place)
                continue
            known = _calls.countdown({"countdown": countdown(row["countdown"])})
            assert step.countdown
            for name in ("state", "started", "deadline", "revision", "metadata"):
                self.assertEqual(getattr(step.countdown, name), getattr(known, name), place)
            if "remainingUSec" in row:
                self.assertEqual(step.remaining.total_seconds() * 1_000_000, row["remainingUSec"], place)
            late = None if step.late is None else step.late.total_seconds() * 1_000_000
            self.assertEqual(late, row.get("lateUSec"), place)


class KillingProxy:
    """Stands between a client and a daemon. It kills the daemon instead of passing on the message with this number, of both
    directions, and starts it again after so many seconds."""

    def __init__(self, daemon: Daemon, number: int, outage: float) -> None:
        self.socket = daemon.folder / "proxy"
        self.was_killed = threading.Event()
        self.is_back = threading.Event()
        self._daemon, self._left, self._outage = daemon, number, outage
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(str(self._daemon.socket))
            back = threading.Thread(target=self._pass_on, args=[server, client], daemon=True)
            back.start()
            self._pass_on(client, server)
            back.join()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            rest = b""
            while data := source.recv(1 << 16):
                *messages, rest = (rest + data).split(b"\0")
                for message in messages:
                    with self._lock:
                        self._left -= 1
                        if self._left == 0:
                            return self._kill(source, target)
                    target.sendall(message + b"\0")
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _kill(self, *ends: socket.socket) -> None:
        self._daemon.stop(signal.SIGKILL)
        self.was_killed.set()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        threading.Thread(target=self._start, daemon=True).start()

    def _start(self) -> None:
        time.sleep(self._outage)
        self._daemon.start()
        self.is_back.set()

    def close(self) -> None:
        self._listener.close()
        assert not self.was_killed.is_set() or self.is_back.wait(PATIENCE), "the daemon is not back"


def ends_since(daemon: Daemon, revision: int, key: str) -> list[dict[str, Any]]:
    """The kept ends of a key."""
    with daemon.connection() as peer:
        peer.write({"method": "io.countdownd.Watch", "parameters": {"keys": [key], "tickUSec": 0, "since": revision}, "more": True})
        ends: list[dict[str, Any]] = []
        while True:
            events = peer.read()["parameters"]["events"]
            ends += [event for event in events if event["type"] in ("finished", "cancelled")]
            if any(event["type"] == "synced" for event in events):
                return ends


class KillTests(ServerTests):
    """A follow has some seven messages. Each of them is the last one of a daemon once: a call that is lost was not carried out,
    and an answer that is lost was."""

    length = 400_000

    def test_a_daemon_that_is_killed_at_any_message_lets_each_follow_end_once_with_the_right_end(self) -> None:
        clients = os.environ.get("COUNTDOWND_CLIENTS", " ".join(DRIVERS)).split()
        modes: list[dict[str, Any]] = [{}, {"ifRunning": "restart"}, {"ifRunning": "fail"}, {"ifRunning": "wait"}, {"forget": True}]
        cases = [
            (client, mode, number, outage)
            for client in clients for mode in modes for number in range(1, 9) for outage in (0, 0.6)
        ]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            faults = [fault for fault in pool.map(lambda case: self.fault(*case), cases) if fault]
        self.assertEqual(faults, [])

    def fault(self, client: str, mode: dict[str, Any], number: int, outage: float) -> str | None:
        try:
            self.follow(client, mode, number, outage)
        except Exception as error:
            return f"{client} {mode} message {number} outage {outage}: {error!r}"
        return None

    def follow(self, client: str, mode: dict[str, Any], number: int, outage: float) -> None:
        with contextlib.closing(Daemon()) as daemon:
            revision = daemon.call("GetStatus")["revision"]
            daemon.call("Start", key="of somebody else")
            if mode.get("ifRunning") == "restart":
                daemon.call("Start", key="login/138", durationUSec=3_600_000_000)
            with contextlib.closing(KillingProxy(daemon, number, outage)) as proxy:
                with contextlib.closing(Driver(client, {"COUNTDOWND_SOCKET": str(proxy.socket)})) as driver:
                    steps = driver.do("follow", key="login/138", durationUSec=self.length, tickUSec=0, **mode)
            assert isinstance(steps, list), steps
            types = [step["type"] for step in steps]
            ends = ends_since(daemon, revision, "login/138")
        told = [one for one in types if one != "away"]
        assert types.count("away") == proxy.was_killed.is_set(), types
        if mode.get("forget"):
            assert told[-1] in ("finished", "gone") and not ends, (types, ends)
        else:
            assert told[-1] == "finished" and len(ends) == 1, (types, ends)
            assert steps[-1]["countdown"]["startedUSec"] == ends[0]["countdown"]["startedUSec"], (steps, ends)
            assert steps[-1]["lateUSec"] == ends[0]["lateUSec"], (steps, ends)
        assert told[:-1] in ([], ["started"], ["started", "attached"]), types
        assert told[:-1] or proxy.was_killed.is_set(), types


if __name__ == "__main__":
    unittest.main(verbosity=2)
