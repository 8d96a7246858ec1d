"""The client for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from . import _address, _calls
from ._errors import CountdowndError, Disconnected, NoDaemon
from ._resume import ResumableWatch, backoff
from ._types import Countdown, Duration, Event, IfRunning, Started, State
from ._wire import READ_SIZE, Framer, decode_reply, encode_call


class _Connection:
    """A connection for one call, because calls behind a call that waits would wait too."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._messages: list[bytes] = []
        self._framer = Framer()

    @classmethod
    async def open(cls, path: str) -> _Connection:
        attempt = 1
        while True:
            connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            try:
                # A Unix socket connects at once. asyncio would take a full queue for a connection.
                connected.connect(path)
                return cls(*await asyncio.open_unix_connection(sock=connected, limit=READ_SIZE))
            except BlockingIOError:
                connected.close()
            except OSError as error:
                connected.close()
                raise NoDaemon(f"no daemon at {path}: {error.strerror}") from error
            except BaseException:
                connected.close()
                raise
            # The daemon's queue of new connections is full.
            await asyncio.sleep(backoff(attempt))
            attempt += 1

    def send(self, method: str, parameters: Mapping[str, Any], more: bool) -> None:
        self._writer.write(encode_call(method, parameters, more))

    async def reply(self) -> tuple[Mapping[str, Any], bool]:
        while not self._messages:
            try:
                data = await self._reader.read(READ_SIZE)
            except OSError as error:
                raise Disconnected(f"the connection to the daemon failed: {error.strerror}") from error
            if not data:
                raise Disconnected("the daemon closed the connection")
            self._messages = [*self._framer.receive(data)][::-1]
        return decode_reply(self._messages.pop())

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed
            self._writer.transport.abort()


class AsyncClient:
    """A client of this user's daemon, or of the daemon with the socket at `path`. Every call has its own connection.

    Durations are a `timedelta` or a number of seconds. A call raises `NoDaemon` if there is none, `Disconnected` if the
    connection ends before the reply, and a `CallError` if the daemon refuses it. A call that is cancelled may have been
    made.
    """

    def __init__(self, path: str | None = None) -> None:
        #: The path of the daemon's socket.
        self.path = _address.socket_path() if path is None else _address.checked(path)

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
            except Disconnected as error:
                if isinstance(error, NoDaemon) and attempt == 0:
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
        with contextlib.closing(await _Connection.open(self.path)) as connection:
            connection.send(method, parameters, more)
            continues = True
            while continues:
                reply, continues = await connection.reply()
                replies.append(reply)
        return replies


class AsyncWatch(AsyncIterator[Event]):
    """The events of countdowns, as `Watch` has them. Cancelling a task that waits for the next event loses none: the next
    iteration continues. `async with` closes the connection at its end."""

    def __init__(self, path: str, parameters: Mapping[str, Any]) -> None:
        self._path = path
        self._state = ResumableWatch(parameters)
        self._connection: _Connection | None = None

    @property
    def since(self) -> int | None:
        """Everything up to this revision was delivered. Another watch can begin with it."""
        return self._state.since

    async def __anext__(self) -> Event:
        while True:
            if event := self._state.next():
                return event
            try:
                await self._receive()
            except CountdowndError as error:
                self.close()
                self._state.fail(error)

    def close(self) -> None:
        """Closes the connection."""
        if self._connection:
            self._connection.close()
            self._connection = None

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    async def _receive(self) -> None:
        if self._connection is None:
            await asyncio.sleep(self._state.delay())
            self._connection = await _Connection.open(self._path)
            self._connection.send("Watch", self._state.request(), more=True)
        reply, continues = await self._connection.reply()
        self._state.receive(reply)
        if not continues:
            raise Disconnected("the daemon ended the watch")
