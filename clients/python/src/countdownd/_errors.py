"""The errors: why a call has no reply, and the errors of the interface."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from ._types import Countdown, Duration, Room, duration_from, member, microseconds, optional

_Value = TypeVar("_Value")


class CountdowndError(Exception):
    """Every error of this package."""

    #: The key that the call named; None if it named none, or several.
    key: str | None = None


class AddressError(CountdowndError):
    """There is no place for the daemon's socket."""


class Disconnected(CountdowndError):
    """The connection ended before the reply, so a change may have been made or not."""


class TimedOut(Disconnected, TimeoutError):
    """The daemon was silent for the client's `timeout`, so a change may have been made or not. The connection was closed."""

    @classmethod
    def after(cls, seconds: float | None) -> TimedOut:
        return cls(f"the daemon has not answered for {seconds:g} s; a change may have been made")


class NoDaemon(Disconnected):
    """Nothing accepts connections at the socket, so the call was not made."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message)
        #: The reason of the system.
        self.errno = errno


class ProtocolError(CountdowndError):
    """The service at the socket does not speak the protocol of countdownd."""


class InvalidCall(CountdowndError, ValueError):
    """The daemon could not read the call, for example because a text has half of a surrogate pair, so it was not made."""


class CallTooLong(InvalidCall):
    """The call has more bytes than a daemon accepts, so it was not made."""


class Refused(CountdowndError):
    """A limiter or a cooldown has no room for another call.

    The seconds are its `args`, so that what stores no more of an error, as Celery's results in JSON, makes it again from them.
    """

    def __init__(self, retry_after: Duration | None, rooms: Sequence[Room] = (), key: str | None = None) -> None:
        #: How long until it is accepted, if nothing else changes; None if that cannot be known.
        self.retry_after = None if retry_after is None else timedelta(microseconds=microseconds(retry_after))
        super().__init__(None if self.retry_after is None else self.retry_after.total_seconds())
        #: What each of its limits has room for.
        self.rooms = rooms
        self.key = key

    def __str__(self) -> str:
        seconds = "" if self.retry_after is None else f"; again in {-(-self.retry_after // timedelta(seconds=1))} s"
        return f"too early{seconds}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.retry_after, self.rooms, self.key), self.__dict__


#: The parameters of errors that name no countdown, and so may stand in a log.
_SHOWN = ("limit", "maximum", "reason", "parameter", "method", "oldestRevision", "retryAfterUSec")


class CallError(CountdowndError):
    """The daemon answered with an error. An error that has no class of its own has this one.

    The message has no key, which may be a telephone number; it is in the attributes.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        shown = ", ".join(f"{member} {parameters[member]}" for member in _SHOWN if member in parameters)
        message = f"the daemon refused the call: {name.rpartition('.')[2]}" + (f" ({shown})" if shown else "")
        if name.endswith(".MethodNotFound"):
            message += "; this needs a newer countdownd: restart it after the upgrade"
        super().__init__(message)
        #: The name on the wire: "io.countdownd.NoSuchCountdown".
        self.name = name
        #: The parameters on the wire.
        self.parameters = parameters
        self._read(parameters)

    def _read(self, parameters: Mapping[str, Any]) -> None:
        """Sets the attributes of a class."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.parameters), self.__dict__


class NoSuchCountdown(CallError):
    """The countdown was never started, or its end is no longer kept."""

    def _read(self, parameters: Mapping[str, Any]) -> None:
        self.key = member(parameters, "key", str)


class _CountdownError(CallError):
    #: The current countdown.
    countdown: Countdown

    def _read(self, parameters: Mapping[str, Any]) -> None:
        self.countdown = Countdown.from_wire(parameters["countdown"])
        self.key = self.countdown.key


class AlreadyRunning(_CountdownError):
    """The key is running or paused, and `if_running` was "fail", or `up_to` left no room."""

    #: How long until the same call succeeds if there is no other change; None if it is paused or calls queue.
    retry_after: timedelta | None

    def _read(self, parameters: Mapping[str, Any]) -> None:
        super()._read(parameters)
        self.retry_after = optional(parameters, "retryAfterUSec", duration_from)


class RevisionMismatch(_CountdownError):
    """The countdown has changed since `if_revision`."""


class WrongState(_CountdownError):
    """The state of the countdown does not allow the call."""


class HistoryTrimmed(CallError):
    """The daemon does not keep all ends after `since`."""

    oldest_revision: int

    def _read(self, parameters: Mapping[str, Any]) -> None:
        self.oldest_revision = member(parameters, "oldestRevision", int)


class LimitReached(CallError):
    """A limit of the daemon is reached."""

    limit: str
    maximum: int

    def _read(self, parameters: Mapping[str, Any]) -> None:
        self.limit, self.maximum = member(parameters, "limit", str), member(parameters, "maximum", int)


class _Reason(CallError):
    reason: str

    def _read(self, parameters: Mapping[str, Any]) -> None:
        self.reason = member(parameters, "reason", str)


class StorageFailed(_Reason):
    """The change could not be stored and was not made; or the daemon cannot open its store yet, and does not know."""


class Unreachable(_Reason):
    """The daemon's fleet did not answer in time: a change may have been made or not. Ask again with `get`."""


class InvalidParameter(CallError):
    """A parameter is not valid."""

    #: Its name on the wire.
    parameter: str

    def _read(self, parameters: Mapping[str, Any]) -> None:
        self.parameter = member(parameters, "parameter", str)


class MethodNotFound(CallError):
    """The daemon is older than the method: restart it after the upgrade."""


class PermissionDenied(CallError):
    """The daemon serves another user."""


_CLASSES: dict[str, Callable[[str, Mapping[str, Any]], CallError]] = {
    **{
        f"io.countdownd.{kind.__name__}": kind
        for kind in (
            NoSuchCountdown, AlreadyRunning, RevisionMismatch, WrongState, HistoryTrimmed, LimitReached, StorageFailed,
            Unreachable,
        )
    },
    **{f"org.varlink.service.{kind.__name__}": kind for kind in (InvalidParameter, MethodNotFound, PermissionDenied)},
}


@contextlib.contextmanager
def naming(parameters: Mapping[str, Any]) -> Iterator[None]:
    """Gives errors the key of the call that has these parameters."""
    try:
        yield
    except CountdowndError as error:
        error.key = error.key or parameters.get("key")
        raise


def error_from(name: str, parameters: Mapping[str, Any]) -> CallError:
    return read(lambda: _CLASSES.get(name, CallError)(name, parameters))


def read(make: Callable[[], _Value]) -> _Value:
    """The value of a message, as the function makes it. Raises ProtocolError if a member is missing or of another type."""
    try:
        return make()
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise ProtocolError("the reply is not one of countdownd") from error
