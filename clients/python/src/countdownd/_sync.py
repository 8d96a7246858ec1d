"""The client that blocks."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from . import _calls
from ._address import Addressed
from ._errors import CountdowndError, Disconnected, NoDaemon, StorageFailed, TimedOut
from ._resume import ResumableWatch, backoff
from ._types import Countdown, Duration, Event, IfRunning, Started, State
from ._wire import READ_SIZE, Framer, decode_reply, encode_call


class _Connection:
    """A connection for one call, because calls behind a call that waits would wait too."""

    def __init__(
        self, path: str, method: str, parameters: Mapping[str, Any], more: bool, timeout: float | None = None
    ) -> None:
        """Connects and makes the call."""
        call = encode_call(method, parameters, more)
        self._more = more
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        self._owner = os.getpid()
        self._messages: list[bytes] = []
        self._framer = Framer()
        try:
            self._connect(path, timeout)
            self._send(call)
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

    def _send(self, call: bytes) -> None:
        try:
            self._socket.sendall(call)
        except TimeoutError:
            raise TimedOut.after(self._socket.gettimeout()) from None
        except (BrokenPipeError, ConnectionResetError):
            pass  # If the daemon has closed the connection, it may have sent the reason before.

    def reply(self) -> tuple[Mapping[str, Any], bool]:
        while not self._messages:
            try:
                data = self._socket.recv(READ_SIZE)
            except TimeoutError:
                raise TimedOut.after(self._socket.gettimeout()) from None
            except OSError as error:
                raise Disconnected(f"the connection to the daemon failed: {error.strerror}") from error
            if not data:
                raise Disconnected("the daemon closed the connection")
            self._messages = [*self._framer.receive(data)][::-1]
        return decode_reply(self._messages.pop(), self._more)

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
    """A client of this user's daemon, or of the daemon with the socket at `path`. Every call has its own connection.

    Durations are a `timedelta` or a number of seconds. A call raises `NoDaemon` if there is none, `Disconnected` if the
    connection ends before the reply, `TimedOut` if the daemon is silent for the duration `timeout`, and a `CallError` if the
    daemon refuses it. `wait`, `watch`, and `start` with `if_running="wait"` wait without limit.
    """

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
    ) -> Started:
        """Starts a countdown, of 60 s by default. If one is running or paused under the key, `if_running` decides:
        "attach", the default, changes nothing. `up_to` is the most that may remain after "extend" or "wait"."""
        parameters = _calls.start(key, duration, until, if_running, label, metadata, forget, up_to)
        return _calls.started(self.call("Start", **parameters))

    def get(self, key: str) -> Countdown:
        """The countdown under a key, also after its end as long as the daemon keeps it."""
        return _calls.countdown(self.call("Get", key=key))

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
        parameters = _calls.list_(match, keys, states, soonest)
        return _calls.countdowns(self._replies("List", parameters, more=True))

    def cancel(self, key: str, *, if_revision: int | None = None) -> Countdown:
        """Ends a countdown before its deadline."""
        return _calls.countdown(self.call("Cancel", key=key, ifRevision=if_revision))

    def wait(self, key: str) -> Countdown:
        """Waits until the countdown ends. If the daemon goes away meanwhile, this waits until it is back."""
        attempt = 0
        while True:
            try:
                return _calls.countdown(self.call("Wait", key=key))
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
        return Watch(self.path, _calls.watch(match, keys, tick, since, heartbeat))

    def _replies(self, method: str, parameters: Mapping[str, Any], more: bool) -> Sequence[Mapping[str, Any]]:
        replies = []
        limit = self._limit(method, parameters)
        with contextlib.closing(_Connection(self.path, method, parameters, more, limit)) as connection:
            continues = True
            while continues:
                reply, continues = connection.reply()
                replies.append(reply)
        return replies


class Watch(Iterator[Event]):
    """The events of countdowns: first an "attached" for each that is running or paused, then "synced", then each change
    and tick.

    It never ends by itself. If the daemon goes away, there is one "disconnected"; the watch reconnects and resumes after the
    newest revision, so no end is missed and none is reported twice. "synced" then says that the daemon is back. If the
    daemon no longer has the history, there is a "historyTrimmed", and then the current state as in the beginning: ends may
    have been missed, and `list` has those that are kept.

    Iterating raises if the daemon refuses the watch, for example because a pattern is not valid. If the program does not ask
    for the next event, at most a few replies are buffered: the daemon leaves out ticks, and finally disconnects.
    """

    def __init__(self, path: str, parameters: Mapping[str, Any]) -> None:
        self._path = path
        self._state = ResumableWatch(parameters)
        self._connection: _Connection | None = None
        self._closed = threading.Event()

    @property
    def since(self) -> int | None:
        """Everything up to this revision was delivered. Another watch can begin with it."""
        return self._state.since

    def __next__(self) -> Event:
        while not self._closed.is_set():
            if event := self._state.next():
                return event
            try:
                self._receive()
            except CountdowndError as error:
                self._disconnect()
                if not self._closed.is_set():
                    self._state.fail(error)
        self._disconnect()
        raise StopIteration

    def close(self) -> None:
        """Ends the watch. Another thread that waits for an event gets StopIteration."""
        self._closed.set()
        if connection := self._connection:
            connection.shut_down()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._disconnect()

    def _receive(self) -> None:
        if self._connection and self._connection.is_inherited:
            self._disconnect()  # the events that arrive there belong to the parent process
        if self._connection is None:
            self._closed.wait(self._state.delay())
            self._connection = _Connection(self._path, "Watch", self._state.request(), more=True)
            if self._closed.is_set():
                return
        reply, continues = self._connection.reply()
        self._state.receive(reply)
        if not continues:
            raise Disconnected("the daemon ended the watch")

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None
