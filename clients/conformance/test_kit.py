"""The kit for tests, and the relay of one watch to many pages."""

import asyncio
import concurrent.futures
import os
import subprocess
import sys
import unittest
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest import mock

from harness import BUILT, PATIENCE, PYTHON_CLIENT, ServerTests, wait_until

sys.path.insert(0, str(PYTHON_CLIENT))
os.environ.setdefault("COUNTDOWND_PROGRAM", str(BUILT / "countdownd"))
import countdownd  # noqa: E402
import countdownd.testing  # noqa: E402

#: The status, the headers and the body.
Answer = tuple[int, dict[str, str], bytes]


async def ask(
    app: Any, method: str = "GET", headers: dict[str, str] | None = None, lines: "asyncio.Queue[str] | None" = None, without: str = "",
    **named: Any,
) -> Answer:
    """Makes a request of an ASGI application, whose scope does not have the name `without`. The data of server-sent events goes to
    `lines`."""
    sent: list[Any] = []

    whole = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        return whole.pop() if whole else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)
        for line in message.get("body", b"").decode().splitlines():
            if lines and line.startswith("data: "):
                lines.put_nowait(line[6:])

    fields = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    receive = named.pop("receive", receive)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": "/",
        "raw_path": b"/", "query_string": b"", "root_path": "", "headers": fields, "client": ("192.0.2.1", 5),
        "server": ("test", 80), **named,
    }
    scope.pop(without, None)
    await app(scope, receive, send)
    start = sent[0]
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return start["status"], {name.decode().lower(): value.decode() for name, value in start["headers"]}, body


class KitTests(ServerTests):
    """Tests with the daemon of the kit, which clients without a path use."""

    def setUp(self) -> None:
        self.private = countdownd.testing.Daemon()
        self.enterContext(self.private)
        self.enterContext(mock.patch.dict(os.environ, {"COUNTDOWND_SOCKET": self.private.path}))
        self.client = countdownd.Client()
        self.addCleanup(self.client.close)

    def run_async(self, test: Callable[[], Awaitable[None]]) -> None:
        async def limited() -> None:
            await asyncio.wait_for(test(), PATIENCE)

        asyncio.run(limited())

    def pytest(self, program: str) -> str:
        """What pytest prints about a file with tests."""
        path = Path(self.private._folder, "test_program.py")
        path.write_text(program)
        installed = any(PYTHON_CLIENT.glob("countdownd-*.dist-info"))  # then the package registers the plugin
        plugin = [] if installed else ["-p", "countdownd._pytest"]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, str(path)],
            env={**os.environ, "PYTHONPATH": str(PYTHON_CLIENT)}, capture_output=True, text=True,
        )
        return run.stdout + run.stderr


class TestingTests(KitTests):
    def test_time_that_is_advanced_ends_countdowns_in_their_order_and_serves_queues(self) -> None:
        for key, seconds in [("b", 20), ("a", 10), ("late", 100)]:
            self.client.start(key, seconds)
        self.client.start("paused", 10)
        self.client.pause("paused")
        with self.client.watch(tick=0) as events, concurrent.futures.ThreadPoolExecutor() as pool:
            while next(events).type != "synced":
                pass
            queued = pool.submit(self.client.start, "a", 30, if_running="wait")
            while not self.client.status().queued_starts:
                pass
            self.private.advance(45)
            self.assertEqual(queued.result(PATIENCE).outcome, "started")
            ends: list[str | None] = []
            while len(ends) < 3:
                if (event := next(events)).type == "finished":
                    ends.append(event.key)
        self.assertEqual(ends, ["a", "b", "a"])
        self.assertAlmostEqual(self.client.get("late").remaining.total_seconds(), 55, delta=PATIENCE)
        self.assertAlmostEqual(self.client.get("paused").remaining.total_seconds(), 10, delta=PATIENCE / 4)

    def test_a_follow_ends_with_the_time_that_a_test_advances_and_outlives_a_kill(self) -> None:
        types = []
        for step in self.client.follow("tea", 3600, tick=0):
            types.append(step.type)
            if step.type == "started":
                self.private.stop()
                self.private.start()
            if step.type == "attached":
                self.private.advance(3600)
        self.assertEqual(types, ["started", "away", "attached", "finished"])

    def test_a_daemon_of_a_test_can_be_killed_and_comes_back_with_its_countdowns(self) -> None:
        self.client.start("tea", 3600)
        self.private.stop()
        with self.assertRaises(countdownd.NoDaemon):
            self.client.get("tea")
        self.private.start()
        self.assertEqual(self.client.get("tea").state, "running")

    def test_a_daemon_ends_with_its_test_process_though_that_is_killed(self) -> None:
        program = """
import countdownd.testing, sys, time
daemon = countdownd.testing.Daemon()
daemon.start()
print(daemon.path, flush=True)
if sys.argv[1] == "again":
    daemon.stop()
    daemon.start()
    print(daemon.path, flush=True)
if sys.argv[1] != "end":
    time.sleep(600)
"""
        for how in ("end", "kill", "again"):
            environment = {**os.environ, "PYTHONPATH": str(PYTHON_CLIENT)}
            with subprocess.Popen([sys.executable, "-W", "ignore", "-c", program, how], env=environment, stdout=subprocess.PIPE) as process:
                assert process.stdout
                path = process.stdout.readline().decode().strip()
                if how == "again":
                    process.stdout.readline()
                if how != "end":
                    countdownd.Client(path).status()
                    process.kill()
                process.wait(PATIENCE)
            with self.subTest(how):
                wait_until(lambda: not Path(path).parent.exists())
                with self.assertRaises(countdownd.NoDaemon):
                    countdownd.Client(path).status()

    def test_time_is_advanced_by_a_number_of_calls_that_grows_with_that_of_the_countdowns(self) -> None:
        for number in range(50):
            self.client.start(f"key/{number}", 100 + 10 * number)
        calls = 0
        answer = countdownd.Client.call

        def count(self: countdownd.Client, method: str, **parameters: Any) -> Any:
            nonlocal calls
            calls += 1
            return answer(self, method, **parameters)

        with mock.patch.object(countdownd.Client, "call", count):
            self.private.advance(355)
        self.assertLessEqual(calls, 50)
        self.assertEqual(len(self.client.list()), 24)

    def test_a_program_that_is_missing_or_does_not_start_is_an_error_that_says_so(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "install countdownd, or set"):
            countdownd.testing.Daemon("/missing")
        with self.assertRaisesRegex(RuntimeError, "countdownd does not start: .*--socket"), countdownd.testing.Daemon("ls"):
            pass

    def test_the_fixture_gives_each_test_of_pytest_its_own_daemon(self) -> None:
        program = """
import countdownd
client = countdownd.Client()
def test_one(countdownd_daemon):
    client.start("tea", 60)
    countdownd_daemon.advance(60)
    assert client.get("tea").state == "finished"
def test_other(countdownd_daemon):
    assert client.start("tea", 60, if_running="fail").outcome == "started"
"""
        self.assertIn("2 passed", self.pytest(program))


class RelayTests(KitTests):
    def test_one_watch_tells_many_pages_of_changes_and_of_a_daemon_that_was_away(self) -> None:
        from countdownd.starlette import Relay
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import Response
        from starlette.routing import Route

        client = countdownd.AsyncClient()
        relay = Relay(client, match=["cart/*"], topic=lambda key: key.rpartition("/")[2], pages_per_address=3)

        async def events(request: Request) -> Response:
            account = request.query_params["account"]

            async def state() -> object:
                return [one.key for one in await client.list(match=[f"cart/*/{account}"])]

            return relay.page(request, account, state)

        app = Starlette(routes=[Route("/", events)], lifespan=relay.lifespan)

        async def until(lines: "asyncio.Queue[str]", state: str) -> None:
            while await lines.get() != state:
                pass

        async def page(account: str) -> tuple["asyncio.Queue[str]", "asyncio.Task[Answer]"]:
            """The lines of the data that a page gets."""
            lines: asyncio.Queue[str] = asyncio.Queue()
            task = asyncio.create_task(ask(app, query_string=f"account={account}".encode(), lines=lines))
            return lines, task

        async def test() -> None:
            async with relay.lifespan(app):
                pages = [await page(account) for account in ("alice", "alice", "bob")]
                for lines, _ in pages:
                    await until(lines, "[]")
                await client.start("cart/1/alice", 3600)
                for lines, _ in pages[:2]:
                    await until(lines, '["cart/1/alice"]')
                for peer in (("192.0.2.1", 5), ("::ffff:192.0.2.1", 6), ("192.0.2.1:7", 0)):
                    status, headers, _ = await ask(app, query_string=b"account=bob", client=peer)
                    self.assertEqual((status, headers["retry-after"]), (429, "10"))
                self.assertEqual((await client.status()).watchers, 1)
                self.private.stop()
                self.private.start()
                await client.finish("cart/1/alice")
                for lines, _ in pages:
                    await until(lines, "[]")
                for _, task in pages:
                    task.cancel()
                await asyncio.wait([task for _, task in pages])
                self.assertEqual((relay._pages_of, relay._pages_at), ({}, {}))

        self.run_async(test)


if __name__ == "__main__":
    unittest.main(verbosity=2)
