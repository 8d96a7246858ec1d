"""What only the Python clients have to do."""

import asyncio
import concurrent.futures
import contextlib
import copy
import dataclasses
import decimal
import logging
import os
import pickle
import subprocess
import sys
import unittest
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from harness import PATIENCE, PYTHON_CLIENT, Peer, ServerTests, wait_until
from test_clients import countdown, finished, stay, synced

sys.path.insert(0, str(PYTHON_CLIENT))
import countdownd  # noqa: E402
from countdownd import _errors  # noqa: E402

NUMBER = "+49 171 138"


def classes(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for below in kind.__subclasses__():
        yield from classes(below)


def errors() -> Iterator[countdownd.CountdowndError]:
    """An error of each class, as the clients make them."""
    parameters: dict[str, Any] = {
        "key": NUMBER, "countdown": countdown(NUMBER, label=NUMBER), "retryAfterUSec": 5, "oldestRevision": 6, "limit": "keys",
        "maximum": 7, "reason": "disk full", "parameter": "until", "method": "io.countdownd.Get",
    }
    for name in _errors._CLASSES:
        yield _errors.error_from(name, parameters)
    yield _errors.error_from("org.example.TeaIsCold", {"degrees": 20, "key": NUMBER})
    yield countdownd.TimedOut.after(5)
    yield countdownd.NoDaemon("no daemon at /run", 111)
    for kind in (countdownd.Disconnected, countdownd.ProtocolError, countdownd.CallTooLong, countdownd.AddressError):
        yield kind("a reason")


def refuse(name: str) -> None:
    """Raises an error, in another process."""
    raise next(error for error in errors() if type(error).__name__ == name)


class PythonTests(ServerTests):
    # Errors

    def test_every_error_can_be_copied_and_pickled(self) -> None:
        made = {type(error): error for error in errors()}
        public = {kind for kind in classes(countdownd.CountdowndError) if kind.__name__ in countdownd.__all__}
        self.assertEqual(set(made), public - {countdownd.CountdowndError})
        for error in made.values():
            error.__dict__["note"] = "kept"
            for same in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
                with self.subTest(error):
                    self.assertIs(type(same), type(error))
                    self.assertEqual((str(same), same.args, vars(same)), (str(error), error.args, vars(error)))

    def test_errors_come_back_from_other_processes(self) -> None:
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            for error in errors():
                raised = pool.submit(refuse, type(error).__name__).exception(PATIENCE)
                self.assertEqual((type(raised), str(raised)), (type(error), str(error)))

    def test_what_a_log_shows_of_an_error_has_no_key(self) -> None:
        for error in errors():
            with self.subTest(error), self.assertLogs() as log:
                try:
                    raise error
                except countdownd.CountdowndError:
                    logging.exception("%r", error)
                self.assertNotIn("138", "".join(log.output))
        with self.assertRaises(TypeError) as raised:
            countdownd.Client("/x").list(keys=NUMBER)
        self.assertNotIn("138", str(raised.exception))

    def test_a_call_that_timed_out_is_a_timeout_and_may_have_been_made(self) -> None:
        client = countdownd.Client(self.fake(lambda peer, call: stay(peer)).socket, timeout=0.01)
        with self.assertRaisesRegex(TimeoutError, r"^the daemon has not answered for 0.01 s; a change may have been made$") as raised:
            client.start("tea")
        self.assertIsInstance(raised.exception, countdownd.Disconnected)

    # Arguments

    def test_a_client_is_made_though_the_daemon_has_no_place(self) -> None:
        program = "import countdownd; c, a = countdownd.Client(), countdownd.AsyncClient(); print('made'); c.get('tea')"
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": str(PYTHON_CLIENT), "XDG_RUNTIME_DIR": "/missing"}, capture_output=True, text=True,
        )
        self.assertEqual(run.stdout, "made\n")
        self.assertIn("countdownd._errors.AddressError: XDG_RUNTIME_DIR is '/missing', which is missing", run.stderr)

    def test_a_path_may_be_one_of_pathlib(self) -> None:
        client = countdownd.Client(Path("/run") / "socket")
        self.assertEqual(client.path, "/run/socket")
        with self.assertRaises(countdownd.NoDaemon) as raised:
            client.get("tea")
        self.assertEqual(raised.exception.errno, 2)

    def test_what_is_no_duration_is_refused_before_a_call_is_made(self) -> None:
        client = countdownd.Client("/missing")
        for duration in ("60", True, b"60", 1j, [60]):
            with self.subTest(duration), self.assertRaisesRegex(TypeError, "expected a timedelta or a number of seconds$"):
                client.start("tea", duration)  # type: ignore[arg-type]
            with self.subTest(duration), self.assertRaises(TypeError):
                countdownd.Client(timeout=duration)  # type: ignore[arg-type]
        for number in (float("nan"), float("inf"), -float("inf"), 1e300, 1 << 53):
            with self.subTest(number), self.assertRaisesRegex(ValueError, "expected"):
                client.start("tea", number)
            with self.subTest(number), self.assertRaisesRegex(ValueError, "expected|not JSON compliant"):
                client.call("Start", key="tea", durationUSec=number)
        for timeout in (0, -1, timedelta(0)):
            with self.assertRaisesRegex(ValueError, "expected a positive duration"):
                countdownd.Client(timeout=timeout)

    def test_durations_are_timedeltas_and_all_kinds_of_numbers(self) -> None:
        client = countdownd.Client(self.daemon().socket, timeout=None)
        for duration in (timedelta(seconds=1.5), 1.5, decimal.Decimal("1.5")):
            started = client.start("tea", duration, if_running="restart")  # type: ignore[arg-type]
            self.assertEqual(started.countdown.duration, timedelta(seconds=1.5))

    def test_countdowns_can_be_members_of_sets(self) -> None:
        one = countdownd.Countdown.from_wire(countdown(metadata={"cup": "blue"}))
        same, other = dataclasses.replace(one, metadata={"cup": "blue"}), dataclasses.replace(one, revision=8)
        self.assertEqual(len({one, same, other}), 2)

    # The process

    def test_a_child_that_closes_a_watch_does_not_end_the_watch_of_its_parent(self) -> None:
        daemon = self.daemon()
        with countdownd.Client(daemon.socket).watch(tick=0) as events:
            self.assertEqual(next(events).type, "synced")
            if not (child := os.fork()):
                with contextlib.suppress(BaseException):
                    events.close()
                    events.__exit__(None, None, None)
                os._exit(0)
            os.waitpid(child, 0)
            daemon.call("Start", key="tea")
            self.assertEqual(next(events).type, "started")

    def test_a_child_that_asks_a_watch_takes_no_event_from_its_parent(self) -> None:
        daemon = self.daemon()
        reader, writer = os.pipe()
        with countdownd.Client(daemon.socket).watch(tick=0) as events:
            self.assertEqual(next(events).type, "synced")
            if not (child := os.fork()):
                with contextlib.suppress(BaseException):
                    for _ in range(2):
                        os.write(writer, f"{next(events).type} ".encode())
                os._exit(0)
            wait_until(lambda: daemon.call("GetStatus")["watchers"] == 2)
            daemon.call("Start", key="tea")
            self.assertEqual(next(events).type, "started")
            os.waitpid(child, 0)
            self.assertEqual(os.read(reader, 100), b"synced started ")
        os.close(reader)
        os.close(writer)

    # asyncio

    def run_async(self, test: Callable[[], Awaitable[None]]) -> None:
        async def limited() -> None:
            await asyncio.wait_for(test(), PATIENCE)

        asyncio.run(limited())

    def test_a_child_that_closes_a_watch_of_asyncio_does_not_end_the_watch_of_its_parent(self) -> None:
        daemon = self.daemon()

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket).watch(tick=0) as events:
                self.assertEqual((await anext(events)).type, "synced")
                if not (child := os.fork()):
                    with contextlib.suppress(BaseException):
                        events.close()
                    os._exit(0)
                os.waitpid(child, 0)
                daemon.call("Start", key="tea")
                self.assertEqual((await anext(events)).type, "started")

        self.run_async(test)

    def test_a_watch_of_asyncio_has_no_events_after_its_end(self) -> None:
        async def test() -> None:
            def both(peer: Peer, call: Any) -> None:
                peer.events(synced(7), finished("tea", 8))
                stay(peer)

            client = countdownd.AsyncClient(self.fake(both, both).socket)
            async with client.watch() as left:
                self.assertEqual((await anext(left)).type, "synced")
            self.assertEqual([event async for event in left], [])
            async with contextlib.aclosing(client.watch()) as closed:
                self.assertEqual((await anext(closed)).type, "synced")
            self.assertEqual([event async for event in closed], [])

        self.run_async(test)

    def test_closing_a_watch_of_asyncio_ends_an_iteration_that_waits(self) -> None:
        def begin(peer: Peer, call: Any) -> None:
            peer.events(synced(7))
            stay(peer)

        async def test() -> None:
            # One waits for an event, the other one for its next attempt.
            for client in (countdownd.AsyncClient(self.fake(begin).socket), countdownd.AsyncClient("/missing")):
                watch = client.watch()
                await anext(watch)
                waiting = asyncio.ensure_future(anext(watch, None))
                await asyncio.sleep(0)
                watch.close()
                self.assertIsNone(await waiting)

        self.run_async(test)

    def test_a_reply_that_came_while_the_program_was_busy_is_no_timeout(self) -> None:
        def answer(peer: Peer, call: Any) -> None:
            peer.write({"parameters": {"countdown": countdown()}})
            os.write(writer, b"answered")

        reader, writer = os.pipe()

        async def test() -> None:
            client = countdownd.AsyncClient(self.fake(answer).socket, timeout=0.05)
            call = asyncio.ensure_future(client.get("tea"))
            for _ in range(5):  # the call is sent
                await asyncio.sleep(0)
            os.read(reader, 100)
            limit = asyncio.get_running_loop().time() + 0.1
            while asyncio.get_running_loop().time() < limit:
                pass  # busy for longer than the timeout
            self.assertEqual((await call).key, "tea")

        self.run_async(test)


if __name__ == "__main__":
    unittest.main(verbosity=2)
