"""Limits for code: all or none of several, given back if the code fails.

What is called is decided by generators: they yield calls and get the replies, so the blocking and the asyncio form share it.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from . import _calls
from ._async import AsyncClient
from ._errors import CountdowndError, NoSuchCountdown, Refused, RevisionMismatch, WrongState
from ._rates import Rate, rate_keys
from ._sync import Client
from ._types import Cooldown, Countdown, Duration, microseconds

log = logging.getLogger("countdownd")

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
#: Yields methods with their parameters, and gets the replies.
Calls: TypeAlias = Generator[tuple[str, Mapping[str, Any]], Mapping[str, Any], _Value]

#: Tells desktops that an end is nothing to ring for.
MARK = {"cooldown": "yes"}


def perform(calls: Calls[_Value], client: Client) -> _Value:
    """Makes the calls."""
    try:
        method, parameters = next(calls)
        while True:
            try:
                reply = client.call(method, **parameters)
            except CountdowndError as error:
                method, parameters = calls.throw(error)
            else:
                method, parameters = calls.send(reply)
    except StopIteration as end:
        return cast(_Value, end.value)


async def perform_async(calls: Calls[_Value], client: AsyncClient) -> _Value:
    """Makes the calls."""
    try:
        method, parameters = next(calls)
        while True:
            try:
                reply = await client.call(method, **parameters)
            except CountdowndError as error:
                method, parameters = calls.throw(error)
            else:
                method, parameters = calls.send(reply)
    except StopIteration as end:
        return cast(_Value, end.value)


def _start(cooldowns: Sequence[Cooldown], wait: bool) -> Calls[list[Countdown]]:
    """Starts all cooldowns. Raises Refused if one has no room."""
    if wait:
        one = cooldowns[0]
        parameters = _calls.start_all([one], dry_run=False)["cooldowns"][0]
        return [_calls.countdown((yield "Start", {**parameters, "ifRunning": "wait"}))]
    all = _calls.started_all((yield "StartAll", _calls.start_all(cooldowns, dry_run=False)))
    if not all.accepted:
        full = next((room.key for room in all.rooms if not room.left), None)
        raise Refused(all.retry_after, all.rooms, full)
    return [room.countdown for room in all.rooms if room.countdown]


def _give_back(cooldown: Cooldown, started: Countdown) -> Calls[None]:
    """Takes one start back, unless the countdown has ended or was started again since."""
    revision = started.revision
    while True:
        change: dict[str, Any] = {"key": started.key, "ifRevision": revision}
        try:
            if cooldown.up_to is None:
                yield "Cancel", change
            else:
                yield "Adjust", {**change, "byUSec": -microseconds(cooldown.duration or 0)}
            return
        except RevisionMismatch as error:
            if error.countdown.started != started.started or error.countdown.state not in ("running", "paused"):
                return
            revision = error.countdown.revision
        except (WrongState, NoSuchCountdown):
            return
        except CountdowndError as error:
            return log.warning("a failure still counts: %s", error)


def _give_all_back(cooldowns: Sequence[Cooldown], started: Sequence[Countdown]) -> Calls[None]:
    for cooldown, countdown in zip(cooldowns, started):
        yield from _give_back(cooldown, countdown)


_shared: dict[type[Any], Any] = {}


def _client(kind: type[_Value], given: Client | AsyncClient | None) -> _Value:
    """The client that was given, or one that all limiters share."""
    if given is None:
        if kind not in _shared:
            _shared[kind] = kind()
        return cast(_Value, _shared[kind])
    if not isinstance(given, kind):
        raise TypeError(f"the client is a {type(given).__name__}; expected the {kind.__name__} that this form needs")
    return given


class Limiter:
    """Limits for a block, with `with` or `async with`, or for each call of a function, as a decorator.

    Entering it starts all cooldowns or none; if one has no room, `Refused` is raised, and with `wait` it waits instead. If
    the block fails, each start is given back by itself, unless the countdown was started again since.
    """

    def __init__(self, cooldowns: Callable[..., Sequence[Cooldown]], wait: bool, client: Client | AsyncClient | None) -> None:
        self._of_call = cooldowns
        self._wait = wait
        self._client = client
        self._entered: list[tuple[Sequence[Cooldown], list[Countdown]]] = []

    def __enter__(self) -> Limiter:
        cooldowns = self._of_call()
        self._entered.append((cooldowns, perform(_start(cooldowns, self._wait), _client(Client, self._client))))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        entered = self._entered.pop()
        if kind is not None:
            perform(_give_all_back(*entered), _client(Client, self._client))

    async def __aenter__(self) -> Limiter:
        cooldowns = self._of_call()
        started = await perform_async(_start(cooldowns, self._wait), _client(AsyncClient, self._client))
        self._entered.append((cooldowns, started))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        entered = self._entered.pop()
        if kind is not None:
            await perform_async(_give_all_back(*entered), _client(AsyncClient, self._client))

    def __call__(self, function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_async(*arguments: Any, **named: Any) -> Any:
                async with self._for(*arguments, **named):
                    return await function(*arguments, **named)

            return cast(Callable[_Parameters, _Result], call_async)

        @functools.wraps(function)
        def call(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
            with self._for(*arguments, **named):
                return function(*arguments, **named)

        return call

    def _for(self, *arguments: Any, **named: Any) -> Limiter:
        return Limiter(functools.partial(self._of_call, *arguments, **named), self._wait, self._client)


def limiter(
    key: str | Callable[..., str], *rates: str, wait: bool = False, client: Client | AsyncClient | None = None
) -> Limiter:
    """Limits such as `limiter("sms/138", "1/60s", "5/1h")`: all have room, or none is started. See `Limiter`.

    A rate accepts so many calls at once, then one per interval: a token bucket (GCRA), so five per hour may be nine in some
    hour. The first rate has the key KEY, each further one KEY/PERIOD, as in `countdownctl run --rate`. The ends are not kept.
    As a decorator, the key may be a function of the arguments. With `wait`, there is one rate, and calls are served in their
    order.
    """
    terms = [Rate.parse(rate) for rate in rates]
    if not terms or wait and len(terms) > 1:
        raise TypeError(f"there are {len(terms)} rates; expected {'one, because it waits' if wait else 'at least one'}")
    list(rate_keys("", terms))  # if two have one period, say so now

    def cooldowns(*arguments: Any, **named: Any) -> Sequence[Cooldown]:
        keys = rate_keys(_key(key, *arguments, **named), terms)
        return [limit(key, rate) for key, rate in zip(keys, terms)]

    return Limiter(cooldowns, wait, client)


def limit(key: str, rate: Rate, cost: int = 1) -> Cooldown:
    """The cooldown of a rate."""
    interval, up_to = timedelta(microseconds=rate.interval * cost), timedelta(microseconds=rate.up_to)
    return Cooldown(key, interval, up_to=up_to, metadata=MARK, forget=True)


def cooldown(
    key: str | Callable[..., str],
    duration: Duration,
    *,
    wait: bool = False,
    client: Client | AsyncClient | None = None,
) -> Limiter:
    """A cooldown, for `@cooldown("report", 60)` or a `with`: after a call, there is none for the duration. See `Limiter`.

    A call that comes too early raises `Refused`, with `retry_after`; with `wait`, it waits for its turn. The key may be a
    function of the arguments.
    """
    microseconds(duration)

    def cooldowns(*arguments: Any, **named: Any) -> Sequence[Cooldown]:
        return [Cooldown(_key(key, *arguments, **named), duration, metadata=MARK)]

    return Limiter(cooldowns, wait, client)


def _key(key: str | Callable[..., str], *arguments: Any, **named: Any) -> str:
    return key(*arguments, **named) if callable(key) else key
