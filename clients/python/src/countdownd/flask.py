"""Limits for routes of Flask."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from flask import Request, Response, after_this_request, current_app, request

from ._policies import Values
from ._requests import PROBLEM_TYPE, Limiting


class RouteLimit(Limiting[Request, Values, int]):
    """A decorator for a view, below its route: `@RouteLimit(limits={"sms": "3/10m"}, key=…, on_failure="closed")`.

    The arguments are those of `countdownd.asgi.RateLimit`, with the request instead of a scope. At least one limit applies, and
    nothing is awaited.
    """

    def __call__(self, view: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(view)
        def limited(*arguments: Any, **named: Any) -> Any:
            verdict = self._decide(request)
            if verdict.status:
                return Response(verdict.body, verdict.status, [PROBLEM_TYPE, *verdict.headers])

            @after_this_request
            def add_fields(response: Response) -> Response:
                response.headers.extend(verdict.headers)
                return response

            return current_app.ensure_sync(view)(*arguments, **named)

        return limited
