"""Limits the requests of a WSGI application: Flask, Django and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, TypeAlias

from ._limiter import perform
from ._policies import Values
from ._requests import PROBLEM_TYPE, Limited, is_preflight

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Any]
App: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]


def address(environ: Environ) -> str | None:
    """The address of the peer, for `key`; None if the server does not know it."""
    return environ.get("REMOTE_ADDR")


class RateLimit(Limited[App, Environ, Values, int]):
    """Limits the requests of all workers together: `RateLimit(app, limits={"burst": "3/10m"}, key=…, on_failure="open")`.

    The arguments are those of `countdownd.asgi.RateLimit`, with the environment of a request instead of its scope, and nothing
    is awaited. The first call to the daemon is made here, with 5 s, and changes nothing.
    """

    def _prepare(self) -> None:
        with self._first[0] as first:
            perform(self._limits.begin(), first)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if is_preflight(environ["REQUEST_METHOD"], lambda name: f"HTTP_{name.upper().replace('-', '_')}" in environ):
            return self._app(environ, start_response)
        verdict = self._decide(environ)

        def start_with_headers(status: str, headers: list[tuple[str, str]], *failure: Any) -> Any:
            return start_response(status, [*headers, *verdict.headers], *failure)

        if verdict.status is None:
            return self._app(environ, start_with_headers)
        if verdict.refused and self._on_refused:
            return self._on_refused({**environ, "countdownd.refused": verdict.refused}, start_with_headers)
        length = ("Content-Length", str(len(verdict.body)))
        start_with_headers(f"{verdict.status} {HTTPStatus(verdict.status).phrase}", [PROBLEM_TYPE, length])
        return [verdict.body]
