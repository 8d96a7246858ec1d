"""Limits for routes of FastAPI. (Not with `annotations` from `__future__`: FastAPI reads the annotations.)"""

from collections.abc import Awaitable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ._requests import AsyncValues, Limiting


class RouteLimit(Limiting[Request, AsyncValues, int | Awaitable[int]]):
    """A dependency: `dependencies=[Depends(RouteLimit(limits={"sms": "3/10m"}, key=…, on_failure="closed"))]`.

    The arguments are those of `countdownd.asgi.RateLimit`, with a `Request` instead of a scope. At least one limit applies. A
    request without room raises an `HTTPException` with 429 and the fields. If the route returns a response of its own, FastAPI
    leaves the fields of an accepted request out.
    """

    async def __call__(self, request: Request, response: Response) -> None:
        verdict = await self._decide_async(request, request.client)
        if verdict.status:
            raise HTTPException(verdict.status, headers=dict(verdict.headers))
        response.headers.update(dict(verdict.headers))
