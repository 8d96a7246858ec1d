"""Following one countdown from its start to its end, as a state machine without I/O."""

from __future__ import annotations

import collections
import dataclasses
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from ._errors import (
    AlreadyRunning,
    CountdowndError,
    Disconnected,
    LimitReached,
    NoDaemon,
    NoSuchCountdown,
    StorageFailed,
    Unreachable,
)
from ._resume import backoff
from ._types import Countdown, Event, Started, Step, StepType

#: The name in the metadata with a token, by which a program recognizes its own start. countdownctl has the same.
TOKEN = "run"
_LIVE = ("running", "paused")
_ENDS = ("finished", "cancelled")
_USUAL_USEC = 60_000_000


class Following:
    """What to do next, and the steps to deliver. clients/conformance/follow.json has a row for each state and input.

    Its owner opens a watch of the key and hands over each event. If `must_start`, it waits for `delay()` seconds, makes the
    call `request`, and hands over its reply or error before the next event. If `refuse` returns True, it closes the connection
    of the watch, which then resumes. Once `is_over`, there are no steps but those that wait.
    """

    def __init__(
        self, key: str, start: Mapping[str, Any] | None, *, missing_ok: bool = False, token: str | None = None
    ) -> None:
        """Without the parameters of a start, it follows what runs."""
        self._key = key
        self._start = start
        self._missing_ok = missing_ok
        self._metadata: Mapping[str, str] = (start and start["metadata"]) or {}
        self._token = self._metadata.get(TOKEN) or token or secrets.token_hex(8)
        self.steps: collections.deque[Step] = collections.deque()
        self.must_start = False
        self.is_over = False
        self._run: Countdown | None = None  # the followed countdown, as last known
        self._revision = 0  # everything up to it is part of `_run`
        self._is_behind = False  # whether the watch has not reported `_run` yet
        self._reported: Event | None = None  # what the watch has said last, before there is a `_run`
        self._found: Countdown | None = None  # what ran before the first start
        self._starts = 0
        self._asked = 0.0  # when the last start was made
        self._lost: float | None = None  # when the first start was made that had no answer
        self._seen = 0  # the newest revision of the watch
        self._has_begun = False
        self._is_fresh = True  # whether the watch tells the current state, and not what was missed
        self._is_synced = False
        self._is_trimmed = False
        self._is_away = False

    def delay(self) -> float:
        """The seconds to wait before the start."""
        return backoff(self._starts - 1)

    def request(self, now: float) -> Mapping[str, Any]:
        """The parameters of the start, which is made now, in seconds since 1970."""
        assert self._start is not None
        self._starts += 1
        self._asked = now
        # These two replace the metadata of the countdown.
        is_kept = self._start["ifRunning"] in ("extend", "later") and self._start["metadata"] is None and self._found
        metadata = {**(self._found.metadata if is_kept and self._found else self._metadata), TOKEN: self._token}
        return {**self._start, "metadata": metadata}

    def answer(self, reply: Started) -> None:
        """Takes the reply to the start."""
        self._begin(reply.countdown, is_extended=reply.outcome == "extended")

    def refuse(self, error: CountdowndError, now: float) -> bool:
        """Takes the error of the start; whether the watch has to say what runs now. Raises the error if it is final."""
        assert self._start is not None
        if isinstance(error, AlreadyRunning) and self._is_own(error.countdown):
            self._begin(error.countdown)
            return False
        self.must_start = False
        is_crowded = isinstance(error, LimitReached) and error.limit == "connections"
        if not is_crowded and not isinstance(error, Disconnected | StorageFailed | Unreachable):
            self.is_over = True
            raise error
        may_be_made = isinstance(error, Disconnected | Unreachable) and not isinstance(error, NoDaemon)
        if may_be_made and self._lost is None:
            # A call that queues is carried out at the last moment, if at all.
            self._lost = now if self._start["ifRunning"] == "wait" else self._asked
        return True

    def receive(self, event: Event, now: float, listed: Countdown | None = None) -> None:
        """Takes an event of the watch; with "synced", also the countdown if the watch had to list it."""
        match event.type:
            case "disconnected":
                self._lose(event)
            case "historyTrimmed":
                self._is_trimmed = True
                self._revision = 0
                self._begin_afresh()
            case "forgotten":
                self._reported = None
                if self._run:
                    self._end("gone")
            case "synced":
                self._is_synced, self._is_fresh, self._seen = True, False, max(self._seen, event.revision or 0)
                self._return(listed) if self._run else self._resolve(listed, now)
            case "tick":
                if self._run and event.remaining and self._is_synced and not self._is_behind:
                    self._step("tick", event.remaining)
            case _:
                self._seen = max(self._seen, event.revision or 0)
                if event.countdown and self._run:
                    self._change(event, event.countdown)
                    self._is_behind = self._is_behind and event.countdown.revision < self._revision
                elif event.countdown and not self._is_own_end(self._reported):
                    self._reported = event
        self._has_begun = True

    def _lose(self, event: Event) -> None:
        if isinstance(event.error, NoDaemon) and not self._has_begun:
            self.is_over = True
            raise event.error
        self._is_synced = False
        if self._is_fresh:
            self._begin_afresh()
        if not self._is_away:
            self._is_away = True
            remaining = self._run.remaining if self._run else timedelta(0)
            self.steps.append(Step("away", remaining, self._run, error=event.error))

    def _begin_afresh(self) -> None:
        self._is_fresh = self._is_behind = True
        self._is_synced = False
        self._reported = None

    def _resolve(self, listed: Countdown | None, now: float) -> None:
        """The watch has said what runs: follows it, or starts."""
        reported = self._reported or (listed and Event("attached", countdown=listed))
        countdown = reported and reported.countdown
        is_own = self._starts > 0 and self._is_own(countdown)
        may_attach = self._start is None or self._start["ifRunning"] in (None, "attach")
        if countdown and countdown.state in _LIVE:
            if is_own or may_attach:
                return self._begin(countdown)
            if self._starts == 0:
                self._found = countdown
        elif reported and (is_own or may_attach and self._lost is not None):
            return self._end(cast(StepType, reported.type), reported)
        self._reported = None
        if self._start is None:
            self.is_over = True
            if not self._missing_ok:
                raise NoSuchCountdown("io.countdownd.NoSuchCountdown", {"key": self._key})
        elif self._may_have_ended(now):
            self._end("gone")
        else:
            self.must_start = True

    def _may_have_ended(self, now: float) -> bool:
        """Whether a start whose answer was lost may have been made, and ended since then so that the watch cannot know it."""
        if self._start is None or self._lost is None or not (self._start["forget"] or self._is_trimmed):
            return False
        if deadline := self._start["deadlineUSec"]:
            return bool(now * 1_000_000 >= deadline)
        return bool((now - self._lost) * 1_000_000 >= (self._start["durationUSec"] or _USUAL_USEC))

    def _is_own(self, countdown: Countdown | None) -> bool:
        return countdown is not None and countdown.metadata.get(TOKEN) == self._token

    def _is_own_end(self, event: Event | None) -> bool:
        return event is not None and event.type in _ENDS and self._is_own(event.countdown)

    def _begin(self, countdown: Countdown, is_extended: bool = False) -> None:
        is_found = is_extended or (self._found is not None and self._found.started == countdown.started)
        self._know(countdown)
        self.must_start = self._is_away = self._is_trimmed = False
        is_started = self._starts > 0 and self._is_own(countdown) and not is_found
        self._step("started" if is_started else "attached", countdown.remaining)

    def _know(self, countdown: Countdown) -> None:
        self._run = countdown
        self._revision = countdown.revision
        self._is_behind = self._seen < self._revision

    def _change(self, event: Event, countdown: Countdown) -> None:
        assert self._run
        if countdown.revision < self._revision or event.revision == self._revision:
            return  # it is known from the reply, or from the list
        is_other = countdown.started != self._run.started
        # A run that keeps its end, and has none, was restarted.
        if is_other and event.type != "restarted" and (self._run.forget or self._is_trimmed):
            return self._end("gone")
        if event.type in _ENDS:
            return self._end(cast(StepType, event.type), event)
        self._know(countdown)
        if self._is_synced:
            type = "restarted" if is_other else event.type
            self._step(cast(StepType, type), countdown.remaining)

    def _return(self, listed: Countdown | None) -> None:
        """The daemon is back, and the watch has said what happened meanwhile."""
        assert self._run
        self._is_synced = False
        if listed:
            self._change(Event("attached", countdown=listed), listed)
        elif self._is_behind:
            self._end("gone")
        self._is_synced, self._is_trimmed = True, False
        if self._is_away and not self.is_over:
            self._is_away = False
            self._step("attached", self._run.remaining)

    def _step(self, type: StepType, remaining: timedelta) -> None:
        assert self._run
        self._run = dataclasses.replace(self._run, remaining=remaining)
        self.steps.append(Step(type, self._run.remaining, self._run))

    def _end(self, type: StepType, event: Event | None = None) -> None:
        self.is_over = True
        countdown = event.countdown if event else self._run
        self.steps.append(Step(type, countdown.remaining if countdown else timedelta(0), countdown, late=event and event.late))
