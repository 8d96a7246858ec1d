"""What the daemon says about countdowns. Durations are `timedelta`, instants are `datetime` in UTC; both are exact."""

from __future__ import annotations

import dataclasses
import decimal
import math
import numbers
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeAlias, TypeVar

#: A `timedelta`, or a number of seconds.
Duration: TypeAlias = timedelta | float

#: The state of a countdown.
State: TypeAlias = Literal["running", "paused", "finished", "cancelled"]

#: The action of `start` if the key is running or paused.
IfRunning: TypeAlias = Literal["attach", "restart", "extend", "fail", "wait"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_Value = TypeVar("_Value")


def microseconds(duration: Duration) -> int:
    """The whole microseconds of a duration."""
    if isinstance(duration, timedelta):
        return duration // _MICROSECOND
    if isinstance(duration, bool) or not isinstance(duration, numbers.Real | decimal.Decimal):
        raise TypeError(f"the duration is {duration!r}; expected a timedelta or a number of seconds")
    if not math.isfinite(duration):
        raise ValueError(f"the duration is {duration!r}; expected a finite number of seconds")
    return round(duration * 1_000_000)


def instant_microseconds(instant: datetime) -> int:
    """The microseconds since 1970; the instant must have a time zone."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant!r} has no time zone: use for example .astimezone()")
    return (instant - _EPOCH) // _MICROSECOND


def member(wire: Mapping[str, Any], name: str, kind: type[_Value]) -> _Value:
    """A member of a message. Raises KeyError or TypeError if there is none of this type."""
    value = wire[name]
    if type(value) is not kind:
        raise TypeError(f"{name} is a {type(value).__name__}; expected a {kind.__name__}")
    return value


def optional(wire: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any], str], _Value]) -> _Value | None:
    """What the function reads from a member; None if the member is absent or null."""
    return None if wire.get(name) is None else read(wire, name)


def duration_from(wire: Mapping[str, Any], name: str) -> timedelta:
    return timedelta(microseconds=member(wire, name, int))


def _instant(wire: Mapping[str, Any], name: str) -> datetime:
    return _EPOCH + duration_from(wire, name)


def _text(wire: Mapping[str, Any], name: str) -> str:
    return member(wire, name, str)


def _integer(wire: Mapping[str, Any], name: str) -> int:
    return member(wire, name, int)


def _texts(wire: Mapping[str, Any], name: str) -> Mapping[str, str]:
    texts: dict[str, Any] = member(wire, name, dict)
    return {name: _text(texts, name) for name in texts}


@dataclasses.dataclass(frozen=True)
class Countdown:
    """A countdown at the instant of the reply."""

    key: str
    state: str
    #: "elapsed": it keeps its remaining time if the system clock is set. "wall": it keeps its deadline.
    clock: str
    #: The whole duration with all extensions, without pauses.
    duration: timedelta
    #: Zero if finished; if cancelled, the time that remained then.
    remaining: timedelta
    started: datetime
    #: Only while it runs.
    deadline: datetime | None
    #: Only after its end.
    ended: datetime | None
    label: str | None
    metadata: Mapping[str, str] = dataclasses.field(hash=False)
    #: Whether its end is not kept.
    forget: bool
    #: The number of its last change.
    revision: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Countdown:
        return cls(
            key=_text(wire, "key"),
            state=_text(wire, "state"),
            clock=_text(wire, "clock"),
            duration=duration_from(wire, "durationUSec"),
            remaining=duration_from(wire, "remainingUSec"),
            started=_instant(wire, "startedUSec"),
            deadline=optional(wire, "deadlineUSec", _instant),
            ended=optional(wire, "endedUSec", _instant),
            label=optional(wire, "label", _text),
            metadata=optional(wire, "metadata", _texts) or {},
            forget=member(wire, "forget", bool),
            revision=_integer(wire, "revision"),
        )


@dataclasses.dataclass(frozen=True)
class Started:
    """The reply to `start`."""

    #: "started", "attached", "restarted" or "extended".
    outcome: str
    countdown: Countdown


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a watch. Ignore types that you do not know."""

    #: "attached", "synced", "started", "restarted", "adjusted", "paused", "resumed", "tick", "finished", "cancelled" or
    #: "heartbeat" from the daemon; "disconnected" or "historyTrimmed" from this client.
    type: str
    revision: int | None = None
    key: str | None = None
    remaining: timedelta | None = None
    #: Of "finished": how long after the deadline the daemon ended the countdown.
    late: timedelta | None = None
    #: Of "attached" and every change.
    countdown: Countdown | None = None
    #: Of "disconnected" and "historyTrimmed": the reason.
    error: Exception | None = None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Event:
        return cls(
            type=_text(wire, "type"),
            revision=optional(wire, "revision", _integer),
            key=optional(wire, "key", _text),
            remaining=optional(wire, "remainingUSec", duration_from),
            late=optional(wire, "lateUSec", duration_from),
            countdown=optional(wire, "countdown", lambda wire, name: Countdown.from_wire(wire[name])),
        )
