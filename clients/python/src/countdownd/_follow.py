"""Following one countdown from its start to its end, without I/O."""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable, Generator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, cast

from ._errors import (
    AlreadyRunning, CountdowndError, Disconnected, LimitReached, NoDaemon, NoSuchCountdown, StorageFailed, Unreachable,
)
from ._resume import backoff
from ._types import Countdown, Event, Started, Step, StepType

#: The name in the metadata of a token, by which a program recognizes its own start. countdownctl has the same.
TOKEN = "run"
_LIVE = ("running", "paused")
ENDS = ("finished", "cancelled", "gone")


class Call(NamedTuple):
    """A Start to make, after a pause in seconds."""

    pause: float
    parameters: Mapping[str, Any]


#: What comes next: a step to deliver, a Start to make, an error for which the watch has to resume, or None: to read the watch.
Act: TypeAlias = Step | Call | CountdowndError | None


class Following:
    """What to do from the start to the end. clients/conformance/follow.json has a row for each state and input.

    Its owner has a watch of the key, and carries out `acts`. To None it sends the next event and, with "synced", the countdown
    if the watch had to list it. To a call it sends the reply or the error.
    """

    def __init__(
        self, key: str, start: Mapping[str, Any] | None, missing_ok: bool, token: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        """Without the parameters of a start, it follows what runs."""
        self.key = key
        self._start, self._missing_ok, self._clock = start, missing_ok, clock
        self._metadata: Mapping[str, str] | None = start and start["metadata"]
        self._token = (self._metadata or {}).get(TOKEN) or token or secrets.token_hex(8)
        self._mode = start and start["ifRunning"] or "attach"
        self._reported: Event | None = None  # what the watch has said about the countdown
        self._found: Countdown | None = None  # what ran before the first start
        self._lost: float | None = None  # when the first start was made that had no answer
        self._run: Countdown | None = None  # the followed countdown, as last known
        self._revision = self._seen = 0  # everything up to these is part of `_run`, and was sent by the watch
        self._is_behind = False  # whether the watch has not reported `_run` yet
        self._has_begun = self._is_synced = self._is_trimmed = self._is_away = False

    def acts(self) -> Generator[Act, Any, None]:
        """Finds or starts the countdown, and reports what happens to it."""
        starts = 0
        while True:
            event, listed = yield None
            step = self._note(event)
            if self._run:
                step = step or self._take(event, listed)
            else:
                self._report(event, listed)
            if event.type == "synced" and not self._run and not (step := self._resolve(starts > 0)):
                if self._start is None:
                    return
                made = self._clock()
                answer = yield self._call(self._start, starts)
                starts += 1
                if not (step := self._answer(answer, made)):
                    yield answer
            if step:
                yield step
                if step.type in ENDS:
                    return

    def _report(self, event: Event, listed: Countdown | None) -> None:
        """Keeps what the watch says before a countdown is followed. An end of the own one stays, whatever comes after it."""
        reported = self._reported
        if event.type == "forgotten":
            self._reported = None
        elif event.countdown and not (reported and reported.type in ENDS and self._is_own(reported.countdown)):
            self._reported = event
        elif listed and not reported:
            self._reported = Event("attached", countdown=listed)

    def _resolve(self, is_made: bool) -> Step | None:
        """The first step, if the watch has said enough; None if a start is to be made, or if there is none."""
        reported, self._reported = self._reported, None
        countdown = reported.countdown if reported else None
        is_ours = self._mode == "attach" or is_made and self._is_own(countdown)
        if countdown and countdown.state in _LIVE:
            if is_ours:
                return self._begin(countdown, is_made)
            self._found = self._found if is_made else countdown
        elif reported and is_ours and self._lost is not None:
            return self._end(reported.type, reported)
        if self._start is None and not self._missing_ok:
            raise NoSuchCountdown("io.countdownd.NoSuchCountdown", {"key": self.key})
        return self._end("gone") if self._may_have_ended() else None

    def _call(self, start: Mapping[str, Any], starts: int) -> Call:
        metadata = self._metadata or {}
        if self._mode in ("extend", "later") and self._metadata is None and self._found:
            metadata = self._found.metadata  # these two replace it
        return Call(backoff(starts - 1), {**start, "metadata": {**metadata, TOKEN: self._token}})

    def _answer(self, answer: Started | CountdowndError, made: float) -> Step | None:
        """The first step; None if the watch has to say what runs. Raises an error that is final."""
        if isinstance(answer, Started):
            return self._begin(answer.countdown, answer.outcome != "extended")
        if isinstance(answer, AlreadyRunning) and self._is_own(answer.countdown):
            return self._begin(answer.countdown, True)
        if not isinstance(answer, Disconnected | StorageFailed | Unreachable):
            if not isinstance(answer, LimitReached) or not answer.limit.startswith("connections"):  # or connectionsPerUser
                raise answer
        elif self._lost is None and not isinstance(answer, NoDaemon | StorageFailed):
            # A call that queues is carried out at the last moment, if at all.
            self._lost = self._clock() if self._mode == "wait" else made
        return None

    def _may_have_ended(self) -> bool:
        """Whether a start without an answer may have been made, and its countdown have ended so that the watch cannot know it."""
        if not self._start or self._lost is None or not (self._start["forget"] or self._is_trimmed):
            return False
        if deadline := self._start["deadlineUSec"]:
            return bool(self._clock() * 1_000_000 >= deadline)
        return bool((self._clock() - self._lost) * 1_000_000 >= (self._start["durationUSec"] or 60_000_000))

    def _is_own(self, countdown: Countdown | None) -> bool:
        return countdown is not None and countdown.metadata.get(TOKEN) == self._token

    def _note(self, event: Event) -> Step | None:
        """Notes how far the watch is; the step if the daemon has gone away."""
        if isinstance(event.error, NoDaemon) and not self._has_begun:
            raise event.error
        self._has_begun = True
        self._seen = max(self._seen, event.revision or 0)
        if event.type == "synced":
            self._is_synced = True
        elif event.type == "historyTrimmed":
            self._is_trimmed = self._is_behind = True
            self._revision = 0
        if event.type not in ("disconnected", "historyTrimmed"):
            return None
        self._is_synced = False
        if self._reported and self._reported.type not in ENDS:
            self._reported = None  # the next watch says it again
        was_away, self._is_away = self._is_away, self._is_away or event.type == "disconnected"
        return self._end("away", event) if self._is_away and not was_away else None

    def _take(self, event: Event, listed: Countdown | None) -> Step | None:
        """The step of an event, once a countdown is followed."""
        if event.type == "synced":
            return self._back(listed)
        if event.type == "forgotten":
            return self._end("gone")
        if event.type == "tick" and event.remaining and self._is_synced and not self._is_behind:
            return self._step("tick", event.remaining)
        if not event.countdown:
            return None
        step = self._change(event, event.countdown)
        self._is_behind = self._is_behind and event.countdown.revision < self._revision
        return step

    def _back(self, listed: Countdown | None) -> Step | None:
        """The watch is synced: the state that it has found, if the daemon was away."""
        step = self._end("gone") if self._is_behind and not listed else None
        if listed:
            step = self._change(Event("attached", countdown=listed), listed)
        was_away, self._is_away, self._is_trimmed = self._is_away, False, False
        return self._step("attached") if was_away and not (step and step.type in ENDS) else step

    def _change(self, event: Event, countdown: Countdown) -> Step | None:
        if countdown.revision < self._revision or event.revision == self._revision:
            return None  # it was part of a reply or a list
        is_other = self._run is not None and countdown.started != self._run.started
        # A run that keeps its end, and has none, was restarted.
        if is_other and event.type != "restarted" and (self._is_trimmed or self._run and self._run.forget):
            return self._end("gone")
        if event.type in ENDS:
            return self._end(event.type, event)
        self._know(countdown)
        return self._step("restarted" if is_other else event.type) if self._is_synced else None

    def _begin(self, countdown: Countdown, is_made: bool) -> Step:
        is_found = self._found is not None and self._found.started == countdown.started
        self._know(countdown)
        self._is_trimmed = self._is_away = False
        return self._step("started" if is_made and not is_found and self._is_own(countdown) else "attached")

    def _know(self, countdown: Countdown) -> None:
        self._run, self._revision = countdown, countdown.revision
        self._is_behind = self._seen < self._revision

    def _step(self, type: str, remaining: timedelta | None = None) -> Step:
        assert self._run
        self._run = dataclasses.replace(self._run, remaining=self._run.remaining if remaining is None else remaining)
        return Step(cast(StepType, type), self._run.remaining, self._run)

    def _end(self, type: str, event: Event | None = None) -> Step:
        event = event or Event("forgotten")
        countdown = event.countdown or self._run
        remaining = countdown.remaining if countdown and type != "gone" else timedelta(0)
        return Step(cast(StepType, type), remaining, countdown, event.late, event.error)
