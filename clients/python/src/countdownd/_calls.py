"""The parameters of the calls, and the values of their replies; both clients use these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from ._errors import ProtocolError
from ._types import Countdown, Duration, IfRunning, Started, State, instant_microseconds, microseconds

_Value = TypeVar("_Value")


def _words(words: Iterable[str] | None) -> list[str] | None:
    if isinstance(words, str):
        raise TypeError(f"{words!r} is one string; expected a list of strings")
    return None if words is None else list(words)


def _usec(duration: Duration | None) -> int | None:
    return None if duration is None else microseconds(duration)


def start(
    key: str,
    duration: Duration | None,
    until: datetime | None,
    if_running: IfRunning | None,
    label: str | None,
    metadata: Mapping[str, str] | None,
    forget: bool | None,
    up_to: Duration | None,
) -> dict[str, Any]:
    return {
        "key": key,
        "durationUSec": _usec(duration),
        "deadlineUSec": None if until is None else instant_microseconds(until),
        "ifRunning": if_running,
        "label": label,
        "metadata": None if metadata is None else dict(metadata),
        "forget": forget,
        "upToUSec": _usec(up_to),
    }


def list_(
    match: Iterable[str] | None, keys: Iterable[str] | None, states: Iterable[State] | None, soonest: int | None
) -> dict[str, Any]:
    return {"match": _words(match), "keys": _words(keys), "states": _words(states), "soonest": soonest}


def watch(
    match: Iterable[str] | None,
    keys: Iterable[str] | None,
    tick: Duration | None,
    since: int | None,
    heartbeat: Duration | None,
) -> dict[str, Any]:
    return {
        "match": _words(match),
        "keys": _words(keys),
        "tickUSec": _usec(tick),
        "since": since,
        "heartbeatUSec": _usec(heartbeat),
    }


def _read(reply: Mapping[str, Any], value: Callable[[Mapping[str, Any]], _Value]) -> _Value:
    try:
        return value(reply)
    except (KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(f"not a reply of countdownd: {error!r}") from error


def countdown(reply: Mapping[str, Any]) -> Countdown:
    return _read(reply, lambda reply: Countdown.from_wire(reply["countdown"]))


def countdowns(pages: Iterable[Mapping[str, Any]]) -> list[Countdown]:
    return [one for page in pages for one in _read(page, lambda page: [*map(Countdown.from_wire, page["countdowns"])])]


def started(reply: Mapping[str, Any]) -> Started:
    return _read(reply, lambda reply: Started(reply["outcome"], Countdown.from_wire(reply["countdown"])))
