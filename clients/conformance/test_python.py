"""What only the Python clients have to do."""

import asyncio
import concurrent.futures
import contextlib
import copy
import dataclasses
import decimal
import fractions
import json
import logging
import numbers
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest import mock

from harness import PATIENCE, PYTHON_CLIENT, ROOT, Peer, ServerTests, wait_until
from test_clients import countdown, finished, stay, synced

sys.path.insert(0, str(PYTHON_CLIENT))
import countdownd  # noqa: E402
from countdownd import _errors, _rates  # noqa: E402

NUMBER = "+49 171 138"


@numbers.Integral.register
class Timedelta64:
    """As numpy has it: it says that it is an integer, but none can be made of it."""

    def __mul__(self, factor: int) -> "Timedelta64":
        return self


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
    yield countdownd.Refused(timedelta(seconds=3), (countdownd.Room(NUMBER, 0, timedelta(seconds=3), None),), NUMBER)
    for kind in (
        countdownd.Disconnected, countdownd.ProtocolError, countdownd.InvalidCall, countdownd.CallTooLong, countdownd.AddressError,
    ):
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

    def test_an_error_names_the_key_of_the_call(self) -> None:
        client = countdownd.Client("/missing")
        for call in (client.get, client.start, client.pause, client.wait):
            with self.assertRaises(countdownd.NoDaemon) as raised:
                call("tea")
            self.assertEqual(raised.exception.key, "tea")
        client = countdownd.Client(self.daemon().socket)
        client.start("tea", 3600)
        with self.assertRaises(countdownd.AlreadyRunning) as refused:
            client.start("tea", if_running="fail")
        self.assertEqual(refused.exception.key, "tea")
        with self.assertRaises(countdownd.InvalidParameter) as invalid:
            client.start("", 3600)
        self.assertEqual(invalid.exception.key, "")

    def test_a_daemon_that_is_older_than_a_method_is_to_be_restarted(self) -> None:
        def refuse(peer: Peer, call: Any) -> None:
            peer.write({"error": "org.varlink.service.MethodNotFound", "parameters": {"method": "io.countdownd.StartAll"}})

        with self.assertRaisesRegex(countdownd.MethodNotFound, "needs a newer countdownd: restart it after the upgrade$"):
            countdownd.Client(self.fake(refuse).socket).start_all([countdownd.Cooldown("tea", 60)])

    def test_a_refusal_is_made_again_from_its_arguments_in_json(self) -> None:
        from celery import Celery  # type: ignore[import-untyped]
        from celery.backends.base import Backend  # type: ignore[import-untyped]

        backend = Backend(Celery())
        for seconds in (None, 3, 0.000001, 86400.123456):
            refused = countdownd.Refused(None if seconds is None else timedelta(seconds=seconds), (), NUMBER)
            stored = json.loads(json.dumps(backend.prepare_exception(refused, "json")))
            self.assertNotIn("138", json.dumps(stored["exc_message"]))
            again = backend.exception_to_python(stored)
            self.assertEqual((type(again), str(again)), (countdownd.Refused, str(refused)))
            self.assertEqual(again.retry_after, refused.retry_after)

    # Calls

    def test_a_call_that_the_daemon_could_not_read_fails_alone(self) -> None:
        daemon = self.daemon()
        deep: Any = "x"
        for _ in range(62):
            deep = [deep]
        deepest: Any = []
        for _ in range(100_000):
            deepest = [deepest]
        calls: list[tuple[str, dict[str, Any]]] = [
            *(("Start", {"key": "tea", name: value}) for name in ("label", "metadata") for value in ([deep], {"a": deep}, deepest, "\ud83c")),
            *(("Start", {name: value}) for name in ("key", "\ud83c") for value in ("\ud83c", "a\udf89\ud83c")),
            ("Start", {"key": "tea", "metadata": {"\ud83c": "a"}}), ("Get\ud83c", {}), ("StartAll", {"cooldowns": [{"key": "\ud83c"}]}),
        ]

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket) as client:
                for method, parameters in calls:
                    before = [asyncio.create_task(client.start(f"key/{number}")) for number in range(20)]
                    bad = asyncio.create_task(client.call(method, **parameters))
                    after = [asyncio.create_task(client.start(f"key/{number}")) for number in range(20)]
                    with self.assertRaisesRegex(countdownd.InvalidCall, "expected whole characters|at most 64 levels"):
                        await bad
                    self.assertEqual(len(await asyncio.gather(*before, *after)), 40)
                with self.assertRaises(countdownd.InvalidParameter):
                    await client.call("Start", key="tea", label=deep)
                self.assertEqual((await client.start("{[" * 50, 60, label="\U0001f389")).countdown.label, "\U0001f389")
                self.assertEqual((await client.status()).connections, 1)

        self.run_async(test)
        client = countdownd.Client(daemon.socket)
        for method, parameters in calls:
            with self.assertRaises(countdownd.InvalidCall):
                client.call(method, **parameters)
        self.assertEqual(client.status().connections, 1)

    def test_a_wait_for_a_countdown_that_is_missing_may_end_at_once(self) -> None:
        daemon = self.daemon()
        client = countdownd.Client(daemon.socket)
        self.assertIsNone(client.wait("tea", missing_ok=True))
        client.start("tea", 0.01)
        self.assertEqual(client.wait("tea", missing_ok=True).state, "finished")  # type: ignore[union-attr]
        with self.assertRaises(countdownd.NoSuchCountdown):
            client.wait("coffee")

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket) as client:
                self.assertIsNone(await client.wait("coffee", missing_ok=True))
                with self.assertRaises(countdownd.NoSuchCountdown):
                    await client.wait("coffee")

        self.run_async(test)

    def test_a_countdown_is_paused_resumed_adjusted_and_finished(self) -> None:
        client = countdownd.Client(self.daemon().socket)
        client.start("tea", 3600)
        self.assertEqual(client.pause("tea").state, "paused")
        self.assertEqual(client.resume("tea").state, "running")
        self.assertEqual(client.adjust("tea", -600).duration, timedelta(seconds=3000))
        deadline = datetime(2100, 1, 1, tzinfo=timezone.utc)
        adjusted = client.adjust("tea", until=deadline)
        self.assertEqual((adjusted.clock, adjusted.deadline), ("wall", deadline))
        with self.assertRaises(countdownd.RevisionMismatch):
            client.finish("tea", if_revision=1)
        self.assertEqual(client.finish("tea", if_revision=adjusted.revision).state, "finished")
        status = client.status()
        self.assertEqual((status.running, status.connections, status.queued_starts), (0, 1, 0))
        self.assertEqual(status.limits["connections"], status.parameters["limits"]["connections"])

    def test_the_later_deadline_wins_within_a_bound(self) -> None:
        client = countdownd.Client(self.daemon().socket)
        client.start("tea", 60)
        self.assertEqual(client.start("tea", 30, if_running="later").outcome, "attached")
        self.assertEqual(client.start("tea", 90, if_running="later", max_duration=3600).outcome, "extended")
        self.assertEqual(client.start("tea", 90, if_running="later", max_duration=90).outcome, "attached")
        with self.assertRaises(countdownd.InvalidParameter):
            client.start("tea", 90, queue_up_to=0, if_running="wait")

    def test_a_rate_is_a_duration_and_the_most_that_may_remain(self) -> None:
        client = countdownd.Client(self.daemon().socket)
        for _ in range(3):
            last = client.start("codes", rate="3/10m")
        self.assertEqual((last.outcome, last.countdown.duration), ("extended", timedelta(minutes=10)))
        with self.assertRaises(countdownd.AlreadyRunning) as refused:
            client.start("codes", rate="3/10m")
        assert refused.exception.retry_after
        self.assertLessEqual(refused.exception.retry_after, timedelta(minutes=3, seconds=20))
        for rate in ("5", "0/1h", "-1/1h", "5/1y", "5/", "5/1h 30", "2/1us", "1/101y", "5/-1h", "1/40000d", "٣/1h"):
            with self.subTest(rate), self.assertRaisesRegex(ValueError, f"^invalid (rate|period) .*{rate.split('/')[-1]}"):
                client.start("codes", rate=rate)
        with self.assertRaisesRegex(TypeError, "expected no duration and no up_to"):
            client.start("codes", 60, rate="3/10m")

    def test_periods_are_read_as_countdownctl_reads_them(self) -> None:
        second = 1_000_000
        for text, period in [
            ("90", 90 * second), ("1h30m", 5400 * second), ("1 h 30 min", 5400 * second), ("1.5h", 5400 * second),
            ("250ms", second // 4), ("2 weeks", 14 * 86400 * second), ("1us", 1),
        ]:
            self.assertEqual(_rates.Rate.parse(f"1/{text}").period, period)
        self.assertEqual(_rates.Rate.parse("3/10s").interval, 3_333_334)

    def test_rates_of_one_key_have_the_keys_that_countdownctl_gives_them(self) -> None:
        table = json.loads((ROOT / "clients/conformance/rates.json").read_text())
        for case in table["cases"]:
            rates = [_rates.Rate.parse(limit["rate"]) for limit in case["limits"]]
            made = zip(_rates.rate_keys(case["key"], rates), rates, strict=True)
            expected = [(limit["key"], limit["durationUSec"], limit["upToUSec"]) for limit in case["limits"]]
            with self.subTest(case["name"]):
                self.assertEqual([(key, rate.interval, rate.up_to) for key, rate in made], expected)
        for case in table["invalid"]:
            with self.subTest(case["name"]), self.assertRaises(ValueError):
                list(_rates.rate_keys(case["key"], [_rates.Rate.parse(rate) for rate in case["rates"]]))

    # Connections

    def test_calls_one_after_the_other_share_a_connection(self) -> None:
        def three(peer: Peer, call: Any) -> None:
            for _ in range(3):
                peer.write({"parameters": {"countdown": countdown()}})
                peer.wait_for_end() if _ == 2 else peer.read()

        client = countdownd.Client((fake := self.fake(three)).socket)
        for _ in range(3):
            client.get("tea")
        client.close()
        fake.finish()

    def test_a_call_after_a_restart_of_the_daemon_is_made_on_a_new_connection(self) -> None:
        daemon = self.daemon()
        client = countdownd.Client(daemon.socket)

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket) as asynchronous:
                for _ in range(3):
                    client.start("tea")
                    await asynchronous.start("tea")
                    daemon.restart(signal.SIGKILL)

        self.run_async(test)
        client.start("tea")

    def test_threads_share_a_client_and_each_gets_its_reply(self) -> None:
        client = countdownd.Client(self.daemon().socket)
        keys = [f"key/{number}" for number in range(400)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            started = list(pool.map(lambda key: client.start(key).countdown.key, keys))
        self.assertEqual(started, keys)
        self.assertLessEqual(client.status().connections, 8)

    def test_a_child_process_makes_its_own_connection(self) -> None:
        daemon = self.daemon()
        client = countdownd.Client(daemon.socket)
        client.start("tea")
        if not (child := os.fork()):
            with contextlib.suppress(BaseException):
                client.start("of the child")
                client.close()
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(client.get("of the child").key, "of the child")

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
        for duration in ("60", True, b"60", 1j, [60], Timedelta64()):
            with self.subTest(duration), self.assertRaisesRegex(TypeError, "expected a timedelta or a number of seconds$"):
                client.start("tea", duration)  # type: ignore[arg-type]
            with self.subTest(duration), self.assertRaises(TypeError):
                countdownd.Client(timeout=duration)  # type: ignore[arg-type]
        for number in (float("nan"), float("inf"), -float("inf"), 1e300, 1e308, 1 << 53, 10**400, timedelta.max):
            with self.subTest(number), self.assertRaisesRegex(ValueError, "^the duration is .*; expected a number of seconds, at most 285 years$"):
                client.start("tea", number)
            with self.subTest(number), self.assertRaisesRegex(ValueError, "^the timeout is .*; expected a positive duration"):
                countdownd.AsyncClient(timeout=number)
            if isinstance(number, timedelta):
                continue
            with self.subTest(number), self.assertRaisesRegex(ValueError, "expected|not JSON compliant"):
                client.call("Start", key="tea", durationUSec=number)
        for until in (date(2026, 1, 1), "2026-01-01", 1.5):
            with self.subTest(until), self.assertRaisesRegex(TypeError, "expected a datetime with a time zone$"):
                client.start("tea", until=until)  # type: ignore[arg-type]
        for timeout in (0, -1, timedelta(0)):
            with self.assertRaisesRegex(ValueError, "expected a positive duration"):
                countdownd.Client(timeout=timeout)

    def test_durations_are_timedeltas_and_all_kinds_of_numbers(self) -> None:
        client = countdownd.Client(self.daemon().socket, timeout=None)
        countdownd.Client(client.path, timeout=timedelta(days=36525)).status()
        for duration in (timedelta(seconds=1.5), 1.5, decimal.Decimal("1.5"), fractions.Fraction(3, 2)):
            started = client.start("tea", duration, if_running="restart")  # type: ignore[arg-type]
            self.assertEqual(started.countdown.duration, timedelta(seconds=1.5))

    def test_the_address_may_be_written_as_varlinkctl_does(self) -> None:
        for given in ("unix:/run/socket", Path("unix:/run/socket"), "/run/socket"):
            self.assertEqual(countdownd.Client(given).path, "/run/socket")
        with mock.patch.dict(os.environ, {"COUNTDOWND_SOCKET": "unix:/run/socket"}):
            self.assertEqual(countdownd.AsyncClient().path, "/run/socket")

    def test_a_client_can_be_copied_and_pickled_before_and_after_its_first_call(self) -> None:
        path = self.daemon().socket
        for client in (countdownd.Client(path, timeout=3), countdownd.AsyncClient(path, timeout=3), countdownd.Client(timeout=None)):
            for _ in range(2):
                for same in (copy.copy(client), copy.deepcopy(client), pickle.loads(pickle.dumps(client))):
                    self.assertEqual((type(same), same._given, same._timeout), (type(client), client._given, client._timeout))
                if client._given:
                    answer = client.status()
                    self.assertTrue(asyncio.run(answer).version if isinstance(answer, Coroutine) else answer.version)

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

    def test_the_examples_end_though_the_countdown_was_forgotten_while_the_daemon_was_away(self) -> None:
        for example in ("countdown.py", "countdown_async.py"):
            daemon = self.daemon()
            client = countdownd.Client(daemon.socket)
            client.start("tea", 3, forget=True)
            environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PYTHON_CLIENT), "COUNTDOWND_SOCKET": f"unix:{daemon.socket}"}
            command = [sys.executable, str(ROOT / "examples/python" / example), "tea"]
            silent = subprocess.DEVNULL
            with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=silent, text=True) as process:
                assert process.stdout
                try:
                    self.assertIn("attached", process.stdout.readline())
                    ends = client.get("tea").deadline
                    daemon.stop(signal.SIGKILL)
                    wait_until(lambda: ends is not None and datetime.now(timezone.utc) > ends)
                    daemon.start()
                    process.wait(PATIENCE)
                    self.assertEqual(process.stdout.read().splitlines()[-1:], ["tea: gone, 0 s left"], example)
                finally:
                    process.kill()

    def test_leaving_the_loop_of_a_follow_closes_the_watch_and_leaves_the_countdown(self) -> None:
        client = countdownd.Client(self.daemon().socket)
        for step in client.follow("tea", 3600):
            self.assertEqual((step.type, client.status().watchers), ("started", 1))
            break
        wait_until(lambda: client.status().watchers == 0)
        self.assertEqual(client.get("tea").state, "running")
        with contextlib.closing(client.follow("tea")) as steps:
            self.assertEqual(next(steps).type, "attached")
        wait_until(lambda: client.status().watchers == 0)

    def test_a_follow_without_a_length_takes_no_other_argument_of_a_start(self) -> None:
        client = countdownd.Client("/missing")
        self.assertRaisesRegex(TypeError, "no duration", client.follow, "tea", label="Tea")
        self.assertRaises(countdownd.NoDaemon, next, client.follow("tea", 5))

    # asyncio

    def test_a_step_that_is_waited_for_again_and_again_is_not_lost_though_the_daemon_is_away_meanwhile(self) -> None:
        daemon = self.daemon()

        async def test() -> list[str]:
            types: list[str] = []
            async with countdownd.AsyncClient(daemon.socket).follow("tea", 3600, tick=0) as steps:
                begin = time.monotonic()
                while types[-1:] != ["cancelled"]:
                    assert time.monotonic() < begin + PATIENCE, types
                    with contextlib.suppress(asyncio.TimeoutError):
                        types.append((await asyncio.wait_for(anext(steps), 0.05)).type)
                        if types[-1] == "started":
                            daemon.stop(signal.SIGKILL)
                            loop = asyncio.get_running_loop()
                            loop.call_later(0.5, daemon.start)  # so long that a pause is longer than the wait
                        if types[-1] == "attached":
                            daemon.call("Cancel", key="tea")
            return types

        self.assertEqual(asyncio.run(test()), ["started", "away", "attached", "cancelled"])

    def test_a_follow_whose_task_is_cancelled_leaves_the_queue_and_the_countdown(self) -> None:
        daemon = self.daemon()
        daemon.call("Start", key="tea")

        async def test() -> None:
            client = countdownd.AsyncClient(daemon.socket)
            steps = client.follow("tea", 60, if_running="wait")
            waiting = asyncio.ensure_future(anext(steps))
            while not (await client.status()).queued_starts:
                await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            steps.close()
            while (await client.status()).queued_starts or (await client.status()).watchers:
                await asyncio.sleep(0)
            self.assertEqual((await client.get("tea")).metadata, {})

        asyncio.run(asyncio.wait_for(test(), PATIENCE))

    def test_tasks_share_a_connection_and_each_gets_its_reply(self) -> None:
        daemon = self.daemon()

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket) as client:
                keys = [f"key/{number}" for number in range(1000)]
                started = await asyncio.gather(*(client.start(key) for key in keys))
                self.assertEqual([one.countdown.key for one in started], keys)
                self.assertEqual((await client.status()).connections, 1)

        self.run_async(test)

    def test_a_call_that_waits_does_not_delay_the_calls_of_other_tasks(self) -> None:
        daemon = self.daemon()

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket) as client:
                await client.start("tea", 3600)
                waiting = [asyncio.create_task(client.wait("tea")), asyncio.create_task(client.start("tea", if_running="wait"))]
                while (await client.status()).queued_starts == 0:
                    await asyncio.sleep(0)
                await client.finish("tea")
                self.assertEqual([type(one).__name__ for one in await asyncio.gather(*waiting)], ["Countdown", "Started"])

        self.run_async(test)

    def test_a_call_that_is_cancelled_does_not_disturb_the_others(self) -> None:
        daemon = self.daemon()

        async def test() -> None:
            async with countdownd.AsyncClient(daemon.socket) as client:
                calls = [asyncio.create_task(client.start(f"key/{number}")) for number in range(100)]
                await asyncio.sleep(0)
                for call in calls[::2]:
                    call.cancel()
                started = await asyncio.gather(*calls[1::2])
                self.assertEqual([one.countdown.key for one in started], [f"key/{number}" for number in range(1, 100, 2)])

        self.run_async(test)

    def test_a_daemon_that_is_silent_ends_all_calls_of_a_connection_and_the_next_one_connects_again(self) -> None:
        def answer(peer: Peer, call: Any) -> None:
            peer.write({"parameters": {"countdown": countdown()}})
            stay(peer)

        async def test() -> None:
            client = countdownd.AsyncClient(self.fake(lambda peer, call: stay(peer), answer).socket, timeout=1)
            results = await asyncio.gather(*(client.get("tea") for _ in range(3)), return_exceptions=True)
            self.assertEqual([type(one) for one in results], [countdownd.TimedOut] * 3)
            self.assertEqual((await client.get("tea")).key, "tea")
            client.close()

        self.run_async(test)

    def test_the_time_before_a_call_is_sent_is_no_silence_of_the_daemon(self) -> None:
        go = threading.Event()

        def answer(peer: Peer, call: Any) -> None:
            go.wait(PATIENCE)
            peer.write({"parameters": {"countdown": countdown()}})
            stay(peer)

        async def test() -> None:
            async with countdownd.AsyncClient(self.fake(answer).socket, timeout=0.3) as client:
                call = asyncio.create_task(client.get("tea"))
                await asyncio.sleep(0)  # the call is made, and will be sent with those of other tasks
                limit = asyncio.get_running_loop().time() + 0.35
                while asyncio.get_running_loop().time() < limit:
                    pass  # busy for longer than the timeout
                for _ in range(3):
                    await asyncio.sleep(0)
                go.set()
                self.assertEqual((await call).key, "tea")

        self.run_async(test)

    def test_a_client_works_in_one_event_loop_after_another_and_in_several_threads(self) -> None:
        client = countdownd.AsyncClient(self.daemon().socket)

        async def start(number: int) -> str:
            started = await asyncio.gather(*(client.start(f"key/{number}") for _ in range(10)))
            return started[-1].countdown.key

        self.assertEqual([asyncio.run(start(number)) for number in range(3)], [f"key/{number}" for number in range(3)])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            started = list(pool.map(lambda number: asyncio.run(start(number)), range(20)))
        self.assertEqual(started, [f"key/{number}" for number in range(20)])

    def test_clients_need_not_be_closed(self) -> None:
        program = """
import asyncio, countdownd, gc
countdownd.Client().start("tea")
async def start():
    await countdownd.AsyncClient().start("tea")
    client = countdownd.AsyncClient()
    await client.start("tea")
    return client
client = asyncio.run(start())
del client
gc.collect()
"""
        environment = {"PYTHONPATH": str(PYTHON_CLIENT), "COUNTDOWND_SOCKET": str(self.daemon().socket)}
        run = subprocess.run([sys.executable, "-W", "always", "-c", program], env=environment, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_socket_that_could_not_be_made_leaves_no_message(self) -> None:
        program = """
import countdownd, gc, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
try:
    countdownd.Client("/missing").get("tea")
except OSError as error:
    print(error.strerror)
gc.collect()
"""
        environment = {"PYTHONPATH": str(PYTHON_CLIENT)}
        run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        self.assertEqual((run.stdout, run.stderr), ("Too many open files\n", ""))

    def test_eventlet_may_take_select_poll_away(self) -> None:
        program = """
import select, sys
if sys.argv[1] == "eventlet":
    import eventlet
    eventlet.monkey_patch()
else:
    del select.poll
import countdownd
client = countdownd.Client()
for _ in range(2):
    client.start("tea", 0.01)
    client.wait("tea")
watch = client.watch()
print(next(watch).type)
"""
        environment = {"PYTHONPATH": str(PYTHON_CLIENT), "COUNTDOWND_SOCKET": str(self.daemon().socket)}
        for how in ("eventlet", "without"):
            command = [sys.executable, "-W", "ignore", "-c", program, how]
            run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((run.stdout, run.stderr), ("synced\n", ""))

    def test_closing_a_client_ends_its_calls_and_it_can_be_used_again(self) -> None:
        daemon = self.daemon()

        async def test() -> None:
            client = countdownd.AsyncClient(self.fake(lambda peer, call: stay(peer)).socket)
            call = asyncio.create_task(client.get("tea"))
            await asyncio.sleep(0)
            client.close()
            with self.assertRaisesRegex(countdownd.Disconnected, "^the client was closed$"):
                await call
            client = countdownd.AsyncClient(daemon.socket)
            for _ in range(2):
                await client.start("tea")
                client.close()

        self.run_async(test)

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
