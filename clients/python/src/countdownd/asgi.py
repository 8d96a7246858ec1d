"""Limits the requests of an ASGI application: FastAPI, Starlette, Django and others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ._errors import CountdowndError
from ._limiter import perform_async
from ._requests import PROBLEM_TYPE, AsyncValues, Limited, Verdict, is_preflight

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


def address(scope: Scope) -> str | None:
    """The address of the peer, for `key`; None if the server does not know it, as behind a Unix socket."""
    peer = scope.get("client")
    return peer[0] if peer else None


class RateLimit(Limited[App, Scope, AsyncValues, int | Awaitable[int]]):
    """Limits the requests of all workers together: `RateLimit(app, limits={"burst": "3/10m"}, key=…, on_failure="open")`.

    - `limits`: the rate of each limit by its name, or several. All have room, or the request counts for none. A rate is a
      token bucket (GCRA), not a sliding window.
    - `key`: what tells requests apart, from the scope: a value for all limits, or a mapping with a value for each limit that
      applies; an empty one applies none. It may be awaited. A value is a string, an integer, bytes, a UUID, an address, a
      Decimal, an enum, None, or a tuple of them; anything else is a TypeError. `address` is the address of the peer: behind a
      proxy that is the proxy, and a browser can send any `X-Forwarded-For`.
    - `on_failure`: without the daemon, "open" lets requests through, and "closed" answers with 503. An error of `key` is an
      error of the application in either case.
    - `cost`: how many requests one counts for, from the scope.
    - `on_refused`: an application that answers instead of the problem document. The scope has the error, `Refused`, as
      `countdownd.refused`.
    - `headers`: the draft for `RateLimit` and `RateLimit-Policy`, or None for none.
    - `timeout`: of a call to the daemon; the first one has 5 s.

    Only HTTP is limited, and no CORS preflights. The body of a refused request is not read.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" and (fault := await self._begin()):
            await receive()
            return await send({"type": "lifespan.startup.failed", "message": fault})
        if scope["type"] != "http" or is_preflight(scope["method"], lambda name: _has(scope, name)):
            return await self._app(scope, receive, send)
        verdict = await self._decide_async(scope, scope.get("client"))
        extra = [(name.lower().encode(), value.encode()) for name, value in verdict.headers]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        if verdict.status is None:
            return await self._app(scope, receive, send_with_headers)
        if verdict.refused and self._on_refused:
            return await self._on_refused({**scope, "countdownd.refused": verdict.refused}, receive, send_with_headers)
        await _answer(verdict, send_with_headers)

    async def _begin(self) -> str | None:
        """Makes the first call, when the server starts. Returns the reason if it cannot start."""
        try:
            await perform_async(self._limits.begin(), self._first[1])
        except CountdowndError as error:
            return str(error)
        self._first[1].close()
        return None


async def _answer(verdict: Verdict, send: Send) -> None:
    headers = [PROBLEM_TYPE, ("Content-Length", str(len(verdict.body)))]
    wire = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": verdict.status, "headers": wire})
    await send({"type": "http.response.body", "body": verdict.body})


def _has(scope: Scope, name: str) -> bool:
    return any(each.lower() == name.encode() for each, _ in scope["headers"])
