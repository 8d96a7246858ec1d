"""A watch that outlives its connections, as a state machine without I/O."""

from __future__ import annotations

import collections
import errno
from collections.abc import Mapping
from typing import Any

from ._errors import (
    CountdowndError,
    Disconnected,
    HistoryTrimmed,
    LimitReached,
    NoDaemon,
    StorageFailed,
    Unreachable,
    read,
)
from ._types import Event

_HEARTBEAT_USEC = 3_600_000_000


def backoff(attempt: int) -> float:
    """The seconds to wait before an attempt: none before attempt 0, then 100 ms, doubled each time up to 30 s."""
    return min(0.1 * 2 ** min(attempt - 1, 20), 30.0) if attempt > 0 else 0.0


class ResumableWatch:
    """Which call to make next, how far events were delivered, when to try again, and which errors are final.

    Its owner connects after `delay()` seconds, makes the call `request()` and hands every reply to `receive`. If anything
    fails, it hands the error to `fail`, closes the connection and begins again. `next` has the events to deliver.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = {**parameters, "heartbeatUSec": parameters["heartbeatUSec"] or _HEARTBEAT_USEC}
        #: Everything up to this revision was delivered; None before the first "synced".
        self.since: int | None = parameters["since"]
        self._is_opening = self.since is None
        self._has_begun = False
        self._attempts: int | None = None  # since the daemon was lost; None while it is there
        self._trims = 0  # since "synced" arrived last
        self._events: collections.deque[Event] = collections.deque()

    def request(self) -> Mapping[str, Any]:
        """The parameters of the call that begins or resumes the watch."""
        return {**self._parameters, "since": self.since}

    def delay(self) -> float:
        """The seconds to wait before the next attempt, which is counted.

        The first attempt after a loss comes at once, because a service manager keeps the socket while the daemon restarts.
        The pauses grow with each failure and with each `HistoryTrimmed`, until "synced" arrives.
        """
        delay = backoff(max(self._attempts or 0, self._trims - 1))
        if self._attempts is not None:
            self._attempts += 1
        return delay

    def receive(self, reply: Mapping[str, Any]) -> None:
        self._has_begun = True
        self._events.extend(read(lambda: [Event.from_wire(event) for event in reply["events"]]))

    def next(self) -> Event | None:
        """The next event to deliver; None if there is none."""
        if not self._events:
            return None
        event = self._events.popleft()
        if event.type == "synced":
            self._is_opening = False
            self._attempts = None
            self._trims = 0
        # Before "synced", changes may arrive earlier than countdowns with lower revisions.
        if event.revision is not None and not self._is_opening:
            self.since = max(self.since or 0, event.revision)
        return event

    def fail(self, error: CountdowndError) -> None:
        """Notes that the watch has ended. Raises the error if another attempt would fail in the same way."""
        if isinstance(error, HistoryTrimmed):
            self.since = None
            self._is_opening = True
            self._trims += 1
            self._events.append(Event("historyTrimmed", error=error))
        elif not self._is_temporary(error):
            raise error
        elif self._attempts is None:
            self._attempts = 0
            self._events.append(Event("disconnected", error=error))

    def _is_temporary(self, error: CountdowndError) -> bool:
        if isinstance(error, NoDaemon):
            return self._has_begun or error.errno not in (errno.EACCES, errno.EPERM)
        if isinstance(error, LimitReached):
            return not error.limit.startswith("pattern")
        return isinstance(error, Disconnected | StorageFailed | Unreachable)
