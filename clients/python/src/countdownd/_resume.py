"""A watch that outlives its connections, as a state machine without I/O."""

from __future__ import annotations

import collections
import errno
from collections.abc import Iterable, Mapping
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
from ._types import Countdown, Event

_HEARTBEAT_USEC = 3_600_000_000


def backoff(attempt: int) -> float:
    """The seconds to wait before an attempt: none before attempt 0, then 100 ms, doubled each time up to 30 s."""
    return min(0.1 * 2 ** min(attempt - 1, 20), 30.0) if attempt > 0 else 0.0


class ResumableWatch:
    """Which call to make next, how far events were delivered, when to try again, and which errors are final.

    Its owner connects after `delay()` seconds, makes the call `request()` and hands every reply to `receive`. If anything
    fails, it hands the error to `fail`, closes the connection and begins again. `next` has the events to deliver. If
    `must_list`, its owner lists the countdowns on another connection before that, hands over the replies that came until then,
    and calls `confirm`: every countdown that was reported as running or paused gets an end, or is reported as forgotten.
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
        self._live: set[str] = set()  # reported as running or paused
        self._unconfirmed: set[str] = set()  # of these, not reported again since the connection was lost
        #: What was listed since the connection was lost, by its keys.
        self.listed: Mapping[str, Countdown] = {}

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

    def list_request(self) -> Mapping[str, Any]:
        """The parameters of the call that lists what is watched."""
        return {"match": self._parameters["match"], "keys": self._parameters["keys"]}

    def receive(self, reply: Mapping[str, Any]) -> None:
        self._has_begun = True
        self._events += read(lambda: [Event.from_wire(event) for event in reply["events"]])

    @property
    def must_list(self) -> bool:
        """Whether the owner has to list the countdowns before the next event, which is "synced"."""
        return bool(self._unconfirmed and self._events) and self._events[0].type == "synced" and not self._is_opening

    def confirm(self, listed: Iterable[Countdown]) -> None:
        """Reports the countdowns as forgotten that are not listed, and that no event has named since the connection."""
        self.listed = {one.key: one for one in listed}
        self._unconfirmed = self._unconfirmed.difference(self.listed, {event.key for event in self._events})
        self._forget()

    def _forget(self) -> None:
        forgotten = sorted(self._unconfirmed, key=str.encode)
        self._events.extendleft(Event("forgotten", key=key) for key in reversed(forgotten))
        self._unconfirmed = set()

    def next(self) -> Event | None:
        """The next event to deliver; None if there is none."""
        if self._is_opening and self._events and self._events[0].type == "synced":
            self._forget()  # every countdown was reported
        if not self._events:
            return None
        event = self._events.popleft()
        if event.key is not None:
            self._unconfirmed.discard(event.key)
            if event.countdown or event.type == "forgotten":
                is_live = event.countdown and event.countdown.state in ("running", "paused")
                (self._live.add if is_live else self._live.discard)(event.key)
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
        self._unconfirmed = set(self._live)
        self.listed = {}
        self._events.clear()  # the next connection reports them again
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
