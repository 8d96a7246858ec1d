"""The parameters of the calls, and the values of their replies; both clients use these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ._errors import read
from ._rates import Rate
from ._types import (
    Cooldown,
    Countdown,
    Duration,
    IfRunning,
    Started,
    StartedAll,
    State,
    Status,
    instant_microseconds,
    microseconds,
)


def _words(name: str, words: Iterable[str] | None) -> list[str] | None:
    if isinstance(words, str):
        raise TypeError(f"{name} is one string; expected a list of strings")
    return None if words is None else list(words)


def _usec(duration: Duration | None) -> int | None:
    return None if duration is None else microseconds(duration)


def _terms(duration: Duration | None, up_to: Duration | None, rate: str | None) -> dict[str, Any]:
    """The duration of one call and the most that may remain, from both or from a rate."""
    if rate is None:
        return {"durationUSec": _usec(duration), "upToUSec": _usec(up_to)}
    if duration is not None or up_to is not None:
        raise TypeError(f"the rate is {rate!r}; expected no duration and no up_to beside it")
    terms = Rate.parse(rate)
    return {"durationUSec": terms.interval, "upToUSec": terms.up_to}


def start(
    key: str,
    duration: Duration | None,
    until: datetime | None,
    if_running: IfRunning | None,
    label: str | None,
    metadata: Mapping[str, str] | None,
    forget: bool | None,
    up_to: Duration | None,
    rate: str | None,
    max_duration: Duration | None,
    queue_up_to: int | None,
) -> dict[str, Any]:
    if rate is not None and until is not None:
        raise TypeError(f"the rate is {rate!r}; expected no until beside it")
    return {
        "key": key,
        **_terms(duration, up_to, rate),
        "deadlineUSec": None if until is None else instant_microseconds(until),
        "ifRunning": "extend" if rate is not None and if_running is None else if_running,
        "label": label,
        "metadata": None if metadata is None else dict(metadata),
        "forget": forget,
        "maxDurationUSec": _usec(max_duration),
        "queueUpTo": queue_up_to,
    }


def follow(*arguments: Any) -> dict[str, Any] | None:
    """The parameters of a start; None if there is no length."""
    parameters = start(*arguments)
    if parameters["durationUSec"] is not None or parameters["deadlineUSec"] is not None:
        return parameters
    if any(value is not None for name, value in parameters.items() if name != "key"):
        raise TypeError("there is no duration, until or rate; expected one of them beside other parameters of a start")
    return None


def _cooldown(one: Cooldown) -> dict[str, Any]:
    wire = {
        "key": one.key,
        **_terms(one.duration, one.up_to, one.rate),
        "label": one.label,
        "metadata": None if one.metadata is None else dict(one.metadata),
        "forget": one.forget,
    }
    return {name: value for name, value in wire.items() if value is not None}


def start_all(cooldowns: Iterable[Cooldown], dry_run: bool) -> dict[str, Any]:
    return {"cooldowns": [_cooldown(one) for one in cooldowns], "dryRun": dry_run or None}


def adjust(key: str, by: Duration | None, until: datetime | None, if_revision: int | None) -> dict[str, Any]:
    deadline = None if until is None else instant_microseconds(until)
    return {"key": key, "byUSec": _usec(by), "deadlineUSec": deadline, "ifRevision": if_revision}


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
    return read(lambda: Started.from_wire(reply))


def started_all(reply: Mapping[str, Any]) -> StartedAll:
    return read(lambda: StartedAll.from_wire(reply))


def status(reply: Mapping[str, Any]) -> Status:
    return read(lambda: Status.from_wire(reply))
