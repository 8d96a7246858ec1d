"""The limits of a web server's requests: what the ASGI and the WSGI middleware share."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from . import _calls
from ._async import AsyncClient
from ._errors import AddressError, CountdowndError, Disconnected, LimitReached, Refused, StorageFailed, Unreachable
from ._keys import KeyValue, limit_key
from ._limiter import Calls, limit, log, perform, perform_async
from ._rates import Rate, rate_keys
from ._sync import Client
from ._types import Cooldown, Duration, Room

#: The rate of each limit, or several, by its name: {"burst": "3/10m", "sms": ["1/60s", "5/1h"]}.
Limits: TypeAlias = Mapping[str, str | Sequence[str]]
#: What requests are told apart by: one value for all limits, or one for each limit that applies.
Values: TypeAlias = KeyValue | Mapping[str, KeyValue]
#: The same where they may be awaited.
AsyncValues: TypeAlias = Values | Mapping[str, KeyValue | Awaitable[KeyValue]] | Awaitable[Values]
OnFailure: TypeAlias = Literal["open", "closed"]
_App = TypeVar("_App")
_Request = TypeVar("_Request")
_Values = TypeVar("_Values")
_Cost = TypeVar("_Cost")

#: The first call may have to start the daemon.
FIRST_TIMEOUT = 5
#: Of the calls after it. On a busy machine a daemon that works may take a tenth of it.
TIMEOUT = 0.5
_SECOND = timedelta(seconds=1)
_PROBLEM = {
    "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
    "title": "Request cannot be satisfied as assigned quota has been exceeded",
    "status": 429,
}


class Breaker:
    """After a failure, no calls for a second; then one request tries again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next_try: float | None = None

    def allows(self) -> bool:
        with self._lock:
            if self._next_try is None:
                return True
            if time.monotonic() < self._next_try:
                return False
            self._next_try = time.monotonic() + 1
            return True

    def note(self, failed: bool) -> bool:
        """Opens or closes it; whether it was open."""
        with self._lock:
            was_open = self._next_try is not None
            self._next_try = time.monotonic() + 1 if failed else None
            return was_open


@dataclasses.dataclass(frozen=True)
class _Policy:
    """A rate of a limit, and its name in the headers."""

    name: str
    rate: Rate

    def __str__(self) -> str:
        seconds, rest = divmod(self.rate.period, 1_000_000)
        return f'"{self.name}";q={self.rate.times}' + ("" if rest else f";w={seconds}")

    def state(self, room: Room) -> str:
        used = room.countdown.remaining // timedelta(microseconds=1) if room.countdown else 0
        left = max(0, self.rate.up_to - used) // self.rate.interval
        return f'"{self.name}";r={left}' + ("" if room.more is None else f";t={_seconds(room.more)}")


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

    def __init__(self, limits: Limits, on_failure: OnFailure, headers: Literal["draft-11"] | None) -> None:
        if on_failure not in ("open", "closed"):
            raise ValueError(f"on_failure is {on_failure!r}; expected open or closed")
        if headers not in ("draft-11", None):
            raise ValueError(f"headers is {headers!r}; expected draft-11 or None")
        self._policies = {name: list(_policies(name, rates)) for name, rates in limits.items()}
        count = sum(map(len, self._policies.values()))
        if not 1 <= count <= 16:
            raise ValueError(f"there are {count} rates; expected 1 to 16")
        self._on_failure = on_failure
        self._has_headers = headers is not None
        self._breaker = Breaker()
        #: Whether the first call was made.
        self.has_begun = False

    def begin(self) -> Calls[None]:
        """The first call, which changes nothing. Raises if the limits are not valid, or the daemon is too old."""
        cooldowns = [cooldown for _, cooldown in self._asked("", 1)]
        try:
            _calls.started_all((yield "StartAll", _calls.start_all(cooldowns, dry_run=True)))
        except CountdowndError as error:
            self._fail(error)
        self.has_begun = True

    def decide(self, values: Values, cost: int) -> Calls[Verdict]:
        asked = list(self._asked(values, cost))
        if not asked:
            return Verdict()
        if not self._breaker.allows():
            return self._failure
        try:
            cooldowns = [cooldown for _, cooldown in asked]
            started = _calls.started_all((yield "StartAll", _calls.start_all(cooldowns, dry_run=False)))
        except CountdowndError as error:
            self._fail(error)
            return self._failure
        finally:
            self.has_begun = True
        if self._breaker.note(failed=False):
            log.warning("the limits of requests work again")
        policies = [policy for policy, _ in asked]
        if started.accepted:
            return Verdict(headers=list(self._headers(policies, started.rooms)))
        full = [(policy, room) for policy, room in zip(policies, started.rooms) if room.left == 0]
        refused = Refused(started.retry_after, started.rooms)
        wait = [] if refused.retry_after is None else [("Retry-After", str(_seconds(refused.retry_after)))]
        names = [policy.name for policy, _ in full]
        return Verdict(
            429,
            [*wait, *self._headers(policies, [room if room.left == 0 else None for room in started.rooms])],
            json.dumps({**_PROBLEM, "violated-policies": names}).encode(),
            refused,
        )

    def _asked(self, values: Values, cost: int) -> Iterator[tuple[_Policy, Cooldown]]:
        """The rates that apply to a request."""
        each = values if isinstance(values, Mapping) else dict.fromkeys(self._policies, values)
        if unknown := each.keys() - self._policies.keys():
            raise ValueError(f"key names {min(unknown)!r}; expected a name of limits")
        for name, value in each.items():
            policies = self._policies[name]
            for policy, key in zip(policies, rate_keys(limit_key(name, value), [policy.rate for policy in policies])):
                yield policy, limit(key, policy.rate, cost)

    def _headers(self, policies: Sequence[_Policy], rooms: Sequence[Room | None]) -> Iterator[tuple[str, str]]:
        """As in draft-ietf-httpapi-ratelimit-headers-11. A refusal names the limits without room: `t` of others is no time
        to wait for."""
        if self._has_headers:
            yield "RateLimit-Policy", ", ".join(map(str, policies))
            yield "RateLimit", ", ".join(policy.state(room) for policy, room in zip(policies, rooms) if room)

    def _fail(self, error: CountdowndError) -> None:
        """Opens the breaker. Raises the error if it is a mistake of the program."""
        is_outage = isinstance(error, Disconnected | StorageFailed | Unreachable | AddressError)
        if not is_outage and not (isinstance(error, LimitReached) and error.limit != "cooldownsInFleet"):
            raise error
        if self._breaker.note(failed=True):
            return
        effect = "requests are not limited" if self._on_failure == "open" else "requests are answered with 503"
        log.warning("%s: %s", effect, error)

    @property
    def _failure(self) -> Verdict:
        if self._on_failure == "open":
            return Verdict()
        return Verdict(503, [("Retry-After", "1")], json.dumps({"title": "Service Unavailable", "status": 503}).encode())


class Limiting(Generic[_Request, _Values, _Cost]):
    """What the middleware and the limits of routes share. `countdownd.asgi.RateLimit` explains the arguments."""

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
        self._limits = RequestLimits(limits, on_failure, headers)
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


def _policies(name: str, rates: str | Sequence[str]) -> Iterator[_Policy]:
    if not re.fullmatch("[A-Za-z0-9._@:-]{1,64}", name):
        raise ValueError(f"the name of a limit is {name!r}; expected 1 to 64 of A-Z a-z 0-9 . _ @ : -")
    parsed = [Rate.parse(rate) for rate in ([rates] if isinstance(rates, str) else rates)]
    for key, rate in zip(rate_keys(name, parsed), parsed):
        yield _Policy(key, rate)


def _seconds(duration: timedelta) -> int:
    """Whole seconds, rounded up."""
    return -(-duration // _SECOND)


def is_preflight(method: str, has: Callable[[str], bool]) -> bool:
    """Whether a request only asks whether another one is allowed from elsewhere (CORS)."""
    return method == "OPTIONS" and has("origin") and has("access-control-request-method")


#: Of the answers that a middleware gives itself.
PROBLEM_TYPE = ("Content-Type", "application/problem+json")
