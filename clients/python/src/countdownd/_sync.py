"""The client that blocks."""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar, overload

from . import _calls
from ._address import Addressed
from ._errors import CallError, CountdowndError, Disconnected, NoDaemon, NoSuchCountdown, StorageFailed, TimedOut, naming
from ._follow import Call, Following
from ._resume import ResumableWatch, backoff
from ._types import (
    Cooldown,
    Countdown,
    Duration,
    Event,
    IfRunning,
    Started,
    StartedAll,
    State,
    Status,
    Step,
)
from ._wire import READ_SIZE, Framer, Socket, decode_reply, encode_call

_Value = TypeVar("_Value")


class _Connection:
    """A connection for one call at a time."""

    def __init__(self, path: str, timeout: float | None) -> None:
        self.path = path
        self._socket = Socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        self._owner = os.getpid()
        self._messages: list[bytes] = []
        self._framer = Framer()
        try:
            self._connect(path, timeout)
        except BaseException:
            self.close()
            raise

    def _connect(self, path: str, timeout: float | None) -> None:
        end = time.monotonic() + (timeout or 0)
        for attempt in itertools.count(1):
            try:
                return self._socket.connect(path)
            except OSError as error:
                # The daemon's queue of new connections is full. Without a timeout, the system waits.
                if not isinstance(error, BlockingIOError) or time.monotonic() + backoff(attempt) > end:
                    raise NoDaemon(f"no daemon at {path}: {error.strerror}", error.errno) from error
            time.sleep(backoff(attempt))

    def send(self, call: bytes) -> None:
        try:
            self._socket.sendall(call)
        except TimeoutError:
            raise TimedOut.after(self._socket.gettimeout()) from None
        except (BrokenPipeError, ConnectionResetError):
            pass  # If the daemon has closed the connection, it may have sent the reason before.

    def reply(self, more: bool) -> tuple[Mapping[str, Any], bool]:
        """The parameters of the next reply, and whether others follow."""
        while not self._messages:
            try:
                data = self._socket.recv(READ_SIZE)
            except TimeoutError:
                if self.has_input:  # it came while other threads, or greenlets, kept the processor busy
                    continue
                raise TimedOut.after(self._socket.gettimeout()) from None
            except OSError as error:
                raise Disconnected(f"the connection to the daemon failed: {error.strerror}") from error
            if not data:
                raise Disconnected("the daemon closed the connection")
            self._messages = [*self._framer.receive(data)][::-1]
        return decode_reply(self._messages.pop(), more)

    def answer(self) -> Mapping[str, Any] | CallError:
        try:
            return self.reply(more=False)[0]
        except CallError as error:
            return error

    def limit(self, timeout: float | None) -> None:
        """Sets how long each step of the next call may take."""
        if self._socket.gettimeout() != timeout:
            self._socket.settimeout(timeout)

    @property
    def has_input(self) -> bool:
        """Whether a reply, or the end of the connection, has arrived."""
        if self._messages:
            return True
        # Not select.poll, which eventlet takes away.
        timeout = self._socket.gettimeout()
        try:
            self._socket.settimeout(0)
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self._socket.settimeout(timeout)
        return True

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked from the one that made the connection."""
        return self._owner != os.getpid()

    def shut_down(self) -> None:
        """Ends a `reply` that waits in another thread."""
        if not self.is_inherited:  # it would end the connection of the parent process too
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()


class Client(Addressed):
    """A client of this user's daemon, or of the daemon with the socket at `path`.

    Threads may share it. It keeps its connections for later calls, so it has as many as there were calls at once. A child
    process makes its own. `close`, or leaving a `with`, closes those that are idle; the client can still be used.

    Durations are a `timedelta` or a number of seconds. A call raises `NoDaemon` if there is none, `Disconnected` if the
    connection ends before the reply, `TimedOut` if the daemon is silent for the duration `timeout`, and a `CallError` if the
    daemon refuses it. `wait`, `watch`, and `start` with `if_running="wait"` wait without limit.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, timeout: Duration | None = 5) -> None:
        super().__init__(path, timeout=timeout)
        self._idle: collections.deque[_Connection] = collections.deque()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are not in use."""
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def call(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        """Makes any call of io.countdownd, with names and values as on the wire. Parameters that are None are left
        out."""
        return self._replies(method, parameters, more=False)[0]

    def start(
        self,
        key: str,
        duration: Duration | None = None,
        *,
        until: datetime | None = None,
        if_running: IfRunning | None = None,
        label: str | None = None,
        metadata: Mapping[str, str] | None = None,
        forget: bool | None = None,
        up_to: Duration | None = None,
        rate: str | None = None,
        max_duration: Duration | None = None,
        queue_up_to: int | None = None,
    ) -> Started:
        """Starts a countdown, of 60 s by default. If one is running or paused under the key, `if_running` decides:

        - "attach", the default: nothing changes.
        - "restart": it begins again with the arguments of this call.
        - "extend": the duration is added to the remaining time; with `up_to`, at most that much remains, or `AlreadyRunning`
          is raised: `up_to` / `duration` calls succeed at once, then one per `duration`.
        - "fail": `AlreadyRunning` is raised.
        - "wait": the call waits for its turn, then it starts the countdown; with `up_to`, as soon as there is room. If
          `queue_up_to` calls wait already, `AlreadyRunning` is raised.
        - "later": the later deadline wins: if more time was asked for than remains, that remains, and the outcome is
          "extended". With `max_duration`, the countdown runs no longer than that: a debounce that cannot starve.

        `rate="5/1h"` accepts five calls at once, then one per 12 minutes: a token bucket (GCRA). It sets `duration` and
        `up_to`; `if_running` is "extend", which is then the default, or "wait". With `forget` the end is not kept.
        """
        parameters = _calls.start(
            key, duration, until, if_running, label, metadata, forget, up_to, rate, max_duration, queue_up_to
        )
        return self._ask(_calls.started, "Start", parameters)

    def start_all(self, cooldowns: Iterable[Cooldown], *, dry_run: bool = False) -> StartedAll:
        """Starts or extends the countdowns of all cooldowns, or of none: at most 16, each key once. A refusal is a reply, with
        `accepted` false. With `dry_run`, nothing changes: it says whether the call would be accepted, and how many are left."""
        return self._ask(_calls.started_all, "StartAll", _calls.start_all(cooldowns, dry_run))

    def get(self, key: str) -> Countdown:
        """The countdown under a key, also after its end as long as the daemon keeps it."""
        return self._ask(_calls.countdown, "Get", {"key": key})

    def list(
        self,
        *,
        match: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        states: Iterable[State] | None = None,
        soonest: int | None = None,
    ) -> list[Countdown]:
        """The countdowns whose key is in `keys` or matches a glob pattern in `match`, by default those that are running
        or paused. With `soonest`, at most that many, in the order of their deadlines."""
        return self._ask_all(_calls.countdowns, "List", _calls.list_(match, keys, states, soonest))

    def cancel(self, key: str, *, if_revision: int | None = None) -> Countdown:
        """Ends a countdown before its deadline."""
        return self._ask(_calls.countdown, "Cancel", {"key": key, "ifRevision": if_revision})

    def finish(self, key: str, *, if_revision: int | None = None) -> Countdown:
        """Ends a countdown as if its deadline had come."""
        return self._ask(_calls.countdown, "Finish", {"key": key, "ifRevision": if_revision})

    def pause(self, key: str, *, if_revision: int | None = None) -> Countdown:
        """Freezes the remaining time."""
        return self._ask(_calls.countdown, "Pause", {"key": key, "ifRevision": if_revision})

    def resume(self, key: str, *, if_revision: int | None = None) -> Countdown:
        """Lets a paused countdown run for the remaining time."""
        return self._ask(_calls.countdown, "Resume", {"key": key, "ifRevision": if_revision})

    def adjust(
        self,
        key: str,
        by: Duration | None = None,
        *,
        until: datetime | None = None,
        if_revision: int | None = None,
    ) -> Countdown:
        """Adds a duration, which may be negative, to the remaining time, or sets the deadline. If nothing remains, the
        countdown finishes."""
        return self._ask(_calls.countdown, "Adjust", _calls.adjust(key, by, until, if_revision))

    def status(self) -> Status:
        """The daemon's version, counters and limits."""
        return self._ask(_calls.status, "GetStatus", {})

    @overload
    def wait(self, key: str, *, missing_ok: Literal[False] = False) -> Countdown: ...

    @overload
    def wait(self, key: str, *, missing_ok: bool) -> Countdown | None: ...

    def wait(self, key: str, *, missing_ok: bool = False) -> Countdown | None:
        """Waits until the countdown ends. If the daemon goes away meanwhile, this waits until it is back. If there is no
        countdown, or its end is not kept, this returns None at once with `missing_ok`, and raises `NoSuchCountdown` without."""
        attempt = 0
        while True:
            try:
                return _calls.countdown(self.call("Wait", key=key))
            except NoSuchCountdown:
                if not missing_ok:
                    raise
                return None
            except (Disconnected, StorageFailed) as error:
                if isinstance(error, NoDaemon | StorageFailed) and attempt == 0:
                    raise
            time.sleep(backoff(attempt))
            attempt += 1

    def watch(
        self,
        *,
        match: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        tick: Duration | None = None,
        since: int | None = None,
        heartbeat: Duration | None = None,
    ) -> Watch:
        """The events of the countdowns whose key is in `keys` or matches a pattern in `match`, or of all. See `Watch`.

        `tick` is the interval of ticks, 1 s by default; 0 turns them off.
        """
        return Watch(self.path, _calls.watch(match, keys, tick, since, heartbeat), self._timeout)

    def follow(
        self,
        key: str,
        duration: Duration | None = None,
        *,
        until: datetime | None = None,
        if_running: IfRunning | None = None,
        label: str | None = None,
        metadata: Mapping[str, str] | None = None,
        forget: bool | None = None,
        up_to: Duration | None = None,
        rate: str | None = None,
        max_duration: Duration | None = None,
        queue_up_to: int | None = None,
        tick: Duration | None = None,
        missing_ok: bool = False,
    ) -> Generator[Step, None, None]:
        """Starts a countdown, or finds it, and reports it to its end: first a "started" or "attached", then a "tick" per `tick`
        (1 s by default, 0 for none) and each change, and last a "finished", "cancelled" or "gone". See `Step`.

        The other arguments are those of `start`. Without a length it only finds: if the key is neither running nor paused,
        there is no step with `missing_ok`, and `NoSuchCountdown` is raised without.

        If the daemon goes away there is one "away", and an "attached" when it is back: no end is missed or comes twice, and
        the countdown is not started again. If there is no daemon in the beginning, `NoDaemon` is raised. Leaving the loop
        closes the watch; the countdown stays. To know its own start after a lost reply, this gives it a token in `metadata`.
        """
        parameters = _calls.follow(
            key, duration, until, if_running, label, metadata, forget, up_to, rate, max_duration, queue_up_to
        )
        return self._steps(Following(key, parameters, missing_ok), tick)

    def _steps(self, following: Following, tick: Duration | None) -> Generator[Step, None, None]:
        acts = following.acts()
        result: Any = None
        with self.watch(keys=[following.key], tick=tick) as watch, contextlib.suppress(StopIteration):
            while True:
                act, result = acts.send(result), None
                if isinstance(act, Step):
                    yield act
                elif isinstance(act, Call):
                    time.sleep(act.pause)
                    try:
                        result = self._ask(_calls.started, "Start", act.parameters)
                    except CountdowndError as error:
                        result = error
                elif act:
                    watch._resume(act)
                else:
                    result = next(watch), watch._state.listed.get(following.key)

    def _ask(self, read: Callable[[Mapping[str, Any]], _Value], method: str, parameters: Mapping[str, Any]) -> _Value:
        return read(self.call(method, **parameters))

    def _ask_all(
        self, read: Callable[[Iterable[Mapping[str, Any]]], _Value], method: str, parameters: Mapping[str, Any]
    ) -> _Value:
        return read(self._replies(method, parameters, more=True))

    def _replies(self, method: str, parameters: Mapping[str, Any], more: bool) -> Sequence[Mapping[str, Any]]:
        call = encode_call(method, parameters, more)
        with naming(parameters):
            connection = self._connection(self._limit(method, parameters))
            try:
                connection.send(call)
                replies = _all_replies(connection, more)
            except CallError:
                self._idle.append(connection)
                raise
            except BaseException:
                connection.close()
                raise
        self._idle.append(connection)
        return replies

    def _together(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Sequence[Mapping[str, Any] | CallError]:
        """Makes all calls at once, and returns their replies, or the errors that the daemon refuses them with."""
        message = b"".join(encode_call(method, parameters, more=False) for method, parameters in calls)
        connection = self._connection(self._timeout)
        try:
            connection.send(message)
            answers = [connection.answer() for _ in calls]
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answers

    def _connection(self, limit: float | None) -> _Connection:
        """One that is idle, the last used first, or a new one."""
        with contextlib.suppress(IndexError):
            while True:
                idle = self._idle.pop()
                if not idle.is_inherited and not idle.has_input and idle.path == self.path:
                    idle.limit(limit)
                    return idle
                idle.close()
        return _Connection(self.path, limit)


def _all_replies(connection: _Connection, more: bool) -> list[Mapping[str, Any]]:
    replies = []
    continues = True
    while continues:
        reply, continues = connection.reply(more)
        replies.append(reply)
    return replies


class Watch(Iterator[Event]):
    """The events of countdowns: first an "attached" for each that is running or paused, then "synced", then each change
    and tick.

    It never ends by itself. If the daemon goes away, there is one "disconnected"; the watch reconnects and resumes after the
    newest revision, so no end is missed and none is reported twice. "synced" then says that the daemon is back; before it, there
    is a "forgotten" for each countdown that was reported before and ended meanwhile without its end being kept. If the daemon
    no longer has the history, there is a "historyTrimmed", and then the current state as in the beginning: ends may have been
    missed, and `list` has those that are kept.

    Iterating raises if the daemon refuses the watch, for example because a pattern is not valid. If the program does not ask
    for the next event, at most a few replies are buffered: the daemon leaves out ticks, and finally disconnects.
    """

    def __init__(self, path: str, parameters: Mapping[str, Any], timeout: float | None) -> None:
        self._path = path
        self._timeout = timeout
        self._state = ResumableWatch(parameters)
        self._connection: _Connection | None = None
        self._closed = threading.Event()

    @property
    def since(self) -> int | None:
        """Everything up to this revision was delivered. Another watch can begin with it."""
        return self._state.since

    def __next__(self) -> Event:
        while not self._closed.is_set():
            try:
                if self._state.must_list:
                    self._list()
                if event := self._state.next():
                    return event
                self._receive()
            except CountdowndError as error:
                if not self._closed.is_set():
                    self._resume(error)
        self._disconnect()
        raise StopIteration

    def close(self) -> None:
        """Ends the watch. Another thread that waits for an event gets StopIteration."""
        self._closed.set()
        if connection := self._connection:
            connection.shut_down()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._disconnect()

    def _receive(self) -> None:
        if self._connection and self._connection.is_inherited:
            self._disconnect()  # the events that arrive there belong to the parent process
        if self._connection is None:
            self._closed.wait(self._state.delay())
            call = encode_call("Watch", self._state.request(), more=True)
            self._connection = _Connection(self._path, None)
            if self._closed.is_set():
                return
            self._connection.send(call)
        self._take_reply(self._connection)

    def _take_reply(self, connection: _Connection) -> None:
        reply, continues = connection.reply(more=True)
        self._state.receive(reply)
        if not continues:
            raise Disconnected("the daemon ended the watch")

    def _list(self) -> None:
        """Finds out which countdowns were forgotten while the watch was away."""
        with contextlib.closing(_Connection(self._path, self._timeout)) as connection:
            connection.send(encode_call("List", self._state.list_request(), more=True))
            listed = _calls.countdowns(_all_replies(connection, more=True))
        while self._connection and self._connection.has_input:
            self._take_reply(self._connection)
        self._state.confirm(listed)

    def _resume(self, error: CountdowndError) -> None:
        """Begins again, as if the connection had failed in this way."""
        self._disconnect()
        self._state.fail(error)

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None
