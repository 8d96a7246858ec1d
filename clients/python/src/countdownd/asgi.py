"""Limits the requests of an ASGI application: FastAPI, Starlette, Django and others."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from ._async import AsyncClient
from ._errors import CountdowndError
from ._limiter import perform_async
from ._requests import FIRST_TIMEOUT, PROBLEM_TYPE, Limited, Verdict, is_preflight
from ._types import Duration

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


class RateLimit(Limited[App, Scope]):
    """Limits the requests of all workers together: `RateLimit(app, limits={"burst": "3/10m"}, key=…, on_failure="open")`.

    - `limits`: the rate of each limit by its name, or several. All have room, or the request counts for none. A rate is a
      token bucket (GCRA), not a sliding window.
    - `key`: what tells requests apart, from the scope: a value for all limits, or a mapping with a value for each limit that
      applies. Behind a proxy, `scope["client"]` is the proxy, and a browser can send any `X-Forwarded-For`.
    - `on_failure`: without the daemon, "open" lets requests through, and "closed" answers with 503.
    - `cost`: how many requests one counts for, from the scope.
    - `on_refused`: an application that answers instead of the problem document. The scope has the error, `Refused`, as
      `countdownd.refused`.
    - `headers`: the draft for `RateLimit` and `RateLimit-Policy`, or None for none.
    - `timeout`: of a call to the daemon; the first one has 5 s.

    Only HTTP is limited, and no CORS preflights. The body of a refused request is not read.
    """

    def _connect(self, path: str | os.PathLike[str] | None, timeout: Duration) -> None:
        self._first = AsyncClient(path, timeout=FIRST_TIMEOUT)
        self._client = AsyncClient(path, timeout=timeout)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" and (fault := await self._begin()):
            await receive()
            return await send({"type": "lifespan.startup.failed", "message": fault})
        if scope["type"] != "http" or is_preflight(scope["method"], lambda name: _has(scope, name)):
            return await self._app(scope, receive, send)
        client = self._client if self._limits.has_begun else self._first
        verdict = await perform_async(self._limits.decide(self._key(scope), self._cost(scope)), client)
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
            await perform_async(self._limits.begin(), self._first)
        except CountdowndError as error:
            return str(error)
        self._first.close()
        return None


async def _answer(verdict: Verdict, send: Send) -> None:
    headers = [PROBLEM_TYPE, ("Content-Length", str(len(verdict.body)))]
    wire = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": verdict.status, "headers": wire})
    await send({"type": "http.response.body", "body": verdict.body})


def _has(scope: Scope, name: str) -> bool:
    return any(each.lower() == name.encode() for each, _ in scope["headers"])
