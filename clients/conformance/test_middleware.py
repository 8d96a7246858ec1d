"""The limits of requests and of code, with the frameworks and servers that people use.

The tests whose names end with a project and a number are about what was asked for in that project's thread.
"""

import asyncio
import contextlib
import datetime
import enum
import io
import ipaddress
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest
import uuid
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
from harness import PATIENCE, PYTHON_CLIENT, ROOT, Peer, wait_until
from starlette.requests import Request
from starlette.responses import StreamingResponse
from test_kit import Answer, KitTests, ask

import countdownd.asgi
import countdownd.wsgi
import web_apps
from countdownd import _keys

ASGI = {"starlette": web_apps.starlette_app, "fastapi": web_apps.fastapi_app, "django": web_apps.django_async_app}
WSGI = {"flask": web_apps.flask_app, "django": web_apps.django_app, "plain": web_apps.plain_app}


def ask_wsgi(app: Any, method: str = "GET", headers: dict[str, str] | None = None, without: str = "", **named: Any) -> Answer:
    """Makes a request of a WSGI application, whose environment does not have the name `without`."""
    started: list[Any] = []
    fields = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in (headers or {}).items()}

    def start_response(status: str, headers: list[tuple[str, str]], *failure: Any) -> None:
        started[:] = [int(status.split()[0]), {name.lower(): value for name, value in headers}]

    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": "/", "SCRIPT_NAME": "", "QUERY_STRING": "", "SERVER_NAME": "test",
        "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "192.0.2.1", "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr, "wsgi.multithread": True,
        "wsgi.multiprocess": True, "wsgi.run_once": False, **fields,
        **named,
    }
    environ.pop(without, None)
    body = app(environ, start_response)
    text = b"".join(body)
    return started[0], started[1], text


VALUES = json.loads(Path(__file__).with_name("values.json").read_text())


class Account(str):
    """As a framework has strings of its own."""

    def __str__(self) -> str:
        return f"account {id(self)}"


class Tier(enum.Enum):
    PAID = 138


def as_tuple(value: Any) -> Any:
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


class WebTests(KitTests):
    framework = ""

    def asking(self, **options: Any) -> Iterator[tuple[str, Callable[..., Answer]]]:
        """Each framework with its middleware, as a function that makes a request. Each has limits of its own."""
        options = {"key": lambda request: "138", "on_failure": "closed", "timeout": 5, **options}
        with asyncio.Runner() as runner:
            for name, make in ASGI.items():
                self.framework = f"ASGI, {name}"
                app = make(**options)
                yield name, lambda *arguments, **named: runner.run(ask(app, *arguments, **named))
                self.forget_all()
        for name, make in WSGI.items():
            self.framework = f"WSGI, {name}"
            app = make(**options)
            yield name, lambda *arguments, **named: ask_wsgi(app, *arguments, **named)
            self.forget_all()

    def _formatMessage(self, msg: Any, standardMsg: str) -> str:
        return f"{self.framework}: {super()._formatMessage(msg, standardMsg)}"

    def assert_soon(self, text: str, expected: str) -> None:
        """The text is the expected one; numbers of seconds may be less by as long as the test has taken."""
        numbers, greatest = ([int(number) for number in re.findall("[0-9]+", each)] for each in (text, expected))
        self.assertEqual(re.sub("[0-9]+", "", text), re.sub("[0-9]+", "", expected), text)
        for number, most in zip(numbers, greatest, strict=True):
            self.assertTrue(number == most or most >= 20 and most - PATIENCE / 2 < number < most, f"{text}; expected {expected}")

    def accepted(self, ask: Callable[..., Answer], count: int) -> int:
        """How many requests pass."""
        return [ask()[0] for _ in range(count)].count(200)

    def forget_all(self) -> None:
        for one in self.client.list():
            self.client.cancel(one.key)


class MiddlewareTests(WebTests):
    # The answers

    def test_requests_beyond_a_rate_get_429_with_when_to_come_back(self) -> None:
        for _, ask in self.asking(limits={"burst": "2/10m"}):
            status, headers, body = ask()
            self.assertEqual((status, body.strip(b'"')), (200, b"hello"))
            self.assertEqual(headers["ratelimit-policy"], '"burst";q=2;w=600')
            self.assert_soon(headers["ratelimit"], '"burst";r=1;t=300')
            self.assert_soon(ask()[1]["ratelimit"], '"burst";r=0;t=300')
            status, headers, body = ask()
            self.assertEqual(status, 429)
            self.assert_soon(headers["retry-after"], "300")
            self.assert_soon(headers["ratelimit"], '"burst";r=0;t=300')
            self.assertEqual(headers["content-type"], "application/problem+json")
            problem = json.loads(body)
            self.assertEqual(problem["type"], "https://iana.org/assignments/http-problem-types#quota-exceeded")
            self.assertEqual((problem["status"], problem["violated-policies"]), (429, ["burst"]))
            self.private.advance(300)
            self.assertEqual(ask()[0], 200)

    def test_without_headers_only_retry_after_is_sent(self) -> None:
        for _, ask in self.asking(limits={"burst": "1/10m"}, headers=None):
            self.assertNotIn("ratelimit", ask()[1])
            status, headers, _ = ask()
            self.assertEqual((status, "ratelimit" in headers), (429, False))
            self.assert_soon(headers["retry-after"], "600")

    def test_a_window_that_is_no_whole_seconds_has_no_w(self) -> None:
        for _, ask in self.asking(limits={"burst": "2/1500ms"}):
            self.assertEqual(ask()[1]["ratelimit-policy"], '"burst";q=2')

    def test_a_refusal_whose_end_is_not_known_has_no_retry_after(self) -> None:
        for _, ask in self.asking(limits={"burst": "1/10m"}):
            ask()
            self.client.pause("burst/138")
            status, headers, _ = ask()
            self.assertEqual((status, "retry-after" in headers, headers["ratelimit"]), (429, False, '"burst";r=0'))

    def test_the_application_can_answer_a_refusal(self) -> None:
        async def later(scope: Any, receive: Any, send: Any) -> None:
            headers = [(b"x-wait", str(scope["countdownd.refused"]).encode())]
            await send({"type": "http.response.start", "status": 429, "headers": headers})
            await send({"type": "http.response.body", "body": b"later"})

        def later_wsgi(environ: Any, start_response: Any) -> list[bytes]:
            start_response("429 Too Many Requests", [("x-wait", str(environ["countdownd.refused"]))])
            return [b"later"]

        def either(*arguments: Any) -> Any:
            return (later if len(arguments) == 3 else later_wsgi)(*arguments)

        for _, ask in self.asking(limits={"burst": "1/10m"}, on_refused=either):
            ask()
            status, headers, body = ask()
            self.assertEqual((status, body), (429, b"later"))
            self.assert_soon(headers["retry-after"], "600")
            self.assert_soon(headers["x-wait"], "too early; again in 600 s")

    def test_a_request_may_count_for_several(self) -> None:
        for _, ask in self.asking(limits={"burst": "10/10m"}, cost=lambda request: 4):
            self.assertEqual([ask()[1]["ratelimit"].split(";")[1] for _ in range(2)], ["r=6", "r=2"])
            status, headers, _ = ask()
            self.assertEqual(status, 429)
            self.assert_soon(headers["retry-after"], "120")
            self.assertEqual(headers["ratelimit"].split(";")[1], "r=2")

    # Which requests

    def test_preflights_are_not_limited(self) -> None:
        fields = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
        for _, ask in self.asking(limits={"burst": "1/10m"}):
            for _ in range(3):
                status, answered, _ = ask("OPTIONS", headers=fields)
                self.assertNotEqual(status, 429)
                self.assertNotIn("ratelimit", answered)

    def test_an_options_request_that_is_no_preflight_is_limited(self) -> None:
        for _, ask in self.asking(limits={"burst": "1/10m"}):
            ask("OPTIONS")
            self.assertEqual(ask("OPTIONS")[0], 429)

    def test_the_body_of_a_refused_request_is_not_read(self) -> None:
        async def test() -> None:
            async def receive() -> Any:
                raise AssertionError("the body was read")

            app = web_apps.starlette_app(limits={"burst": "1/10m"}, key=lambda scope: "", on_failure="closed", timeout=5)
            await ask(app)
            self.assertEqual((await ask(app, "POST", receive=receive))[0], 429)

        self.run_async(test)

    def test_websockets_are_not_limited(self) -> None:
        async def test() -> None:
            seen: list[str] = []

            async def app(scope: Any, receive: Any, send: Any) -> None:
                seen.append(scope["type"])

            key: Any = lambda scope: ""
            limited = countdownd.asgi.RateLimit(app, limits={"burst": "1/10m"}, key=key, on_failure="closed")
            for _ in range(3):
                await limited({"type": "websocket"}, mock.Mock(), mock.Mock())
            self.assertEqual(seen, ["websocket"] * 3)

        self.run_async(test)

    # Keys

    def test_no_value_is_an_error_or_turns_a_limit_off(self) -> None:
        for case in VALUES["cases"] + VALUES["texts"]:
            with self.subTest(case):
                self.assertEqual(_keys.limit_key("ip", case["value"]), case["key"])
        _keys.limit_key("ip", "\udcff")  # as a WSGI server gives bytes that are no text
        for _, ask in self.asking(limits={"ip": "1/10m"}, key=lambda request: "\0*/\udcff" * 1000):
            self.assertEqual([ask()[0], ask()[0]], [200, 429])

    def test_the_address_decides_however_it_is_written(self) -> None:
        for case in VALUES["addresses"]:
            for value in case["values"]:
                given = [value, value.encode(), Account(value)]
                with contextlib.suppress(ValueError):
                    given.append(ipaddress.ip_address(value))
                for one in given:
                    with self.subTest(one):
                        self.assertEqual(_keys.limit_key("ip", one), case["key"])

    def test_equal_values_have_one_key_and_others_have_others(self) -> None:
        number = uuid.uuid4()
        groups: list[list[_keys.KeyValue]] = [
            ["138", 138, b"138", Decimal("138.0"), Decimal("1.38E2"), Tier.PAID, Account("138")], [139], [-138],
            ["100", Decimal("1E+2")], ["0", 0, Decimal("-0.00")], [Decimal("0.1")], [Decimal("1E+999999999")],
            [Decimal("10E-999999999"), Decimal("1E-999999998")], [number, str(number)], ["", None, b""], [b"\xff", "\udcff"], [b"\xfe"],
            [(), "[]"], [("a", "b"), (b"a", Account("b"))], [("ab",)], [("a", "b", None)], [("a", ("b",))],
            [("2001:db8::1", 5), (ipaddress.ip_address("2001:db8::2"), "5")],
        ]
        for case in VALUES["lists"]:
            self.assertEqual(_keys.limit_key("ip", as_tuple(case["values"])), case["key"])
        keys = [{_keys.limit_key("ip", value) for value in group} for group in groups]
        self.assertEqual([len(each) for each in keys], [1] * len(keys))
        self.assertEqual(len(set.union(*keys)), len(groups))

    def test_a_key_may_name_the_limits_that_apply(self) -> None:
        wanted: dict[str, object] = {}
        for _, ask in self.asking(limits={"free": "1/10m", "paid": "3/10m"}, key=lambda request: wanted):
            wanted.update(free="alice")
            self.assertEqual([ask()[0], ask()[0]], [200, 429])
            wanted.clear()
            self.assertEqual([ask()[0], ask()[0]], [200, 200])
            wanted.update(paid="alice")
            self.assertEqual(ask()[1]["ratelimit-policy"], '"paid";q=3;w=600')
            wanted.clear()

    def test_each_visitor_has_their_own_limit(self) -> None:
        value = ""
        for _, ask in self.asking(limits={"ip": "1/10m"}, key=lambda request: value):
            for value in ("one", "two", "three"):
                self.assertEqual([ask()[0], ask()[0]], [200, 429])

    def test_a_key_that_cannot_be_used_is_an_error_of_the_program_and_no_failure_of_the_daemon(self) -> None:
        class User:
            """As Starlette and Django have in a request."""

        wrong: list[Any] = [
            True, False, 1.5, float("nan"), Decimal("NaN"), Decimal("-Infinity"), object(), User(), User, [], ["alice"], {"alice"}, 1j,
            (1.5,), ("a", ("b", False)), range(3), datetime.datetime.now(), ipaddress.ip_network("192.0.2.0/24"), memoryview(b"a"),
            enum.Enum("Size", {"BIG": 1.5}).BIG,  # type: ignore[attr-defined]
        ]
        wrong = [*wrong, *({"burst": one} for one in wrong), {"burst": {}}, {"other": "a"}, {1: "a"}, asyncio.sleep]
        value: Any = None
        for on_failure in ("open", "closed"):
            for _, ask in self.asking(limits={"burst": "1/10m"}, key=lambda request: value, on_failure=on_failure):
                for value in wrong:
                    with self.subTest(value), self.assertRaisesRegex((TypeError, ValueError), "expected"):
                        ask()
                self.assertEqual(self.client.list(), [])
                value = "alice"
                self.assertEqual(self.accepted(ask, 3), 1)

    def test_an_error_of_key_is_no_failure_of_the_daemon(self) -> None:
        for error in (KeyError("user"), UnicodeDecodeError("utf-8", b"", 0, 1, ""), OSError(), countdownd.NoDaemon("none"), TimeoutError()):
            for _, ask in self.asking(limits={"burst": "1/10m"}, key=mock.Mock(side_effect=error), on_failure="open"):
                for _ in range(2):
                    with self.assertRaises(type(error)):
                        ask()

    def test_what_key_returns_may_be_awaited(self) -> None:
        async def user() -> str:
            await asyncio.sleep(0)
            return "alice"

        async def whole(scope: Any) -> Any:
            return {"burst": user()}

        async def fails(scope: Any) -> str:
            raise countdownd.NoDaemon("none")

        async def cost(scope: Any) -> int:
            return 2

        keys: list[Any] = [lambda scope: user(), lambda scope: {"burst": user()}, whole, lambda scope: ("a", user())]
        with asyncio.Runner() as runner:
            for make in ASGI.values():
                for key in keys:
                    app = make(limits={"burst": "6/10m"}, key=key, cost=cost, on_failure="open", timeout=5)
                    self.assertEqual(self.accepted(lambda: runner.run(ask(app)), 8), 3)
                    self.forget_all()
                app = make(limits={"burst": "3/10m"}, key=fails, on_failure="open", timeout=5)
                with self.assertRaises(countdownd.NoDaemon):
                    runner.run(ask(app))
        with warnings.catch_warnings(), self.assertRaisesRegex(TypeError, "a key is a coroutine"):
            warnings.simplefilter("ignore", RuntimeWarning)  # it is never awaited
            ask_wsgi(web_apps.flask_app(limits={"burst": "3/10m"}, key=whole, on_failure="open", timeout=5))

    def test_the_port_of_a_connection_is_no_part_of_a_key(self) -> None:
        keys: list[Any] = [
            lambda scope: scope["client"], lambda scope: {"ip": scope["client"]}, lambda scope: ("login", scope["client"]),
            countdownd.asgi.address, lambda scope: "%s:%s" % tuple(scope["client"]), lambda scope: Request(scope).client,
        ]
        with asyncio.Runner() as runner:
            for host in ("203.0.113.7", "::ffff:203.0.113.7"):
                for kind in (tuple, list):
                    for key in keys:
                        app = web_apps.starlette_app(limits={"ip": "3/10m"}, key=key, on_failure="closed", timeout=5)
                        statuses = [runner.run(ask(app, client=kind((host, 51000 + number))))[0] for number in range(5)]
                        self.assertEqual(statuses, [200] * 3 + [429] * 2)
                        self.forget_all()

    def test_visitors_without_an_address_are_one(self) -> None:
        with asyncio.Runner() as runner:
            clients: list[dict[str, Any]] = [{"client": None}, {"client": ("", 0)}, {}]
            for client in clients:
                for key in (countdownd.asgi.address, lambda scope: scope.get("client")):
                    app = web_apps.fastapi_app(limits={"ip": "3/10m"}, key=key, on_failure="closed", timeout=5)
                    without = "" if client else "client"
                    self.assertEqual(self.accepted(lambda: runner.run(ask(app, without=without, **client)), 5), 3)
                    self.forget_all()
        addresses: list[dict[str, Any]] = [{}, {"REMOTE_ADDR": ""}, {"REMOTE_ADDR": None}]
        for address in addresses:
            app = web_apps.flask_app(limits={"ip": "3/10m"}, key=countdownd.wsgi.address, on_failure="closed", timeout=5)
            without = "" if address else "REMOTE_ADDR"
            self.assertEqual(self.accepted(lambda: ask_wsgi(app, without=without, **address), 5), 3)
            self.forget_all()

    def test_ends_are_not_kept_and_do_not_ring(self) -> None:
        for _, ask in self.asking(limits={"ip": "1/10m"}):
            ask()
            (one,) = self.client.list()
            self.assertEqual((one.forget, one.metadata["cooldown"]), (True, "yes"))

    # Mistakes

    def test_what_a_program_gets_wrong_is_said_when_it_starts(self) -> None:
        good: dict[str, Any] = {"limits": {"a": "1/1s"}, "key": lambda request: "", "on_failure": "open"}
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"on_failure": "ajar"}, "on_failure is 'ajar'; expected open or closed"),
            ({"headers": "draft-7"}, "headers is 'draft-7'; expected draft-11 or None"),
            ({"limits": {"a/b": "1/1s"}}, "the name of a limit is 'a/b'"), ({"limits": {}}, "expected 1 to 16"),
            ({"limits": {"a": "often"}}, "invalid rate 'often'"), ({"limits": {"a": ["1/60s", "2/1m"]}}, "the period 1m has two"),
        ]
        for change, message in wrong:
            for kind in (countdownd.asgi.RateLimit, countdownd.wsgi.RateLimit):
                with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                    kind(mock.Mock(), **(good | change))
        with self.assertRaises(TypeError):
            countdownd.asgi.RateLimit(mock.Mock(), limits={"a": "1/1s"}, key=lambda scope: "")  # type: ignore[call-arg]

    def test_a_cost_beyond_the_rate_is_an_error_of_the_program(self) -> None:
        with self.assertRaises(countdownd.InvalidParameter):
            for _, ask in self.asking(limits={"burst": "2/10m"}, cost=lambda request: 3):
                ask()

    def test_a_daemon_that_is_too_old_stops_the_start_of_the_server(self) -> None:
        def refuse(peer: Peer, call: Any) -> None:
            peer.write({"error": "org.varlink.service.MethodNotFound", "parameters": {"method": "io.countdownd.StartAll"}})

        async def test() -> None:
            limits: dict[str, Any] = {"limits": {"a": "1/1s"}, "key": lambda scope: "", "on_failure": "open"}
            app = countdownd.asgi.RateLimit(mock.Mock(), path=str(self.fake(refuse).socket), **limits)
            sent: list[Any] = []

            async def receive() -> Any:
                return {"type": "lifespan.startup"}

            async def send(message: Any) -> None:
                sent.append(message)

            await app({"type": "lifespan"}, receive, send)
            self.assertEqual(sent[0]["type"], "lifespan.startup.failed")
            self.assertIn("needs a newer countdownd", sent[0]["message"])
            with self.assertRaises(countdownd.MethodNotFound):
                countdownd.wsgi.RateLimit(mock.Mock(), path=str(self.fake(refuse).socket), **limits)

        self.run_async(test)

    # Failures

    def test_without_a_daemon_requests_are_let_through_or_refused_as_the_program_chose(self) -> None:
        self.private.stop()
        for on_failure, expected in [("open", 200), ("closed", 503)]:
            with mock.patch.object(self, "forget_all"), self.assertLogs("countdownd", "WARNING") as log:
                for _, ask in self.asking(limits={"burst": "1/10m"}, on_failure=on_failure):
                    for _ in range(3):
                        status, headers, _ = ask()
                        self.assertEqual((status, headers.get("retry-after")), (expected, "1" if expected == 503 else None))
            self.assertEqual(len(log.output), len(ASGI) + len(WSGI), "once for each outage")

    def test_after_a_failure_there_is_one_try_per_second_and_the_limits_come_back(self) -> None:
        for _, ask in self.asking(limits={"burst": "2/10m"}):
            self.assertEqual(ask()[0], 200)
            self.private.stop()
            with self.assertLogs("countdownd"), mock.patch("countdownd._breaker.time.monotonic") as now:
                now.return_value = 100.0
                self.assertEqual(ask()[0], 503)
                self.private.start()
                now.return_value = 100.9
                self.assertEqual(ask()[0], 503)
                now.return_value = 101.0
                self.assertEqual([ask()[0], ask()[0]], [200, 429])

    def test_a_daemon_that_is_silent_delays_a_request_by_the_timeout_and_then_none(self) -> None:
        assert self.private._process
        for _, ask in self.asking(limits={"burst": "1000/10m"}, timeout=0.5):  # a call that was given up may count
            self.assertEqual(ask()[0], 200)
            self.private._process.send_signal(signal.SIGSTOP)
            with self.assertLogs("countdownd") as log:
                self.assertEqual([ask()[0] for _ in range(50)], [503] * 50)
            self.private._process.send_signal(signal.SIGCONT)
            self.assertIn("the daemon has not answered for 0.5 s", log.output[0])

    def test_a_daemon_has_half_a_second_for_an_answer_and_five_for_the_first(self) -> None:
        options: Any = {"limits": {"a": "1/1s"}, "key": lambda request: "", "on_failure": "open"}
        for limit in (countdownd.asgi.RateLimit(mock.Mock(), **options), countdownd.wsgi.RateLimit(mock.Mock(), **options)):
            self.assertEqual([client._timeout for client in (*limit._first, *limit._later)], [5, 5, 0.5, 0.5])

    def test_limits_and_stores_of_the_daemon_are_failures_and_a_fleet_without_groups_is_a_mistake(self) -> None:
        def refusing(error: str, **parameters: Any) -> Any:
            return lambda peer, call: peer.write({"error": f"io.countdownd.{error}", "parameters": parameters})

        async def answer(*script: Any) -> int:
            key: Any = lambda scope: ""
            path = self.fake(*script).socket
            app = web_apps.starlette_app(limits={"a": "1/1s"}, key=key, on_failure="closed", path=path, timeout=5)
            return (await ask(app))[0]

        async def test() -> None:
            with self.assertLogs("countdownd"):
                self.assertEqual(await answer(refusing("LimitReached", limit="countdowns", maximum=1)), 503)
                self.assertEqual(await answer(refusing("StorageFailed", reason="disk full")), 503)
                self.assertEqual(await answer(refusing("Unreachable", reason="no engine")), 503)
            with self.assertRaises(countdownd.LimitReached):
                await answer(refusing("LimitReached", limit="cooldownsInFleet", maximum=1))

        self.run_async(test)

    # What people asked for

    def test_a_budget_is_not_spent_on_requests_that_another_one_refuses_langfuse_14280_hypervel_594_milvus_25597(self) -> None:
        for _, ask in self.asking(limits={"tenant": "10/1h", "user": "1/1h"}):
            statuses = [ask()[0] for _ in range(4)]
            self.assertEqual(statuses, [200, 429, 429, 429])
            (tenant,) = self.client.start_all([countdownd.Cooldown("tenant/138", rate="10/1h")], dry_run=True).rooms
            self.assertEqual(tenant.left, 9)

    def test_three_a_minute_and_thirty_a_day_are_one_limit_loopback4_ratelimiter_91_clipperhouse_rate_11(self) -> None:
        for _, ask in self.asking(limits={"sms": ["3/1m", "30/1d"]}):
            headers = ask()[1]
            self.assertEqual(headers["ratelimit-policy"], '"sms";q=3;w=60, "sms/1d";q=30;w=86400')
            self.assert_soon(headers["ratelimit"], '"sms";r=2;t=20, "sms/1d";r=29;t=2880')
            self.assertEqual([ask()[0], ask()[0]], [200, 200])
            for _ in range(27):
                status, headers, _ = ask()
                self.assertEqual(status, 429)
                self.assert_soon(headers["ratelimit"], '"sms";r=0;t=20')
                self.private.advance(20)
                self.assertEqual(ask()[0], 200)
            self.private.advance(60)
            status, headers, body = ask()
            self.assertEqual(status, 429)
            self.assert_soon(headers["ratelimit"], '"sms/1d";r=0;t=2280')
            self.assertEqual(json.loads(body)["violated-policies"], ["sms/1d"])

    def test_how_many_are_left_can_be_asked_without_using_one_upstash_17_async_ratelimiter_52_node_ratelimiter_69(self) -> None:
        cooldowns = [countdownd.Cooldown("sms/138", rate="3/10m"), countdownd.Cooldown("call/138", 60)]
        for _ in range(2):
            asked = self.client.start_all(cooldowns, dry_run=True)
            self.assertEqual((asked.accepted, [room.left for room in asked.rooms]), (True, [3, 1]))
        self.assertTrue(self.client.start_all(cooldowns).accepted)
        asked = self.client.start_all(cooldowns, dry_run=True)
        self.assertEqual((asked.accepted, [room.left for room in asked.rooms]), (False, [2, 0]))
        assert asked.retry_after and asked.rooms[0].more
        self.assertTrue(0 < asked.retry_after.total_seconds() <= 60 and 0 < asked.rooms[0].more.total_seconds() <= 200)
        self.assertEqual(self.client.list(keys=["sms/138"])[0].metadata, {})

    def test_workers_of_uvicorn_share_a_limit_geolens_2037_slowapi_226_token_throttle_15(self) -> None:
        self.check_workers("uvicorn", "--factory", "web_apps:asgi_worker", "--workers", "8", "--uds", self.web)

    def test_workers_of_gunicorn_that_were_forked_share_a_limit_flask_limiter_40_256_352(self) -> None:
        self.check_workers("gunicorn", "--preload", "--threads", "8", *self.gunicorn)

    def test_workers_of_gunicorn_with_gevent_share_a_limit(self) -> None:
        # A worker of gevent closes a connection whose request it has not read for as long, because the processor is busy.
        self.check_workers("gunicorn", "--worker-class", "gevent", "--keep-alive", "60", *self.gunicorn)

    @property
    def gunicorn(self) -> list[str]:
        return ["--workers", "8", "--bind", f"unix:{self.web}", "web_apps:wsgi_worker()"]

    @property
    def web(self) -> str:
        """The socket of the web server."""
        return f"{self.private._folder}/web"

    def check_workers(self, *command: str) -> None:
        """Of 2,000 requests at once to 8 workers, exactly 100 are accepted."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
        folders = f"{PYTHON_CLIENT}{os.pathsep}{Path(__file__).parent}"
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": folders, "COUNTDOWND_SOCKET": self.private.path}
        silent = subprocess.DEVNULL
        server = subprocess.Popen([sys.executable, "-m", *command], env=environment, stdout=silent, stderr=silent)
        try:
            statuses = asyncio.run(asyncio.wait_for(self.ask_workers(), 6 * PATIENCE))
        finally:
            server.terminate()
            server.wait(PATIENCE)
        self.assertEqual(statuses, {200: 100, 429: 1900})

    async def ask_workers(self) -> Counter[int]:
        pids: set[bytes] = set()
        while len(pids) < 8:  # until all are there
            with contextlib.suppress(FileNotFoundError, ConnectionError):
                pids.update(body for _, body in await asyncio.gather(*(self.ask_worker("/pid") for _ in range(50))))
        return Counter(status for status, _ in await asyncio.gather(*(self.ask_worker("/") for _ in range(2000))))

    async def ask_worker(self, path: str) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_unix_connection(self.web)
        with contextlib.closing(writer):
            writer.write(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode())
            answer = await reader.read()
        return int(answer.split()[1]), answer.rpartition(b"\r\n")[2]


class RouteTests(WebTests):
    """Limits for some routes of an application."""

    ROUTES = {
        "fastapi": (web_apps.fastapi_route, True), "starlette": (web_apps.starlette_route, True),
        "django, async": (web_apps.django_async_route, True), "django": (web_apps.django_route, False),
        "flask": (web_apps.flask_route, False),
    }

    def routing(self, **options: Any) -> Iterator[Callable[[str], Answer]]:
        """Each framework, as a function that asks for a path."""
        with asyncio.Runner() as runner:
            for self.framework, (make, is_async) in self.ROUTES.items():
                app = make(**{"key": lambda request: "138", "on_failure": "closed", "timeout": 5, **options})
                yield lambda path: (
                    runner.run(ask(app, path=path, raw_path=path.encode())) if is_async else ask_wsgi(app, PATH_INFO=path)
                )
                self.forget_all()

    def test_a_route_beyond_its_rate_answers_429_with_the_fields_and_the_others_are_free(self) -> None:
        for get in self.routing(limits={"sms": ["2/10m", "30/1d"]}):
            for left in (1, 0):
                status, headers, body = get("/")
                self.assertEqual((status, body.strip(b'"')), (200, b"hello"))
                self.assertEqual(headers["ratelimit-policy"], '"sms";q=2;w=600, "sms/1d";q=30;w=86400')
                self.assertEqual(headers["ratelimit"].split(";")[1], f"r={left}")
            status, headers, _ = get("/")
            self.assertEqual((status, headers["ratelimit"].split(";")[:2]), (429, ['"sms"', "r=0"]))
            self.assert_soon(headers["retry-after"], "300")
            for _ in range(3):
                status, headers, _ = get("/free")
                self.assertEqual((status, "ratelimit" in headers), (200, False))
            self.private.advance(300)
            self.assertEqual(get("/")[0], 200)

    def test_without_a_daemon_a_route_is_open_or_closed_as_the_program_chose(self) -> None:
        self.private.stop()
        for on_failure, expected in [("open", 200), ("closed", 503)]:
            with mock.patch.object(self, "forget_all"), self.assertLogs("countdownd", "WARNING"):
                for get in self.routing(limits={"sms": "1/10m"}, on_failure=on_failure):
                    for _ in range(3):
                        self.assertEqual(get("/")[0], expected)

    def test_an_error_of_the_key_of_a_route_lets_nobody_through(self) -> None:
        keys = [mock.Mock(side_effect=error) for error in (KeyError("phone"), countdownd.NoDaemon("none"))]
        # What a visitor may send instead of a text, in JSON.
        sent: list[Any] = [{}, [], True, 1.5, {"phone": "138"}, {"sms": {}}]
        keys += [mock.Mock(return_value=value) for value in sent]
        for key in keys:
            for get in self.routing(limits={"sms": "1/10m"}, key=key, on_failure="open"):
                if self.framework == "starlette" and key.return_value == {}:
                    continue  # the middleware, where an empty mapping applies no limit
                for _ in range(2):
                    with contextlib.suppress(KeyError, TypeError, ValueError, countdownd.NoDaemon):
                        self.assertEqual(get("/")[0], 500)
                self.assertEqual(self.client.list(), [])

    def test_async_views_of_flask_and_classes_of_django_have_limits(self) -> None:
        import countdownd.django
        import countdownd.flask
        from django.http import HttpResponse  # type: ignore[import-untyped]
        from django.utils.decorators import method_decorator  # type: ignore[import-untyped]
        from django.views import View  # type: ignore[import-untyped]
        from flask import Flask

        options: Any = {"limits": {"sms": "1/10m"}, "on_failure": "closed", "timeout": 5}

        async def hello() -> str:
            return "hello"

        app = Flask("shop")
        app.add_url_rule("/", view_func=countdownd.flask.RouteLimit(key=lambda given: given.args["phone"], **options)(hello))
        statuses = [ask_wsgi(app, QUERY_STRING=f"phone={phone}")[0] for phone in ("138", "139", "138")]
        self.assertEqual(statuses, [200, 200, 429])
        self.forget_all()

        @method_decorator(countdownd.django.RouteLimit(key=lambda given: given.GET["phone"], **options), name="dispatch")
        class Hello(View):  # type: ignore[misc]
            def get(self, request: Any) -> HttpResponse:
                return HttpResponse("hello")

        site = web_apps.django_site(Hello.as_view())
        self.assertEqual([ask_wsgi(site, QUERY_STRING=f"phone={phone}")[0] for phone in ("138", "139", "138")], [200, 200, 429])


class LimiterTests(WebTests):
    def test_a_limiter_starts_all_limits_or_none_and_says_when_to_come_back(self) -> None:
        for _ in range(2):
            with countdownd.limiter("sms/138", "5/1h", "2/1d"):
                pass
        with self.assertRaises(countdownd.Refused) as refused, countdownd.limiter("sms/138", "5/1h", "2/1d"):
            self.fail("the block ran")
        assert refused.exception.retry_after
        self.assertAlmostEqual(refused.exception.retry_after.total_seconds(), 43200, delta=PATIENCE)
        self.assertEqual((refused.exception.key, [room.left for room in refused.exception.rooms]), ("sms/138/1d", [3, 0]))
        self.assertRegex(str(refused.exception), "^too early; again in 43[0-9]{3} s$")

    def test_a_block_that_fails_counts_for_none_of_its_limits(self) -> None:
        async def test() -> None:
            for _ in range(3):
                with contextlib.suppress(ZeroDivisionError):
                    with countdownd.limiter("sms/138", "2/1h", "3/1d"):
                        self.assertEqual(len(self.client.list()), 2)
                        raise ZeroDivisionError
                with contextlib.suppress(ZeroDivisionError):
                    async with countdownd.limiter("sms/138", "2/1h", "3/1d"):
                        raise ZeroDivisionError
            self.assertEqual(self.client.list(), [])
            async with countdownd.limiter("sms/138", "2/1h", "3/1d"):
                with contextlib.suppress(ZeroDivisionError), countdownd.limiter("sms/138", "2/1h", "3/1d"):
                    raise ZeroDivisionError
            asked = self.client.start_all([countdownd.Cooldown("sms/138", rate="2/1h")], dry_run=True)
            self.assertEqual(asked.rooms[0].left, 1)

        self.run_async(test)

    def test_a_failure_gives_back_its_own_start_though_others_came_since(self) -> None:
        with contextlib.suppress(ZeroDivisionError), countdownd.limiter("sms", "3/1h"):
            with countdownd.limiter("sms", "3/1h"):
                pass
            raise ZeroDivisionError
        self.assertAlmostEqual(self.client.get("sms").remaining.total_seconds(), 1200, delta=PATIENCE)
        with contextlib.suppress(ZeroDivisionError), countdownd.limiter("sms", "3/1h"):
            self.client.start("sms", 5000, if_running="restart")
            raise ZeroDivisionError
        self.assertAlmostEqual(self.client.get("sms").remaining.total_seconds(), 5000, delta=PATIENCE)

    def test_a_cooldown_refuses_calls_of_a_function_that_come_too_early(self) -> None:
        calls = []

        @countdownd.cooldown("report", 60)
        def report(name: str, *, pages: int = 1) -> str:
            """Writes it."""
            calls.append((name, pages))
            return name * pages

        @countdownd.cooldown("report", 60)
        async def report_later() -> None:
            calls.append(("later", 1))

        async def test() -> None:
            with self.assertRaises(countdownd.Refused) as refused:
                await report_later()
            self.assertEqual((refused.exception.key, calls), ("report", [("a", 2)]))
            self.private.advance(60)
            await report_later()

        self.assertEqual((report("a", pages=2), report.__name__, report.__doc__), ("aa", "report", "Writes it."))
        with self.assertRaises(countdownd.Refused):
            report("b")
        self.run_async(test)
        self.assertEqual(calls, [("a", 2), ("later", 1)])

    def test_a_function_that_fails_may_be_called_again_at_once(self) -> None:
        @countdownd.cooldown("report", 60)
        def report(fails: bool) -> None:
            if fails:
                raise ZeroDivisionError

        for _ in range(2):
            with self.assertRaises(ZeroDivisionError):
                report(True)
        report(False)
        with self.assertRaises(countdownd.Refused):
            report(False)

    def test_the_key_of_a_function_may_depend_on_its_arguments(self) -> None:
        @countdownd.limiter(lambda phone, text="": f"sms/{phone}", "1/60s")
        def send(phone: str, text: str = "") -> str:
            return phone

        self.assertEqual([send("138"), send("139", text="hi")], ["138", "139"])
        with self.assertRaises(countdownd.Refused):
            send("138")

    def test_a_limiter_that_waits_is_served_when_there_is_room(self) -> None:
        @countdownd.limiter("api", "1/60s", wait=True)
        async def call() -> float:
            return asyncio.get_running_loop().time()

        @countdownd.cooldown("cli", 60, wait=True)
        def command() -> None:
            pass

        async def test() -> None:
            await call()
            waiting = asyncio.create_task(call())
            await self.until_queued()
            self.assertFalse(waiting.done())
            self.private.advance(60)
            await waiting
            command()
            thread = asyncio.create_task(asyncio.to_thread(command))
            await self.until_queued()
            self.private.advance(60)
            await thread

        self.run_async(test)
        with self.assertRaisesRegex(TypeError, "expected one, because it waits"):
            countdownd.limiter("api", "1/60s", "5/1h", wait=True)

    async def until_queued(self) -> None:
        while not self.client.status().queued_starts:
            await asyncio.sleep(0)

    def test_one_limiter_may_be_used_by_many_tasks(self) -> None:
        limiter = countdownd.limiter("api", "10/1h")

        async def one(number: int) -> None:
            async with limiter:
                await asyncio.sleep(0)
                if number % 2:
                    raise ZeroDivisionError

        async def test() -> None:
            results = await asyncio.gather(*(one(number) for number in range(10)), return_exceptions=True)
            self.assertEqual(sum(isinstance(one, ZeroDivisionError) for one in results), 5)
            self.assertAlmostEqual(self.client.get("api").remaining.total_seconds(), 1800, delta=PATIENCE)

        self.run_async(test)

    # Giving back

    def test_a_cancelled_block_gives_all_of_its_limits_back(self) -> None:
        async def cancelled_by_anyio() -> None:
            with anyio.CancelScope() as scope:
                async with countdownd.limiter("sms", "2/1h", "3/1d", "9/1w"):
                    scope.cancel()
                    await asyncio.sleep(PATIENCE)

        async def cancelled(times: int) -> None:
            entered = asyncio.Event()

            async def block() -> None:
                async with countdownd.limiter("sms", "2/1h", "3/1d", "9/1w"):
                    entered.set()
                    await asyncio.sleep(PATIENCE)

            task = asyncio.create_task(block())
            await entered.wait()
            for _ in range(times):
                task.cancel()
                await asyncio.sleep(0)
            with self.assertRaises(asyncio.CancelledError):
                await task

        async def failed_and_cancelled() -> None:
            async def block() -> None:
                async with countdownd.limiter("sms", "2/1h", "3/1d", "9/1w"):
                    asyncio.get_running_loop().call_soon(task.cancel)
                    raise ZeroDivisionError

            task = asyncio.create_task(block())
            with self.assertRaises(asyncio.CancelledError):
                await task

        async def left_stream() -> None:
            async def events() -> AsyncIterator[str]:
                async with countdownd.limiter("sms", "2/1h", "3/1d", "9/1w"):
                    yield "data: begun\n\n"
                    left.set()
                    await asyncio.sleep(PATIENCE)

            async def receive() -> Any:
                await left.wait()
                return {"type": "http.disconnect"}

            left = asyncio.Event()
            await ask(StreamingResponse(events()), receive=receive)

        async def timed_out() -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    async with countdownd.limiter("sms", "2/1h", "3/1d", "9/1w"):
                        await asyncio.sleep(PATIENCE)

        async def test() -> None:
            for how in (
                cancelled_by_anyio(), cancelled(1), cancelled(2), cancelled(5), failed_and_cancelled(), left_stream(), timed_out(),
            ):
                await how
                self.assertEqual(self.client.list(), [], str(how))

        self.run_async(test)

    def test_a_task_that_is_cancelled_while_it_enters_does_not_count(self) -> None:
        async def block(limiter: countdownd.Limiter) -> None:
            async with limiter:
                raise AssertionError("the block ran")

        async def test() -> None:
            for steps in range(5):
                limiter = countdownd.limiter("sms", "300/1h", "400/1d")
                tasks = [asyncio.create_task(block(limiter)) for _ in range(50)]
                for _ in range(steps):
                    await asyncio.sleep(0)
                for task in tasks:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                self.assertEqual({type(one) for one in results}, {asyncio.CancelledError})
                self.assertEqual(self.client.list(), [])

        self.run_async(test)

    def test_a_daemon_that_hangs_delays_a_failure_once_and_gets_all_that_is_given_back(self) -> None:
        assert self.private._process
        client = countdownd.Client(timeout=0.2)
        with self.assertLogs("countdownd") as log, contextlib.suppress(ZeroDivisionError):
            with countdownd.limiter("sms", "2/1h", "3/1d", client=client):
                self.private._process.send_signal(signal.SIGSTOP)
                raise ZeroDivisionError
        self.assertEqual(len(log.output), 1)
        self.private._process.send_signal(signal.SIGCONT)
        wait_until(lambda: not self.client.list())

        async def test() -> None:
            assert self.private._process
            for timeout in (None, 0.2):
                with self.assertLogs("countdownd"), mock.patch("countdownd._limiter._PATIENCE", 0.5):
                    with contextlib.suppress(ZeroDivisionError):
                        async with countdownd.limiter("sms", "2/1h", "3/1d", client=countdownd.AsyncClient(timeout=timeout)):
                            self.private._process.send_signal(signal.SIGSTOP)
                            raise ZeroDivisionError
                self.private._process.send_signal(signal.SIGCONT)
                await asyncio.to_thread(wait_until, lambda: not self.client.list())

        self.run_async(test)

    def test_each_entry_into_a_limiter_is_its_own(self) -> None:
        limiter = countdownd.cooldown("report", 60)

        def inside() -> Iterator[None]:
            with limiter:
                yield

        async def inside_async() -> AsyncIterator[None]:
            async with limiter:
                yield

        def check(fail: Callable[[], None]) -> None:
            """One entered before; then its countdown ended, and another one entered."""
            self.assertEqual(self.client.get("report").state, "running")
            fail()
            self.assertEqual(self.client.get("report").state, "running", "the start of the second one is given back")
            self.forget_all()

        def generators() -> None:
            first, second = inside(), inside()
            next(first)
            self.private.advance(60)
            next(second)
            check(lambda: fails(first))
            with contextlib.suppress(StopIteration):
                next(second)

        def stacks() -> None:
            def run(entered: threading.Event, go_on: threading.Event, error: Exception | None) -> None:
                with contextlib.suppress(ZeroDivisionError), contextlib.ExitStack() as stack:
                    stack.enter_context(limiter)
                    entered.set()
                    go_on.wait(PATIENCE)
                    if error:
                        raise error

            events = [(threading.Event(), threading.Event()) for _ in range(2)]
            threads = [threading.Thread(target=run, args=(*events[0], ZeroDivisionError())), threading.Thread(target=run, args=(*events[1], None))]
            for thread, (entered, _) in zip(threads, events):
                self.private.advance(60)
                thread.start()
                entered.wait(PATIENCE)

            def fail() -> None:
                events[0][1].set()
                threads[0].join(PATIENCE)

            check(fail)
            events[1][1].set()
            threads[1].join(PATIENCE)

        def fails(generator: Any) -> None:
            with contextlib.suppress(ZeroDivisionError):
                generator.throw(ZeroDivisionError)

        generators()
        stacks()

        async def tasks() -> None:
            async def run(entered: asyncio.Event, go_on: asyncio.Event, error: Exception | None) -> None:
                async with limiter:
                    entered.set()
                    await go_on.wait()
                    if error:
                        raise error

            events = [(asyncio.Event(), asyncio.Event()) for _ in range(2)]
            running = []
            for each, error in zip(events, (ZeroDivisionError(), None)):
                self.private.advance(60)
                running.append(asyncio.create_task(run(*each, error)))
                await each[0].wait()
            events[0][1].set()
            with self.assertRaises(ZeroDivisionError):
                await running[0]
            check(lambda: None)
            events[1][1].set()
            await running[1]
            first, second = inside_async(), inside_async()
            await anext(first)
            self.private.advance(60)
            await anext(second)

            async def close() -> None:  # in another task, as event loops close what was left
                with contextlib.suppress(ZeroDivisionError):
                    await first.athrow(ZeroDivisionError)  # type: ignore[attr-defined]

            await asyncio.create_task(close())
            check(lambda: None)

        self.run_async(tasks)
        self.assertLessEqual(len(limiter._entered), 1)

    def test_a_block_may_say_that_it_does_not_count(self) -> None:
        async def test() -> None:
            async with countdownd.limiter("login/138", "1/1h", "5/1d") as taken:
                taken.counts = False

        for counts in (False, False, True):
            with countdownd.limiter("login/138", "1/1h", "5/1d") as taken:
                self.assertEqual([room.left for room in taken.rooms], [0, 4])
                taken.counts = counts
        with self.assertRaises(countdownd.Refused):
            self.run_async(test)
        self.private.advance(3600)
        self.run_async(test)
        self.run_async(test)

    # What people pass

    def test_a_generator_is_refused_because_it_does_not_run_when_it_is_called(self) -> None:
        @countdownd.limiter("report", "1/1h")
        def lazily() -> Any:
            return (number for number in range(3))

        class Later:
            async def __call__(self) -> None:
                pass

        def lines() -> Iterator[int]:
            yield 1

        async def lines_async() -> AsyncIterator[int]:
            yield 1

        for function in (lines, lines_async):
            with self.assertRaisesRegex(TypeError, "lines.* is a generator; expected a function that ends"):
                countdownd.limiter("report", "1/1h")(function)
        for decorated in (lazily, countdownd.limiter("report", "1/1h")(Later())):
            with warnings.catch_warnings(), self.assertRaisesRegex(TypeError, "the function returns a (generator|coroutine); expected"):
                warnings.simplefilter("ignore", RuntimeWarning)
                decorated()
            self.assertEqual(self.client.list(), [])

    def test_the_key_of_one_visitor_cannot_be_that_of_a_further_rate_of_another(self) -> None:
        for phone in ("138", "138/10", "138/10x", "138/60m", "138/010m", "138/"):
            with countdownd.limiter(f"sms/{phone}", "3/1h", "5/10m"):
                pass
            self.assertEqual([room.left for room in countdownd.limiter("sms/138", "3/1h", "5/10m").look().rooms], [2, 4])
        for phone in ("138/10m", "138/1h", "10m", "1d", "138/250us", "138/3723s"):
            with self.assertRaisesRegex(ValueError, "as that of a further rate does") as refused:
                countdownd.limiter(f"sms/{phone}", "3/1h").look()
            self.assertNotIn("138", str(refused.exception))
        codes = countdownd.limiter({"sms": ["3/1h", "5/10m"]}, values=lambda phone: phone)
        for phone in ("138/10m", "139/10m", "\ud83c", "/"):
            codes(lambda phone: None)(phone)
            self.assertEqual([room.left for room in codes.look("138").rooms], [2, 4])

    def test_several_keys_are_limited_as_the_middleware_limits_them(self) -> None:
        limits = {"sms": ["2/1m", "5/1h"], "ip": "9/1h"}

        @countdownd.limiter(limits, values=lambda phone, address: {"sms": phone, "ip": address})
        def send(phone: str, address: str) -> str:
            return phone

        address = "[2001:db8:1:2::7]:443"
        self.assertEqual([send("138", address), send("138", address)], ["138", "138"])
        with self.assertRaises(countdownd.Refused) as refused:
            send("138", "2001:db8:1:2::8")
        self.assertEqual(refused.exception.key, "sms/138")
        app = web_apps.flask_app(limits=limits, key=lambda environ: {"sms": "138", "ip": "2001:db8:1:2::9"}, on_failure="closed", timeout=5)
        self.assertEqual(ask_wsgi(app)[0], 429)
        self.assertEqual(ask_wsgi(app)[1]["ratelimit-policy"], '"sms";q=2;w=60, "sms/1h";q=5;w=3600, "ip";q=9;w=3600')
        left = [room.left for room in countdownd.limiter(limits, values={"sms": "138", "ip": address}).look().rooms]
        self.assertEqual(left, [0, 3, 7])
        for wrong in (1.5, {"sms": True}, {"other": "a"}, {}, ["138"]):
            with self.assertRaisesRegex((TypeError, ValueError), "expected"), countdownd.limiter(limits, values=wrong):  # type: ignore[arg-type]
                self.fail("the block ran")
        for arguments, named in [((limits, "1/1h"), {"values": "138"}), ((limits,), {}), (("sms", "1/1h"), {"values": "138"})]:
            with self.assertRaisesRegex(TypeError, "expected (no )?values"):
                countdownd.limiter(*arguments, **named)  # type: ignore[arg-type]

    def test_how_many_are_left_is_seen_without_using_one(self) -> None:
        limiter = countdownd.limiter(lambda phone: f"sms/{phone}", "2/1h", "9/1d")

        async def test() -> countdownd.StartedAll:
            return await limiter.look_async("138")

        for used in range(3):
            for look in (limiter.look("138"), asyncio.run(test())):
                self.assertEqual((look.accepted, [room.left for room in look.rooms]), (used < 2, [2 - used, 9 - used]))
            if used < 2:
                limiter(lambda phone: None)("138")
        self.assertEqual(countdownd.cooldown("report", 60).look().rooms[0].left, 1)

    # Failures

    def test_without_a_daemon_code_runs_or_not_as_the_program_chose(self) -> None:
        ran: list[str] = []

        async def block(on_failure: Any) -> None:
            async with countdownd.limiter("sms", "1/1h", on_failure=on_failure):
                ran.append("async")

        self.private.stop()
        for on_failure in ("open", "closed", None):
            with self.assertLogs("countdownd") if on_failure else contextlib.nullcontext():
                for _ in range(3):
                    with contextlib.suppress(countdownd.NoDaemon), countdownd.limiter("sms", "1/1h", on_failure=on_failure):
                        ran.append("blocking")
                    with contextlib.suppress(countdownd.NoDaemon):
                        asyncio.run(block(on_failure))
        self.assertEqual(ran, ["blocking", "async"] * 3)
        self.private.start()
        with mock.patch("countdownd._breaker.time.monotonic", lambda: time.monotonic_ns() / 1e9 + 2), self.assertLogs("countdownd"):
            with countdownd.limiter("sms", "1/1h", on_failure="open"):
                ran.append("again")
            with self.assertRaises(countdownd.Refused), countdownd.limiter("sms", "1/1h", on_failure="open"):
                self.fail("the block ran")
        with self.assertRaises(ValueError):
            countdownd.limiter("sms", "1/1h", on_failure="ajar")  # type: ignore[arg-type]
        with self.assertRaises(countdownd.InvalidCall), countdownd.limiter("\ud83c", "1/1h", on_failure="open"):
            self.fail("the block ran")

    def test_a_daemon_that_hangs_delays_one_call_in_a_second(self) -> None:
        assert self.private._process
        client = countdownd.Client(timeout=0.2)
        with countdownd.limiter("sms", "1000/1h", on_failure="open", client=client):
            self.private._process.send_signal(signal.SIGSTOP)
        calls = 0
        with self.assertLogs("countdownd"), mock.patch.object(client, "call", wraps=client.call) as call:
            with mock.patch("countdownd._breaker.time.monotonic", return_value=100.0):
                for _ in range(50):
                    with countdownd.limiter("sms", "1000/1h", on_failure="open", client=client):
                        calls += 1
        self.private._process.send_signal(signal.SIGCONT)
        self.assertEqual((calls, call.call_count), (50, 1))

    def test_a_limiter_without_a_daemon_is_an_error(self) -> None:
        with self.assertRaises(countdownd.NoDaemon), countdownd.limiter("api", "1/1s", client=countdownd.Client("/missing")):
            self.fail("the block ran")
        with self.assertRaisesRegex(TypeError, "the client is a AsyncClient; expected the Client"):
            countdownd.limiter("api", "1/1s", client=countdownd.AsyncClient()).__enter__()


class PageTests(WebTests):
    """The programs of docs/python.md."""

    def programs(self, heading: str) -> list[tuple[str, str]]:
        """The programs of a section, each with what it prints."""
        (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", (ROOT / "docs/python.md").read_text(), re.M | re.S)
        found = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", section, re.M | re.S)
        self.assertTrue(found, heading)
        return found

    @contextlib.contextmanager
    def running(self, program: str) -> Iterator["subprocess.Popen[str]"]:
        environment = {**os.environ, "PYTHONPATH": str(PYTHON_CLIENT)}
        with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True) as process:
            timer = threading.Timer(PATIENCE, process.kill)
            timer.start()
            try:
                yield process
            finally:
                timer.cancel()
                process.kill()

    def test_cooldowns_rates_waits_and_recipes_print_what_the_page_says(self) -> None:
        for heading in ("A cooldown", "A rate, or several", "A countdown from its start to its end", "A wait", "Recipes"):
            for program, expected in self.programs(heading):
                self.forget_all()
                with self.subTest(program), self.running(program) as process:
                    self.assertEqual(process.communicate()[0], expected)
        day = countdownd.limiter({"sms": "20/21d"}, values=("138", str(datetime.date.today())))
        self.private.advance(25 * 3600)
        self.assertFalse(day.look().accepted)

    def test_the_programs_pass_mypy(self) -> None:
        headings = re.findall("^## (.*)$", (ROOT / "docs/python.md").read_text(), re.M)
        found = re.findall(r"^```python\n(.*?)^```\n", (ROOT / "docs/python.md").read_text(), re.M | re.S)
        folder = Path(self.private._folder, "programs")
        folder.mkdir()
        for number, program in enumerate(found):
            (folder / f"program_{number}.py").write_text(program)
        self.assertGreater(len(found), len(headings) / 2)
        run = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--cache-dir", f"{folder}/cache",
             "--disable-error-code", "method-assign", *map(str, folder.glob("*.py"))],
            env={**os.environ, "MYPYPATH": str(PYTHON_CLIENT)}, capture_output=True, text=True,
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_the_watch_goes_on_with_another_daemon(self) -> None:
        ((program, _),) = self.programs("A watch that survives restarts")
        with self.running(program) as process:
            assert process.stdout
            self.assertEqual(process.stdout.readline(), "the daemon is here\n")
            self.client.start("login/138", 3600)
            self.assertEqual(process.stdout.readline(), "login/138 runs\n")
            self.private.stop()
            self.assertEqual(process.stdout.readline(), "the daemon is away\n")
            self.private.start()
            self.client.finish("login/138")
            lines = {process.stdout.readline() for _ in range(2)}
            self.assertEqual(lines, {"the daemon is here\n", "login/138 finished\n"})

    def test_the_test_passes(self) -> None:
        ((program, _),) = self.programs("A test")
        self.assertIn("1 passed", self.pytest(program))

    def test_the_applications_limit_their_requests(self) -> None:
        (asynchronous, _), (blocking, _), (tiers, _) = self.programs("The requests of a web server")
        for program in (asynchronous, blocking):
            names: dict[str, Any] = {"__name__": "shop"}
            exec(program, names)
            with asyncio.Runner() as runner:
                app = names["app"]
                answers = [runner.run(ask(app)) if program == asynchronous else ask_wsgi(app) for _ in range(11)]
            self.assertEqual([status for status, _, _ in answers], [200] * 10 + [429])
            self.assertEqual(answers[0][1]["ratelimit-policy"], '"burst";q=10;w=60, "day";q=1000;w=86400')
            self.forget_all()
        exec(tiers, names)
        with asyncio.Runner() as runner:
            for fields, path, passed in [({}, "/", 2), ({"x-api-key": "k-138"}, "/", 5), ({"x-api-key": "guess"}, "/", 0), ({}, "/health", 5)]:
                asking = lambda: runner.run(ask(names["app"], headers=fields, path=path, raw_path=path.encode()))  # noqa: E731
                self.assertEqual(self.accepted(asking, 5), passed)

    def test_the_routes_limit_their_requests(self) -> None:
        (asynchronous, _), (blocking, _) = self.programs("The requests of a route")
        for program in (asynchronous, blocking):
            names: dict[str, Any] = {"__name__": "shop"}
            exec(program, names)
            with asyncio.Runner() as runner:
                for phone, expected in [("138", 200), ("138", 429), ("139", 200)]:
                    query = f"phone={phone}"
                    if program == asynchronous:
                        answer = runner.run(ask(names["app"], path="/code", raw_path=b"/code", query_string=query.encode()))
                    else:
                        answer = ask_wsgi(names["app"], PATH_INFO="/code", QUERY_STRING=query)
                    self.assertEqual((answer[0], answer[1]["ratelimit-policy"]), (expected, '"sms";q=1;w=60, "sms/1h";q=5;w=3600'))
            self.forget_all()


if __name__ == "__main__":
    unittest.main(verbosity=2)
