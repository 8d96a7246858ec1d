"""Limits the requests of a WSGI application: Flask, Django and others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, TypeAlias

from ._limiter import perform
from ._requests import FIRST_TIMEOUT, PROBLEM_TYPE, Limited, is_preflight
from ._sync import Client
from ._types import Duration

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Any]
App: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]


class RateLimit(Limited[App, Environ]):
    """Limits the requests of all workers together: `RateLimit(app, limits={"burst": "3/10m"}, key=…, on_failure="open")`.

    The arguments are those of `countdownd.asgi.RateLimit`, with the environment of a request instead of its scope. Behind a
    proxy, `REMOTE_ADDR` is the proxy. The first call to the daemon is made here, with 5 s, and changes nothing.
    """

    def _connect(self, path: str | os.PathLike[str] | None, timeout: Duration) -> None:
        self._client = Client(path, timeout=timeout)
        with Client(path, timeout=FIRST_TIMEOUT) as first:
            perform(self._limits.begin(), first)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if is_preflight(environ["REQUEST_METHOD"], lambda name: f"HTTP_{name.upper().replace('-', '_')}" in environ):
            return self._app(environ, start_response)
        verdict = perform(self._limits.decide(self._key(environ), self._cost(environ)), self._client)

        def start_with_headers(status: str, headers: list[tuple[str, str]], *failure: Any) -> Any:
            return start_response(status, [*headers, *verdict.headers], *failure)

        if verdict.status is None:
            return self._app(environ, start_with_headers)
        if verdict.refused and self._on_refused:
            return self._on_refused({**environ, "countdownd.refused": verdict.refused}, start_with_headers)
        length = ("Content-Length", str(len(verdict.body)))
        start_with_headers(f"{verdict.status} {HTTPStatus(verdict.status).phrase}", [PROBLEM_TYPE, length])
        return [verdict.body]
