"""Limits for code: all or none of several, given back if the code fails.

What is called is decided by generators: they yield calls and get the replies, so the blocking and the asyncio form share it.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
import sys
import threading
import weakref
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from types import FrameType
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from . import _calls
from ._async import AsyncClient
from ._breaker import TIMEOUT, Breaker, OnFailure, log
from ._errors import CountdowndError, NoSuchCountdown, Refused, RevisionMismatch, WrongState, read
from ._policies import Limits, Policies, Values
from ._rates import Rate, rate_keys
from ._sync import Client
from ._types import Duration, Room, StartedAll, member, microseconds

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
#: Yields methods with their parameters, and gets the replies.
Calls: TypeAlias = Generator[tuple[str, Mapping[str, Any]], Mapping[str, Any], _Value]

#: Tells desktops that an end is nothing to ring for.
MARK = {"cooldown": "yes"}
#: How long starts are given back at most, in seconds.
_PATIENCE = 5.0


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


class Taken:
    """What one entry into a limiter has taken."""

    def __init__(self, cooldowns: Sequence[Mapping[str, Any]] = (), started: Sequence[Mapping[str, Any]] = ()) -> None:
        self._cooldowns = cooldowns
        self._started = started
        #: Whether it counts. If it is set to False, it is given back at the end of the block, as after a failure.
        self.counts = True

    @property
    def rooms(self) -> list[Room]:
        """What each limit has room for, after the entry. Empty if the limiter waits, or if the daemon could not be asked."""
        return read(lambda: [Room.from_wire(one) for one in self._started if "left" in one])

    def returns(self) -> list[_Return]:
        return [_Return(cooldown, one["countdown"]) for cooldown, one in zip(self._cooldowns, self._started) if "countdown" in one]


class _Return:
    """The call that gives one start back, unless the countdown has ended or was started again since."""

    def __init__(self, cooldown: Mapping[str, Any], started: Mapping[str, Any]) -> None:
        self._started = started["startedUSec"]
        self.parameters = {"key": started["key"], "ifRevision": started["revision"]}
        self.method = "Cancel"
        if "upToUSec" in cooldown:
            self.method = "Adjust"
            self.parameters["byUSec"] = -cooldown["durationUSec"]

    def must_repeat(self, answer: object) -> bool:
        if isinstance(answer, RevisionMismatch):
            now = answer.parameters["countdown"]
            self.parameters["ifRevision"] = now["revision"]
            return now["startedUSec"] == self._started and now["state"] in ("running", "paused")
        if isinstance(answer, BaseException) and not isinstance(answer, WrongState | NoSuchCountdown):
            log.warning("a failure still counts: %s", answer)
        return False


def _give_back(returns: list[_Return], client: Client) -> None:
    try:
        while returns:
            answers: Sequence[object] = client._together([(one.method, one.parameters) for one in returns])
            returns = [one for one, answer in zip(returns, answers) if one.must_repeat(answer)]
    except CountdowndError as error:
        log.warning("a failure still counts: %s", error)


#: By event loop and key: tasks give one key back one after the other, or each would find the revision of another one.
_locks: weakref.WeakValueDictionary[tuple[int, object], asyncio.Lock] = weakref.WeakValueDictionary()


async def _give_back_async(returns: list[_Return], client: AsyncClient) -> None:
    place = id(asyncio.get_running_loop()), returns[0].parameters["key"]
    async with _locks.setdefault(place, asyncio.Lock()):
        while returns:
            calls = (client.call(one.method, **one.parameters) for one in returns)
            answers: Sequence[object] = await asyncio.gather(*calls, return_exceptions=True)
            returns = [one for one, answer in zip(returns, answers) if one.must_repeat(answer)]


async def _shielded(work: Coroutine[Any, Any, _Value]) -> _Value | None:
    """Does the work for 5 s at most, also if this task is cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    end = asyncio.get_running_loop().time() + _PATIENCE
    cancelled = None
    while not task.done() and (left := end - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.wait([task], timeout=left)
        except asyncio.CancelledError as error:  # also again and again, from a scope of anyio
            cancelled = error
    if not task.done():
        task.cancel()
        log.warning("a failure still counts: the daemon has not answered for %g s", _PATIENCE)
    if cancelled:
        raise cancelled
    return task.result() if task.done() else None


_shared: dict[tuple[type[Any], bool], Any] = {}
_breakers: weakref.WeakKeyDictionary[Any, dict[OnFailure, Breaker]] = weakref.WeakKeyDictionary()


class _Terms:
    """What a limiter starts, and how."""

    def __init__(self, wait: bool, client: Client | AsyncClient | None, on_failure: OnFailure | None = None) -> None:
        self._wait = wait
        self._given = client
        self._on_failure = on_failure
        if on_failure is not None:
            Breaker(on_failure, "", "")

    def client(self, kind: type[_Value]) -> _Value:
        """The client that was given, or one that all limiters share."""
        if self._given is None:
            shared = kind, self._on_failure is None
            if shared not in _shared:
                _shared[shared] = kind() if self._on_failure is None else kind(timeout=TIMEOUT)  # type: ignore[call-arg]
            return cast(_Value, _shared[shared])
        if not isinstance(self._given, kind):
            raise TypeError(f"the client is a {type(self._given).__name__}; expected the {kind.__name__} that this form needs")
        return self._given

    def take(self, cooldowns: Sequence[Mapping[str, Any]], client: Client | AsyncClient) -> Calls[Taken]:
        """Starts all cooldowns. Raises Refused if one has no room."""
        if not cooldowns:
            return Taken()
        if self._on_failure is None:
            return (yield from self._start(cooldowns))
        breakers = _breakers.setdefault(client, {})
        if self._on_failure not in breakers:
            breakers[self._on_failure] = Breaker(self._on_failure, "calls", "refused")
        breaker = breakers[self._on_failure]
        if not breaker.allows():
            error = breaker.failure
        else:
            try:
                taken = yield from self._start(cooldowns)
                breaker.succeed()
                return taken
            except Refused:
                breaker.succeed()
                raise
            except CountdowndError as failed:
                breaker.fail(error := failed)
        if breaker.is_open_on_failure:
            return Taken()
        raise error

    def _start(self, cooldowns: Sequence[Mapping[str, Any]]) -> Calls[Taken]:
        if self._wait:
            reply = yield "Start", {**cooldowns[0], "ifRunning": "wait"}
            _calls.countdown(reply)
            return Taken(cooldowns, [reply])
        reply = yield "StartAll", {"cooldowns": cooldowns}
        if reply.get("accepted") is True:
            return Taken(cooldowns, read(lambda: [_checked(room) for room in reply["rooms"]]))
        refused = _calls.started_all(reply)
        full = next((room.key for room in refused.rooms if not room.left), None)
        raise Refused(refused.retry_after, refused.rooms, full)


class Limiter:
    """Limits for a block, with `with` or `async with`, or for each call of a function, as a decorator.

    Entering it starts all cooldowns or none; if one has no room, `Refused` is raised, and with `wait` it waits instead. If
    the block fails or is cancelled, each start is given back by itself, unless the countdown was started again since: all at
    once, within 5 s, also if the task is cancelled again. So is the start of a task that is cancelled while it enters; only a
    limiter that waits may then count, if its turn comes at that moment, and a blocking one that a signal interrupts. Tasks and
    threads may share a limiter.
    """

    def __init__(self, cooldowns: Callable[..., Sequence[Mapping[str, Any]]], terms: _Terms) -> None:
        self._of_call = cooldowns
        self._terms = terms
        #: By the frame that entered, because a task may enter in several frames, as generators do; each with its task or thread.
        self._entered: dict[tuple[int, int], list[tuple[int, Taken]]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Taken:
        client = self._terms.client(Client)
        taken = perform(self._terms.take(self._of_call(), client), client)
        self._add(sys._getframe(1), taken)
        return taken

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        taken = self._remove(sys._getframe(1))
        if kind is not None or not taken.counts:
            _give_back(taken.returns(), self._terms.client(Client))

    def __aenter__(self) -> Coroutine[Any, Any, Taken]:
        return self._enter(sys._getframe(1))

    async def _enter(self, frame: FrameType) -> Taken:
        client = self._terms.client(AsyncClient)
        taking = perform_async(self._terms.take(self._of_call(), client), client)
        if self._terms._wait:
            taken = await taking
        else:
            task = asyncio.ensure_future(taking)
            try:
                taken = await asyncio.shield(task)
            except asyncio.CancelledError:
                await _shielded(_undo(task, client))
                raise
        self._add(frame, taken)
        return taken

    def __aexit__(self, kind: type[BaseException] | None, *_: object) -> Coroutine[Any, Any, None]:
        return self._leave(self._remove(sys._getframe(1)), kind)

    async def _leave(self, taken: Taken, kind: type[BaseException] | None) -> None:
        if (kind is not None or not taken.counts) and (returns := taken.returns()):
            await _shielded(_give_back_async(returns, self._terms.client(AsyncClient)))

    def look(self, *arguments: Any, **named: Any) -> StartedAll:
        """Whether there is room, and how many are left, without using one. Of a decorator, for these arguments."""
        return _calls.started_all(self._terms.client(Client).call("StartAll", **self._look(*arguments, **named)))

    async def look_async(self, *arguments: Any, **named: Any) -> StartedAll:
        """As `look`."""
        return _calls.started_all(await self._terms.client(AsyncClient).call("StartAll", **self._look(*arguments, **named)))

    def _look(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        return {"cooldowns": self._of_call(*arguments, **named), "dryRun": True}

    def __call__(self, function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            name = getattr(function, "__qualname__", function)
            raise TypeError(f"{name} is a generator; expected a function that ends, or use `with` in it")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_async(*arguments: Any, **named: Any) -> Any:
                async with self._for(*arguments, **named):
                    return await function(*arguments, **named)

            return cast(Callable[_Parameters, _Result], call_async)

        @functools.wraps(function)
        def call(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
            with self._for(*arguments, **named):
                result = function(*arguments, **named)
                if inspect.isgenerator(result) or inspect.isasyncgen(result) or inspect.isawaitable(result):
                    kind = type(result).__name__
                    raise TypeError(f"the function returns a {kind}; expected an `async def`, or use `with` in it")
                return result

        return call

    def _for(self, *arguments: Any, **named: Any) -> Limiter:
        return Limiter(functools.partial(self._of_call, *arguments, **named), self._terms)

    def _add(self, frame: FrameType, taken: Taken) -> None:
        with self._lock:
            self._entered.setdefault(_place(frame), []).append((_flow(), taken))

    def _remove(self, frame: FrameType) -> Taken:
        """The last entry of the frame; with an `ExitStack`, which leaves in another frame, that of the task or thread."""
        here = _place(frame)
        with self._lock:
            entered = self._entered.get(here)
            if entered:
                found = entered[-1]
            else:
                every = [(place, one) for place, entered in self._entered.items() for one in entered]
                flow = _flow()
                mine = [both for both in every if both[1][0] == flow] or (every if len(every) == 1 else [])
                if not mine:
                    return Taken()  # the others are those of other tasks and threads
                here, found = mine[-1]
            self._entered[here].remove(found)
            if not self._entered[here]:
                del self._entered[here]
            return found[1]


def _place(frame: FrameType) -> tuple[int, int]:
    return id(frame), id(frame.f_code)


def _flow() -> int:
    """The task or the thread."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return id(task) if task else -threading.get_ident()


async def _undo(task: asyncio.Future[Taken], client: AsyncClient) -> None:
    """Gives back what the task takes."""
    await asyncio.wait([task])
    if not task.cancelled() and not task.exception() and (returns := task.result().returns()):
        await _give_back_async(returns, client)


def _checked(room: Mapping[str, Any]) -> Mapping[str, Any]:
    """A room, if it has what is needed to give its start back."""
    if one := room.get("countdown"):
        for name, kind in (("key", str), ("startedUSec", int), ("revision", int)):
            member(one, name, kind)
    return room


_MISSING: Any = object()


def limiter(
    key: str | Callable[..., str] | Limits,
    *rates: str,
    values: Values | Callable[..., Values] = _MISSING,
    wait: bool = False,
    on_failure: OnFailure | None = None,
    client: Client | AsyncClient | None = None,
) -> Limiter:
    """Limits such as `limiter("sms/138", "1/60s", "5/1h")`: all have room, or none is started. See `Limiter`.

    A rate accepts so many calls at once, then one per interval: a token bucket (GCRA), so five per hour may be nine in some
    hour. The first rate has the key KEY, each further one KEY/PERIOD, as in `countdownctl run --rate`. The ends are not kept.
    As a decorator, the key may be a function of the arguments. With `wait`, there is one rate, and calls are served in their
    order.

    Several keys: `limiter({"sms": ["1/60s", "5/1h"], "ip": "20/1h"}, values={"sms": phone, "ip": address})`, with the keys that
    the middleware makes of the values. As a decorator, the values may be a function of the arguments.

    `on_failure`: if the daemon cannot be asked within 500 ms, or the timeout of the client, "open" runs the code, and "closed"
    raises the error; for a second, no other call asks. Without it, each call asks, and raises.
    """
    terms = _Terms(wait, client, on_failure)
    if not isinstance(key, str) and not callable(key):
        policies = Policies(key)
        if rates or wait or values is _MISSING:
            raise TypeError("the limits have names; expected values, no rates beside them, and no wait")

        def of_values(*arguments: Any, **named: Any) -> Sequence[Mapping[str, Any]]:
            asked = values(*arguments, **named) if callable(values) else values
            return [wire(key, policy.rate) for policy, key in policies.asked(asked)]

        return Limiter(of_values, terms)
    if values is not _MISSING:
        raise TypeError("the limit has one key; expected no values, or limits with names")
    if not rates or wait and len(rates) > 1:
        raise TypeError(f"there are {len(rates)} rates; expected {'one, because it waits' if wait else 'at least one'}")
    parsed = _parsed(rates)

    def cooldowns(*arguments: Any, **named: Any) -> Sequence[Mapping[str, Any]]:
        whole = _key(key, *arguments, **named)
        if (further := _FURTHER.search(whole)) and Rate.parse(f"1/{further[1]}").suffix == further[1]:
            raise ValueError(
                f"the key ends with {further[0]}, as that of a further rate does; expected another end, or limits with names"
            )
        return [wire(whole + suffix, rate) for suffix, rate in parsed]

    return Limiter(cooldowns, terms)


_FURTHER = re.compile("/([1-9][0-9]{0,15}(?:w|d|h|m|s|ms|us))$")


@functools.lru_cache
def _parsed(rates: tuple[str, ...]) -> list[tuple[str, Rate]]:
    """The rates, each with the end of its key."""
    parsed = [Rate.parse(rate) for rate in rates]
    return list(zip(rate_keys("", parsed), parsed))


def wire(key: str, rate: Rate, cost: int = 1) -> dict[str, Any]:
    """The cooldown of a rate."""
    return {"key": key, "durationUSec": rate.interval * cost, "upToUSec": rate.up_to, "metadata": MARK, "forget": True}


def cooldown(
    key: str | Callable[..., str],
    duration: Duration,
    *,
    wait: bool = False,
    on_failure: OnFailure | None = None,
    client: Client | AsyncClient | None = None,
) -> Limiter:
    """A cooldown, for `@cooldown("report", 60)` or a `with`: after a call, there is none for the duration. See `Limiter`.

    A call that comes too early raises `Refused`, with `retry_after`; with `wait`, it waits for its turn. The key may be a
    function of the arguments. `on_failure` is that of `limiter`.
    """
    length = microseconds(duration)

    def cooldowns(*arguments: Any, **named: Any) -> Sequence[Mapping[str, Any]]:
        return [{"key": _key(key, *arguments, **named), "durationUSec": length, "metadata": MARK}]

    return Limiter(cooldowns, _Terms(wait, client, on_failure))


def _key(key: str | Callable[..., str], *arguments: Any, **named: Any) -> str:
    return key(*arguments, **named) if callable(key) else key
