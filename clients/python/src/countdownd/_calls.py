"""The parameters of the calls, and the values of their replies; both clients use these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ._errors import read
from ._types import Countdown, Duration, IfRunning, Started, State, instant_microseconds, member, microseconds


def _words(name: str, words: Iterable[str] | None) -> list[str] | None:
    if isinstance(words, str):
        raise TypeError(f"{name} is one string; expected a list of strings")
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
    return {
        "match": _words("match", match),
        "keys": _words("keys", keys),
        "states": _words("states", states),
        "soonest": soonest,
    }


def watch(
    match: Iterable[str] | None,
    keys: Iterable[str] | None,
    tick: Duration | None,
    since: int | None,
    heartbeat: Duration | None,
) -> dict[str, Any]:
    return {
        "match": _words("match", match),
        "keys": _words("keys", keys),
        "tickUSec": _usec(tick),
        "since": since,
        "heartbeatUSec": _usec(heartbeat),
    }


def countdown(reply: Mapping[str, Any]) -> Countdown:
    return read(lambda: Countdown.from_wire(reply["countdown"]))


def countdowns(pages: Iterable[Mapping[str, Any]]) -> list[Countdown]:
    return read(lambda: [Countdown.from_wire(one) for page in pages for one in page["countdowns"]])


def started(reply: Mapping[str, Any]) -> Started:
    return read(lambda: Started(member(reply, "outcome", str), Countdown.from_wire(reply["countdown"])))
