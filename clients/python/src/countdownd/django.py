"""Limits for views of Django."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse  # type: ignore[import-untyped]

from ._requests import PROBLEM_TYPE, AsyncValues, Limiting, Verdict

_View = TypeVar("_View", bound=Callable[..., Any])


class RouteLimit(Limiting[HttpRequest, AsyncValues, int | Awaitable[int]]):
    """A decorator for a view, also an async one: `@RouteLimit(limits={"sms": "3/10m"}, key=…, on_failure="closed")`. With a
    class: `@method_decorator(RouteLimit(…), name="dispatch")`.

    The arguments are those of `countdownd.asgi.RateLimit`, with the request instead of a scope. At least one limit applies. What
    `key` returns is awaited if the view is async.
    """

    def __call__(self, view: _View) -> _View:
        @functools.wraps(view)
        def limited(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
            verdict = self._decide(request)
            return _with_fields(verdict, _refusal(verdict) or view(request, *arguments, **named))

        @functools.wraps(view)
        async def limited_async(request: HttpRequest, *arguments: Any, **named: Any) -> Any:
            verdict = await self._decide_async(request, None)
            return _with_fields(verdict, _refusal(verdict) or await view(request, *arguments, **named))

        return limited_async if inspect.iscoroutinefunction(view) else limited  # type: ignore[return-value]


def _refusal(verdict: Verdict) -> HttpResponse | None:
    return HttpResponse(verdict.body, status=verdict.status, content_type=PROBLEM_TYPE[1]) if verdict.status else None


def _with_fields(verdict: Verdict, response: Any) -> Any:
    for name, value in verdict.headers:
        response[name] = value
    return response
