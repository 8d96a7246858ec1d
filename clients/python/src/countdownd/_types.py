"""What the daemon says about countdowns. Durations are `timedelta`, instants are `datetime` in UTC; both are exact."""

from __future__ import annotations

import dataclasses
import decimal
import numbers
import operator
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, TypeAlias, TypeVar, cast

#: A `timedelta`, or a number of seconds.
Duration: TypeAlias = timedelta | float

#: The state of a countdown.
State: TypeAlias = Literal["running", "paused", "finished", "cancelled"]

#: "elapsed": the countdown keeps its remaining time if the system clock is set. "wall": it keeps its deadline.
Clock: TypeAlias = Literal["elapsed", "wall"]

#: The action of `start` if the key is running or paused; the values are explained there.
IfRunning: TypeAlias = Literal["attach", "restart", "extend", "fail", "wait", "later"]

#: What `start` did.
Outcome: TypeAlias = Literal["started", "attached", "restarted", "extended"]

#: From the daemon, except "disconnected", "historyTrimmed" and "forgotten", which the watch itself makes. A newer daemon may
#: send others: ignore types that you do not know.
EventType: TypeAlias = Literal[
    "attached", "synced", "started", "restarted", "adjusted", "paused", "resumed", "tick", "finished", "cancelled", "heartbeat",
    "disconnected", "historyTrimmed", "forgotten",
]

#: What a step of `follow` says. "started", "attached": the first one; "attached" again when the daemon is back. "away": the
#: daemon is away. "gone": the countdown has ended, and nobody can say how.
StepType: TypeAlias = Literal[
    "started", "attached", "tick", "paused", "resumed", "adjusted", "restarted", "away", "finished", "cancelled", "gone"
]

#: Beyond it, readers of JSON with floating-point numbers are not exact.
GREATEST = (1 << 53) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_Value = TypeVar("_Value")


def microseconds(duration: Duration) -> int:
    """The whole microseconds of a duration."""
    if isinstance(duration, timedelta):
        count = duration // _MICROSECOND
    else:
        if isinstance(duration, bool) or not isinstance(duration, numbers.Real | decimal.Decimal):
            raise TypeError(f"the duration is {duration!r}; expected a timedelta or a number of seconds")
        try:
            # An integer of numpy is one only if it says so: its timedelta64 does not.
            number: Any = operator.index(duration) if isinstance(duration, numbers.Integral) else duration
            count = round(number * 1_000_000)
        except TypeError:
            raise TypeError(f"the duration is {duration!r}; expected a timedelta or a number of seconds") from None
        except (ArithmeticError, ValueError):  # infinite, or not a number
            count = GREATEST + 1
    if abs(count) > GREATEST:
        raise ValueError(f"the duration is {duration!r}; expected a number of seconds, at most 285 years")
    return count


def instant_microseconds(instant: datetime) -> int:
    """The microseconds since 1970; the instant must have a time zone."""
    if not isinstance(instant, datetime):
        raise TypeError(f"the instant is {instant!r}; expected a datetime with a time zone")
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
    state: State
    clock: Clock
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
            state=cast(State, _text(wire, "state")),
            clock=cast(Clock, _text(wire, "clock")),
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

    outcome: Outcome
    countdown: Countdown

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Started:
        return cls(cast(Outcome, _text(wire, "outcome")), Countdown.from_wire(wire["countdown"]))


@dataclasses.dataclass(frozen=True)
class Cooldown:
    """One of the cooldowns of `start_all`: of `duration`, or a rate, given as `rate="5/1h"`, or by `duration` and `up_to`."""

    key: str
    duration: Duration | None = None
    _: dataclasses.KW_ONLY
    rate: str | None = None
    up_to: Duration | None = None
    label: str | None = None
    metadata: Mapping[str, str] | None = dataclasses.field(default=None, hash=False)
    #: Whether the end is not kept.
    forget: bool | None = None


@dataclasses.dataclass(frozen=True)
class Room:
    """What a cooldown has room for, after the call."""

    key: str
    #: How many such calls it would accept now, one after the other.
    left: int
    #: How long until `left` is one more; None if everything is left, or if the countdown is paused or calls queue for it.
    more: timedelta | None
    #: None if the key is neither running nor paused.
    countdown: Countdown | None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Room:
        return cls(
            key=_text(wire, "key"),
            left=_integer(wire, "left"),
            more=optional(wire, "moreUSec", duration_from),
            countdown=optional(wire, "countdown", lambda wire, name: Countdown.from_wire(wire[name])),
        )


@dataclasses.dataclass(frozen=True)
class StartedAll:
    """The reply to `start_all`."""

    #: Whether it was done, or with `dry_run`, whether it would be.
    accepted: bool
    #: In the order of the cooldowns.
    rooms: tuple[Room, ...]
    #: If not accepted, how long until the same call is, if nothing else changes; None if that cannot be known.
    retry_after: timedelta | None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StartedAll:
        return cls(
            accepted=member(wire, "accepted", bool),
            rooms=tuple(Room.from_wire(room) for room in wire["rooms"]),
            retry_after=optional(wire, "retryAfterUSec", duration_from),
        )


@dataclasses.dataclass(frozen=True)
class Status:
    """The counters and limits of the daemon."""

    version: str
    started: datetime
    running: int
    paused: int
    watchers: int
    connections: int
    #: Calls of `start` that wait for their turn; None from a daemon that does not count them.
    queued_starts: int | None
    limits: Mapping[str, int] = dataclasses.field(hash=False)
    #: Why changes cannot be stored; None if they are.
    storage_failure: str | None
    #: Everything, with the names of the interface.
    parameters: Mapping[str, Any] = dataclasses.field(hash=False, repr=False)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Status:
        return cls(
            version=_text(wire, "version"),
            started=_instant(wire, "startedUSec"),
            running=_integer(wire, "running"),
            paused=_integer(wire, "paused"),
            watchers=_integer(wire, "watchers"),
            connections=_integer(wire, "connections"),
            queued_starts=optional(wire, "queuedStarts", _integer),
            limits=member(wire, "limits", dict),
            storage_failure=optional(wire, "storageFailure", _text),
            parameters=wire,
        )


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a watch. Ignore types that you do not know."""

    type: EventType
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
            type=cast(EventType, _text(wire, "type")),
            revision=optional(wire, "revision", _integer),
            key=optional(wire, "key", _text),
            remaining=optional(wire, "remainingUSec", duration_from),
            late=optional(wire, "lateUSec", duration_from),
            countdown=optional(wire, "countdown", lambda wire, name: Countdown.from_wire(wire[name])),
        )


@dataclasses.dataclass(frozen=True)
class Step:
    """What `follow` has to say. The last one is "finished", "cancelled" or "gone"."""

    type: StepType
    #: Zero if finished or gone; if cancelled, the time that remained then; of "away", as last known.
    remaining: timedelta
    #: With its deadline while it runs, so that a program can count on while the daemon is away. None only if nothing was known.
    countdown: Countdown | None
    #: Of "finished": how long after the deadline the daemon ended the countdown.
    late: timedelta | None = None
    #: Of "away": the reason.
    error: Exception | None = None
