"""The errors: why a call has no reply, and the errors of the interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from ._types import Countdown, duration_from


class CountdowndError(Exception):
    """Every error of this package."""


class AddressError(CountdowndError):
    """There is no place for the daemon's socket."""


class Disconnected(CountdowndError):
    """The connection ended before the reply, so a change may have been made or not."""


class NoDaemon(Disconnected):
    """Nothing accepts connections at the socket, so the call was not made. The cause has the errno."""


class ProtocolError(CountdowndError):
    """The service at the socket does not speak the protocol of countdownd."""


class CallTooLong(CountdowndError):
    """The call has more bytes than a daemon accepts, so it was not made."""


class CallError(CountdowndError):
    """The daemon answered with an error. An error that has no class of its own has this one."""

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        super().__init__(f"the daemon refused the call: {name} {dict(parameters) or ''}".rstrip())
        #: The name on the wire: "io.countdownd.NoSuchCountdown".
        self.name = name
        #: The parameters on the wire.
        self.parameters = parameters


class NoSuchCountdown(CallError):
    """The countdown was never started, or its end is no longer kept."""

    @property
    def key(self) -> str:
        return str(self.parameters["key"])


class _CountdownError(CallError):
    @property
    def countdown(self) -> Countdown:
        """The current countdown."""
        return Countdown.from_wire(self.parameters["countdown"])


class AlreadyRunning(_CountdownError):
    """The key is running or paused, and `if_running` was "fail", or `up_to` left no room."""

    @property
    def retry_after(self) -> timedelta | None:
        """How long until the same call succeeds if there is no other change; None if it is paused or calls queue."""
        value = self.parameters.get("retryAfterUSec")
        return None if value is None else duration_from(value)


class RevisionMismatch(_CountdownError):
    """The countdown has changed since `if_revision`."""


class WrongState(_CountdownError):
    """The state of the countdown does not allow the call."""


class HistoryTrimmed(CallError):
    """The daemon does not keep all ends after `since`."""

    @property
    def oldest_revision(self) -> int:
        return int(self.parameters["oldestRevision"])


class LimitReached(CallError):
    """A limit of the daemon is reached."""

    @property
    def limit(self) -> str:
        return str(self.parameters["limit"])

    @property
    def maximum(self) -> int:
        return int(self.parameters["maximum"])


class _Reason(CallError):
    @property
    def reason(self) -> str:
        return str(self.parameters["reason"])


class StorageFailed(_Reason):
    """The change could not be stored and was not made; or the daemon cannot open its store yet, and does not know."""


class Unreachable(_Reason):
    """The daemon's fleet did not answer in time: a change may have been made or not. Ask again with `get`."""


class InvalidParameter(CallError):
    """A parameter is not valid."""

    @property
    def parameter(self) -> str:
        """Its name on the wire."""
        return str(self.parameters["parameter"])


class MethodNotFound(CallError):
    """The daemon is older than the method."""


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


def error_from(name: str, parameters: Mapping[str, Any]) -> CallError:
    return _CLASSES.get(name, CallError)(name, parameters)
