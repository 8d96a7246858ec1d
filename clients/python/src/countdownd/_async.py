"""The client for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import socket
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
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

    def __init__(self, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], more: bool, timeout: float | None) -> None:
        self._reader, self._writer = streams
        self._more = more
        self._timeout = timeout
        self._owner = os.getpid()
        self._messages: list[bytes] = []
        self._framer = Framer()

    @classmethod
    async def open(
        cls, path: str, method: str, parameters: Mapping[str, Any], more: bool, timeout: float | None = None
    ) -> _Connection:
        """Connects and makes the call."""
        call = encode_call(method, parameters, more)
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        attempt = 1
        while True:
            connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                # A Unix socket connects at once. asyncio would take a full queue for a connection.
                connected.connect(path)
                streams = await asyncio.open_unix_connection(sock=connected, limit=READ_SIZE)
                streams[1].write(call)
                return cls(streams, more, timeout)
            except OSError as error:
                connected.close()
                # The daemon's queue of new connections is full.
                if not isinstance(error, BlockingIOError) or time.monotonic() + backoff(attempt) > end:
                    raise NoDaemon(f"no daemon at {path}: {error.strerror}", error.errno) from error
            except BaseException:
                connected.close()
                raise
            await asyncio.sleep(backoff(attempt))
            attempt += 1

    async def reply(self) -> tuple[Mapping[str, Any], bool]:
        while not self._messages:
            try:
                data = await self._read()
            except TimedOut:
                raise
            except OSError as error:
                raise Disconnected(f"the connection to the daemon failed: {error.strerror}") from error
            if not data:
                raise Disconnected("the daemon closed the connection")
            self._messages = [*self._framer.receive(data)][::-1]
        return decode_reply(self._messages.pop(), self._more)

    async def _read(self) -> bytes:
        if self._timeout is None:
            return await self._reader.read(READ_SIZE)
        # Not wait_for, which may give up though the reply came while the program kept the event loop busy.
        reading = asyncio.ensure_future(self._reader.read(READ_SIZE))
        try:
            if not (await asyncio.wait([reading], timeout=self._timeout))[0]:
                raise TimedOut.after(self._timeout)
            return await reading
        finally:
            reading.cancel()

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked from the one that made the connection."""
        return self._owner != os.getpid()

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed
            self._writer.transport.abort()


class AsyncClient(Addressed):
    """A client of this user's daemon, or of the daemon with the socket at `path`. Every call has its own connection.

    Durations are a `timedelta` or a number of seconds. A call raises the errors that a call of `Client` raises. A call that
    is cancelled may have been made.
    """

    async def call(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        """Makes any call of io.countdownd, with names and values as on the wire. Parameters that are None are left
        out."""
        return (await self._replies(method, parameters, more=False))[0]

    async def start(
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
        return _calls.started(await self.call("Start", **parameters))

    async def get(self, key: str) -> Countdown:
        """The countdown under a key, also after its end as long as the daemon keeps it."""
        return _calls.countdown(await self.call("Get", key=key))

    async def list(
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
        return _calls.countdowns(await self._replies("List", parameters, more=True))

    async def cancel(self, key: str, *, if_revision: int | None = None) -> Countdown:
        """Ends a countdown before its deadline."""
        return _calls.countdown(await self.call("Cancel", key=key, ifRevision=if_revision))

    async def wait(self, key: str) -> Countdown:
        """Waits until the countdown ends. If the daemon goes away meanwhile, this waits until it is back."""
        attempt = 0
        while True:
            try:
                return _calls.countdown(await self.call("Wait", key=key))
            except (Disconnected, StorageFailed) as error:
                if isinstance(error, NoDaemon | StorageFailed) and attempt == 0:
                    raise
            await asyncio.sleep(backoff(attempt))
            attempt += 1

    def watch(
        self,
        *,
        match: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        tick: Duration | None = None,
        since: int | None = None,
        heartbeat: Duration | None = None,
    ) -> AsyncWatch:
        """The events of the countdowns whose key is in `keys` or matches a pattern in `match`, or of all. See
        `AsyncWatch`.

        `tick` is the interval of ticks, 1 s by default; 0 turns them off.
        """
        return AsyncWatch(self.path, _calls.watch(match, keys, tick, since, heartbeat))

    async def _replies(self, method: str, parameters: Mapping[str, Any], more: bool) -> Sequence[Mapping[str, Any]]:
        replies = []
        limit = self._limit(method, parameters)
        with contextlib.closing(await _Connection.open(self.path, method, parameters, more, limit)) as connection:
            continues = True
            while continues:
                reply, continues = await connection.reply()
                replies.append(reply)
        return replies


class AsyncWatch(AsyncIterator[Event]):
    """The events of countdowns, as `Watch` has them. Cancelling a task that waits for the next event loses none: the next
    iteration continues. `async with` ends the watch."""

    def __init__(self, path: str, parameters: Mapping[str, Any]) -> None:
        self._path = path
        self._state = ResumableWatch(parameters)
        self._connection: _Connection | None = None
        self._closed = asyncio.Event()

    @property
    def since(self) -> int | None:
        """Everything up to this revision was delivered. Another watch can begin with it."""
        return self._state.since

    async def __anext__(self) -> Event:
        while not self._closed.is_set():
            if event := self._state.next():
                return event
            try:
                await self._receive()
            except CountdowndError as error:
                self._disconnect()
                if not self._closed.is_set():
                    self._state.fail(error)
        self._disconnect()
        raise StopAsyncIteration

    def close(self) -> None:
        """Ends the watch and closes the connection. A task that waits for an event gets StopAsyncIteration."""
        self._closed.set()
        self._disconnect()

    async def aclose(self) -> None:
        """Ends the watch, for `contextlib.aclosing`."""
        self.close()

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._disconnect()

    async def _receive(self) -> None:
        if self._connection is None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closed.wait(), self._state.delay())
                return
            self._connection = await _Connection.open(self._path, "Watch", self._state.request(), more=True)
            if self._closed.is_set():
                return
        reply, continues = await self._connection.reply()
        self._state.receive(reply)
        if not continues:
            raise Disconnected("the daemon ended the watch")

    def _disconnect(self) -> None:
        # Closing it here would take it out of the poller that the event loop of the parent process has too.
        if self._connection and not self._connection.is_inherited:
            self._connection.close()
            self._connection = None
