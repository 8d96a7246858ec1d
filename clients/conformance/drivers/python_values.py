"""Between the values of the Python clients and the values on the wire, for both drivers."""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import countdownd

_WIRE_NAMES = {
    "duration": "durationUSec",
    "remaining": "remainingUSec",
    "late": "lateUSec",
    "started": "startedUSec",
    "deadline": "deadlineUSec",
    "ended": "endedUSec",
    "more": "moreUSec",
    "retry_after": "retryAfterUSec",
}
_ARGUMENTS = {
    "durationUSec": "duration",
    "upToUSec": "up_to",
    "maxDurationUSec": "max_duration",
    "queueUpTo": "queue_up_to",
    "dryRun": "dry_run",
    "tickUSec": "tick",
    "heartbeatUSec": "heartbeat",
    "deadlineUSec": "until",
    "ifRunning": "if_running",
    "ifRevision": "if_revision",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def serve(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The commands."""
    for line in lines:
        command = json.loads(line)
        yield command.pop("do"), command


#: The text of the last error.
message = ""


def answer(perform: Callable[[], list[Any]]) -> None:
    """Prints the results, or the error."""
    global message
    try:
        results = perform()
    except countdownd.CallError as error:
        message = str(error)
        results = [{"error": error.name.rpartition(".")[2], "class": type(error).__name__, **_fields(error)}]
    except countdownd.CountdowndError as error:
        message = str(error)
        results = [{"error": type(error).__name__}]
    for result in results:
        print(json.dumps(result), flush=True)


def _fields(error: countdownd.CallError) -> dict[str, Any]:
    """The attributes that the class of the error has."""
    match error:
        case countdownd.AlreadyRunning():
            return {"retryAfterUSec": _value(error.retry_after), "countdown": countdown(error.countdown)}
        case countdownd.RevisionMismatch() | countdownd.WrongState():
            return {"countdown": countdown(error.countdown)}
        case countdownd.NoSuchCountdown():
            return {"key": error.key}
        case countdownd.LimitReached():
            return {"limit": error.limit, "maximum": error.maximum}
        case countdownd.StorageFailed() | countdownd.Unreachable():
            return {"reason": error.reason}
        case countdownd.InvalidParameter():
            return {"parameter": error.parameter}
        case countdownd.HistoryTrimmed():
            return {"oldestRevision": error.oldest_revision}
    return {}


def options(parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the client, taken from a command."""
    return {"timeout": timedelta(microseconds=parameters.pop("timeoutUSec"))} if "timeoutUSec" in parameters else {}


def call_arguments(parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a method."""
    return {_ARGUMENTS.get(name, name): _argument(name, value) for name, value in parameters.items()}


def _argument(name: str, value: Any) -> Any:
    if not name.endswith("USec"):
        return value
    duration = timedelta(microseconds=value)
    return _EPOCH + duration if name == "deadlineUSec" else duration


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        value -= _EPOCH
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else value


def _wire(fields: dict[str, Any]) -> dict[str, Any]:
    return {_WIRE_NAMES.get(name, name): _value(value) for name, value in fields.items() if value not in (None, {})}


def countdown(countdown: countdownd.Countdown) -> dict[str, Any]:
    return _wire(vars(countdown))


def started(started: countdownd.Started) -> dict[str, Any]:
    return {"outcome": started.outcome, "countdown": countdown(started.countdown)}


def all_arguments(parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `start_all`."""
    cooldowns = [countdownd.Cooldown(**call_arguments(one)) for one in parameters.pop("cooldowns")]
    return {"cooldowns": cooldowns, **call_arguments(parameters)}


def started_all(reply: countdownd.StartedAll) -> dict[str, Any]:
    return {"accepted": reply.accepted, "rooms": [_room(room) for room in reply.rooms], **_wire({"retry_after": reply.retry_after})}


def _room(room: countdownd.Room) -> dict[str, Any]:
    wire = _wire({"key": room.key, "left": room.left, "more": room.more})
    return {**wire, "countdown": countdown(room.countdown)} if room.countdown else wire


def event(event: countdownd.Event | countdownd.Step) -> dict[str, Any]:
    wire = _wire({field.name: getattr(event, field.name) for field in dataclasses.fields(event)})
    if event.countdown:
        wire["countdown"] = countdown(event.countdown)
    if event.error:
        wire["error"] = type(event.error).__name__
    return wire
