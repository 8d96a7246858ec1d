"""What the daemon says about countdowns. Durations are `timedelta`, instants are `datetime` in UTC; both are exact."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeAlias

#: A `timedelta`, or a number of seconds.
Duration: TypeAlias = timedelta | float

#: The state of a countdown.
State: TypeAlias = Literal["running", "paused", "finished", "cancelled"]

#: The action of `start` if the key is running or paused.
IfRunning: TypeAlias = Literal["attach", "restart", "extend", "fail", "wait"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(duration: Duration) -> int:
    """The whole microseconds of a duration."""
    if isinstance(duration, timedelta):
        return duration // _MICROSECOND
    return round(duration * 1_000_000)


def instant_microseconds(instant: datetime) -> int:
    """The microseconds since 1970; the instant must have a time zone."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant!r} has no time zone: use for example .astimezone()")
    return (instant - _EPOCH) // _MICROSECOND


def duration_from(microseconds: int) -> timedelta:
    return timedelta(microseconds=microseconds)


def _instant(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


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
    metadata: Mapping[str, str]
    #: Whether its end is not kept.
    forget: bool
    #: The number of its last change.
    revision: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Countdown:
        deadline, ended = wire.get("deadlineUSec"), wire.get("endedUSec")
        return cls(
            key=wire["key"],
            state=wire["state"],
            clock=wire["clock"],
            duration=duration_from(wire["durationUSec"]),
            remaining=duration_from(wire["remainingUSec"]),
            started=_instant(wire["startedUSec"]),
            deadline=None if deadline is None else _instant(deadline),
            ended=None if ended is None else _instant(ended),
            label=wire.get("label"),
            metadata=wire.get("metadata") or {},
            forget=wire["forget"],
            revision=wire["revision"],
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
        remaining, late, countdown = wire.get("remainingUSec"), wire.get("lateUSec"), wire.get("countdown")
        return cls(
            type=wire["type"],
            revision=wire.get("revision"),
            key=wire.get("key"),
            remaining=None if remaining is None else duration_from(remaining),
            late=None if late is None else duration_from(late),
            countdown=None if countdown is None else Countdown.from_wire(countdown),
        )
