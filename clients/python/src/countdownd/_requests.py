"""The limits of a web server's requests: what the ASGI and the WSGI middleware share."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from . import _calls
from ._async import AsyncClient
from ._breaker import TIMEOUT, Breaker, OnFailure
from ._errors import CountdowndError, Refused
from ._keys import KeyValue
from ._limiter import Calls, perform, perform_async, wire
from ._policies import Limits, Policies, Policy, Values, seconds
from ._sync import Client
from ._types import Duration, Room

#: The same where they may be awaited.
AsyncValues: TypeAlias = Values | Mapping[str, KeyValue | Awaitable[KeyValue]] | Awaitable[Values]
_App = TypeVar("_App")
_Request = TypeVar("_Request")
_Values = TypeVar("_Values")
_Cost = TypeVar("_Cost")

#: The first call may have to start the daemon.
FIRST_TIMEOUT = 5
_PROBLEM = {
    "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
    "title": "Request cannot be satisfied as assigned quota has been exceeded",
    "status": 429,
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The answer to a request, or the headers of the application's answer."""

    #: None if the application answers.
    status: Literal[429, 503] | None = None
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    refused: Refused | None = None


class RequestLimits:
    """Decides about requests. The generators yield calls and get the replies."""

    def __init__(
        self, limits: Limits, on_failure: OnFailure, headers: Literal["draft-11"] | None, none_may_apply: bool
    ) -> None:
        if headers not in ("draft-11", None):
            raise ValueError(f"headers is {headers!r}; expected draft-11 or None")
        self._policies = Policies(limits, none_may_apply)
        self._has_headers = headers is not None
        self._breaker = Breaker(on_failure, "requests", "answered with 503")
        #: Whether the first call was made.
        self.has_begun = False

    def begin(self) -> Calls[None]:
        """The first call, which changes nothing. Raises if the limits are not valid, or the daemon is too old."""
        cooldowns = [wire(key, policy.rate) for policy, key in self._policies.asked("")]
        try:
            _calls.started_all((yield "StartAll", {"cooldowns": cooldowns, "dryRun": True}))
        except CountdowndError as error:
            self._breaker.fail(error)
        self.has_begun = True

    def decide(self, values: Values, cost: int) -> Calls[Verdict]:
        asked = list(self._policies.asked(values))
        if not asked:
            return Verdict()
        if not self._breaker.allows():
            return self._failure
        try:
            cooldowns = [wire(key, policy.rate, cost) for policy, key in asked]
            started = _calls.started_all((yield "StartAll", {"cooldowns": cooldowns}))
        except CountdowndError as error:
            self._breaker.fail(error)
            return self._failure
        finally:
            self.has_begun = True
        self._breaker.succeed()
        policies = [policy for policy, _ in asked]
        if started.accepted:
            return Verdict(headers=list(self._headers(policies, started.rooms)))
        full = [(policy, room) for policy, room in zip(policies, started.rooms) if room.left == 0]
        refused = Refused(started.retry_after, started.rooms)
        wait = [] if refused.retry_after is None else [("Retry-After", str(seconds(refused.retry_after)))]
        names = [policy.name for policy, _ in full]
        return Verdict(
            429,
            [*wait, *self._headers(policies, [room if room.left == 0 else None for room in started.rooms])],
            json.dumps({**_PROBLEM, "violated-policies": names}).encode(),
            refused,
        )

    def _headers(self, policies: Sequence[Policy], rooms: Sequence[Room | None]) -> Iterator[tuple[str, str]]:
        """As in draft-ietf-httpapi-ratelimit-headers-11. A refusal names the limits without room: `t` of others is no time
        to wait for."""
        if self._has_headers:
            yield "RateLimit-Policy", ", ".join(map(str, policies))
            yield "RateLimit", ", ".join(policy.state(room) for policy, room in zip(policies, rooms) if room)

    @property
    def _failure(self) -> Verdict:
        if self._breaker.is_open_on_failure:
            return Verdict()
        return Verdict(503, [("Retry-After", "1")], json.dumps({"title": "Service Unavailable", "status": 503}).encode())


class Limiting(Generic[_Request, _Values, _Cost]):
    """What the middleware and the limits of routes share. `countdownd.asgi.RateLimit` explains the arguments."""

    #: Whether `key` may return an empty mapping, so that no limit applies.
    _none_may_apply = False

    def __init__(
        self,
        *,
        limits: Limits,
        key: Callable[[_Request], _Values],
        on_failure: OnFailure,
        cost: Callable[[_Request], _Cost] | None = None,
        headers: Literal["draft-11"] | None = "draft-11",
        path: str | os.PathLike[str] | None = None,
        timeout: Duration = TIMEOUT,
    ) -> None:
        self._limits = RequestLimits(limits, on_failure, headers, self._none_may_apply)
        self._key: Callable[[_Request], Any] = key
        self._cost: Callable[[_Request], Any] | None = cost
        self._first = Client(path, timeout=FIRST_TIMEOUT), AsyncClient(path, timeout=FIRST_TIMEOUT)
        self._later = Client(path, timeout=timeout), AsyncClient(path, timeout=timeout)

    @property
    def _clients(self) -> tuple[Client, AsyncClient]:
        return self._later if self._limits.has_begun else self._first

    def _decide(self, request: _Request) -> Verdict:
        cost = self._cost(request) if self._cost else 1
        return perform(self._limits.decide(self._key(request), cost), self._clients[0])

    async def _decide_async(self, request: _Request, peer: object) -> Verdict:
        """The peer is the pair of host and port that the scope of the request has."""
        values = await _settled(self._key(request), peer)
        cost = await _settled(self._cost(request), None) if self._cost else 1
        return await perform_async(self._limits.decide(values, cost), self._clients[1])


class Limited(Limiting[_Request, _Values, _Cost], Generic[_App, _Request, _Values, _Cost]):
    """An application whose requests are limited."""

    _none_may_apply = True

    def __init__(
        self,
        app: _App,
        *,
        limits: Limits,
        key: Callable[[_Request], _Values],
        on_failure: OnFailure,
        cost: Callable[[_Request], _Cost] | None = None,
        on_refused: _App | None = None,
        headers: Literal["draft-11"] | None = "draft-11",
        path: str | os.PathLike[str] | None = None,
        timeout: Duration = TIMEOUT,
    ) -> None:
        super().__init__(
            limits=limits, key=key, on_failure=on_failure, cost=cost, headers=headers, path=path, timeout=timeout
        )
        self._app = app
        self._on_refused = on_refused
        self._prepare()

    def _prepare(self) -> None:
        """Makes the first call, if it can be made now."""


async def _settled(value: Any, peer: Any) -> Any:
    """Awaits what can be awaited. Of the peer only the host tells visitors apart: each connection has another port."""
    if inspect.isawaitable(value):
        return await _settled(await value, peer)
    if isinstance(value, Mapping):
        return {name: await _settled(one, peer) for name, one in value.items()}
    if peer and isinstance(value, tuple | list) and tuple(value) == tuple(peer):
        return peer[0]
    return tuple([await _settled(one, peer) for one in value]) if isinstance(value, tuple) else value


def is_preflight(method: str, has: Callable[[str], bool]) -> bool:
    """Whether a request only asks whether another one is allowed from elsewhere (CORS)."""
    return method == "OPTIONS" and has("origin") and has("access-control-request-method")


#: Of the answers that a middleware gives itself.
PROBLEM_TYPE = ("Content-Type", "application/problem+json")
