"""The client for asyncio."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import copy
import functools
import math
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast, overload

from . import _calls
from ._address import Addressed
from ._errors import CountdowndError, Disconnected, NoDaemon, NoSuchCountdown, ProtocolError, StorageFailed, TimedOut, naming
from ._follow import Call, Following
from ._resume import ResumableWatch, backoff
from ._sync import Client
from ._types import Countdown, Duration, Event, Step
from ._wire import READ_SIZE, Framer, Socket, decode_reply, encode_call

_Parameters = ParamSpec("_Parameters")
_Value = TypeVar("_Value")


class _Connection:
    """A connection for one call, because calls after a call that waits would wait too."""

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
        connected = await _connected(path, timeout)
        try:
            streams = await asyncio.open_unix_connection(sock=connected, limit=READ_SIZE)
        except BaseException:
            connected.close()
            raise
        streams[1].write(call)
        return cls(streams, more, timeout)

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

    async def reply_so_far(self) -> tuple[Mapping[str, Any], bool] | None:
        """The next reply, if it has arrived."""
        replying = asyncio.ensure_future(self.reply())
        await asyncio.sleep(0)
        if not replying.done():
            replying.cancel()
            await asyncio.wait([replying])
        return None if replying.cancelled() else replying.result()

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed
            self._writer.transport.abort()


class _Pipeline:
    """A connection for many calls, which are all sent at once; the replies come in the order of the calls."""

    def __init__(self, path: str, connected: socket.socket, timeout: float | None) -> None:
        self.path = path
        self._socket = connected
        self._timeout = timeout
        self._owner = os.getpid()
        self._loop = asyncio.get_running_loop()
        self._replies: collections.deque[asyncio.Future[bytes]] = collections.deque()
        self._silent_since = 0.0  # when a reply arrived last, or the first of the calls that wait for one was sent
        self._is_awaiting = False  # whether one was sent
        self._unsent = bytearray()
        self._framer = Framer()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._loop.add_reader(connected, self._receive)

    @property
    def is_usable(self) -> bool:
        """Whether a call can be made in this process and event loop. If no reply is expected, nothing may have arrived."""
        if self._is_closed or self._owner != os.getpid() or self._loop is not asyncio.get_running_loop():
            return False
        return bool(self._replies) or not self._receive() and not self._is_closed

    def send(self, call: bytes) -> asyncio.Future[bytes]:
        """Makes a call. The result is the message with the reply."""
        reply = self._loop.create_future()
        self._replies.append(reply)
        if self._timeout is not None and self._timer is None:
            self._timer = self._loop.call_later(self._timeout, self._expire)
        if not self._unsent:
            self._loop.call_soon(self._flush)  # with the calls of other tasks
        self._unsent += call
        return reply

    def _flush(self) -> None:
        if self._is_closed:
            return
        if not self._is_awaiting:
            self._silent_since, self._is_awaiting = self._loop.time(), True
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # if the daemon has closed the connection, it may have sent the reason before
            self._unsent.clear()
        if self._unsent:
            self._loop.add_writer(self._socket, self._flush)
        else:
            self._loop.remove_writer(self._socket)

    def _receive(self) -> bool:
        """Takes in what has arrived; whether there was something."""
        try:
            data = self._socket.recv(READ_SIZE)
            if not data:
                raise Disconnected("the daemon closed the connection")
            for message in self._framer.receive(data):
                if not self._replies:
                    raise ProtocolError("the reply is not one of countdownd")
                reply = self._replies.popleft()
                if not reply.done():  # its task may be cancelled
                    reply.set_result(message)
            self._silent_since, self._is_awaiting = self._loop.time(), bool(self._replies)
        except BlockingIOError:
            return False
        except OSError as error:
            self.close(Disconnected(f"the connection to the daemon failed: {error.strerror}"))
        except CountdowndError as error:
            self.close(error)
        return not self._is_closed

    def _expire(self) -> None:
        self._timer = None
        while self._receive():  # what came while the program kept the event loop busy
            pass
        if not self._replies or self._timeout is None:
            return
        if self._is_awaiting and self._silent_since + self._timeout <= self._loop.time():
            self.close(TimedOut.after(self._timeout))
        else:
            self._timer = self._loop.call_later(self._timeout, self._expire)

    def close(self, error: CountdowndError) -> None:
        """Ends the calls that have no reply yet with the error."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._owner == os.getpid() and not self._loop.is_closed():
            # A child process would take it out of the poller that it shares with its parent.
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            if self._timer:
                self._timer.cancel()
            for reply in self._replies:
                if not reply.done():
                    reply.set_exception(copy.copy(error))
        self._replies.clear()
        self._socket.close()


async def _connected(path: str, timeout: float | None) -> socket.socket:
    """A Unix socket connects at once. asyncio would take a full queue for a connection."""
    end = time.monotonic() + (math.inf if timeout is None else timeout)
    attempt = 1
    while True:
        connected = Socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            connected.connect(path)
            return connected
        except OSError as error:
            connected.close()
            # The daemon's queue of new connections is full.
            if not isinstance(error, BlockingIOError) or time.monotonic() + backoff(attempt) > end:
                raise NoDaemon(f"no daemon at {path}: {error.strerror}", error.errno) from error
        await asyncio.sleep(backoff(attempt))
        attempt += 1


def _awaited(
    method: Callable[Concatenate[Client, _Parameters], _Value],
) -> Callable[Concatenate[AsyncClient, _Parameters], Coroutine[Any, Any, _Value]]:
    """The method of `Client` for asyncio: it makes its call with `_ask` or `_ask_all`, which return what is awaited here."""

    async def awaited(self: AsyncClient, /, *arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Value:
        return cast(_Value, await cast(Any, method)(self, *arguments, **named))

    functools.update_wrapper(awaited, method)
    return awaited


def _following(
    method: Callable[Concatenate[Client, _Parameters], Any],
) -> Callable[Concatenate[AsyncClient, _Parameters], AsyncFollow]:
    """The method of `Client` for asyncio: it returns what `_steps` returns."""
    return cast("Callable[Concatenate[AsyncClient, _Parameters], AsyncFollow]", method)


class AsyncClient(Addressed):
    """A client of this user's daemon, or of the daemon with the socket at `path`.

    All tasks share one connection, which it keeps; a call that waits has its own. Each event loop and each child process has
    its own. `close`, or leaving an `async with`, closes it; the client can still be used.

    Durations are a `timedelta` or a number of seconds. A call raises the errors that a call of `Client` raises. A call that
    is cancelled may have been made.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, timeout: Duration | None = 5) -> None:
        super().__init__(path, timeout=timeout)
        self._of_thread = threading.local()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # its construction may have failed, or the process ends
            self.close()

    def close(self) -> None:
        """Closes the connection of this thread. Calls that have no reply yet raise `Disconnected`."""
        if pipeline := self._kept:
            pipeline.close(Disconnected("the client was closed"))
            self._kept = None

    @property
    def _kept(self) -> _Pipeline | None:
        """The connection of this thread, because it belongs to an event loop."""
        kept: _Pipeline | None = getattr(self._of_thread, "pipeline", None)
        return kept

    @_kept.setter
    def _kept(self, pipeline: _Pipeline | None) -> None:
        self._of_thread.pipeline = pipeline

    async def call(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        """Makes any call of io.countdownd, with names and values as on the wire. Parameters that are None are left
        out."""
        if self._waits(method, parameters):
            return (await self._replies(method, parameters, more=False))[0]
        call = encode_call(method, parameters, more=False)
        with naming(parameters):
            pipeline = await self._pipeline()
            message = await pipeline.send(call)
            try:
                return decode_reply(message, more=False)[0]
            except ProtocolError as error:
                pipeline.close(error)
                raise

    async def _pipeline(self) -> _Pipeline:
        kept = self._kept
        if kept is None or not kept.is_usable or kept.path != self.path:
            connected = await _connected(self.path, self._timeout)
            if (other := self._kept) and other is not kept:  # another task was faster, as the daemon's queue was full
                connected.close()
                return other
            self.close()
            self._kept = kept = _Pipeline(self.path, connected, self._timeout)
        return kept

    start = _awaited(Client.start)
    start_all = _awaited(Client.start_all)
    get = _awaited(Client.get)
    list = _awaited(Client.list)
    cancel = _awaited(Client.cancel)
    finish = _awaited(Client.finish)
    pause = _awaited(Client.pause)
    resume = _awaited(Client.resume)
    adjust = _awaited(Client.adjust)
    status = _awaited(Client.status)

    @overload
    async def wait(self, key: str, *, missing_ok: Literal[False] = False) -> Countdown: ...

    @overload
    async def wait(self, key: str, *, missing_ok: bool) -> Countdown | None: ...

    async def wait(self, key: str, *, missing_ok: bool = False) -> Countdown | None:
        """As `Client.wait`."""
        attempt = 0
        while True:
            try:
                return _calls.countdown(await self.call("Wait", key=key))
            except NoSuchCountdown:
                if not missing_ok:
                    raise
                return None
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
        """As `Client.watch`. See `AsyncWatch`."""
        return AsyncWatch(self.path, _calls.watch(match, keys, tick, since, heartbeat), self._timeout)

    follow = _following(Client.follow)

    def _steps(self, following: Following, tick: Duration | None) -> AsyncFollow:
        return AsyncFollow(self, following, tick)

    async def _ask(self, read: Callable[[Mapping[str, Any]], _Value], method: str, parameters: Mapping[str, Any]) -> _Value:
        return read(await self.call(method, **parameters))

    async def _ask_all(
        self, read: Callable[[Iterable[Mapping[str, Any]]], _Value], method: str, parameters: Mapping[str, Any]
    ) -> _Value:
        return read(await self._replies(method, parameters, more=True))

    async def _replies(self, method: str, parameters: Mapping[str, Any], more: bool) -> Sequence[Mapping[str, Any]]:
        """Those of a call with its own connection."""
        limit = self._limit(method, parameters)
        with naming(parameters):
            with contextlib.closing(await _Connection.open(self.path, method, parameters, more, limit)) as connection:
                return await _all_replies(connection)


async def _all_replies(connection: _Connection) -> list[Mapping[str, Any]]:
    replies = []
    continues = True
    while continues:
        reply, continues = await connection.reply()
        replies.append(reply)
    return replies


class AsyncWatch(AsyncIterator[Event]):
    """The events of countdowns, as `Watch` has them. Cancelling a task that waits for the next event loses none: the next
    iteration continues. `async with` ends the watch."""

    def __init__(self, path: str, parameters: Mapping[str, Any], timeout: float | None) -> None:
        self._connection: _Connection | None = None
        self._path = path
        self._timeout = timeout
        self._state = ResumableWatch(parameters)
        self._closed = asyncio.Event()
        self._due: float | None = None  # when the next attempt is made

    @property
    def since(self) -> int | None:
        """Everything up to this revision was delivered. Another watch can begin with it."""
        return self._state.since

    async def __anext__(self) -> Event:
        while not self._closed.is_set():
            try:
                if self._state.must_list:
                    await self._list()
                if event := self._state.next():
                    return event
                await self._receive()
            except CountdowndError as error:
                if not self._closed.is_set():
                    self._resume(error)
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

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._disconnect()

    async def _receive(self) -> None:
        if self._connection is None:
            now = asyncio.get_running_loop().time()
            if self._due is None:  # a task that was cancelled while it waited has left it
                self._due = now + self._state.delay()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closed.wait(), self._due - now)
                return
            self._due = None
            self._connection = await _Connection.open(self._path, "Watch", self._state.request(), more=True)
            if self._closed.is_set():
                return
        self._take(await self._connection.reply())

    def _take(self, reply: tuple[Mapping[str, Any], bool]) -> None:
        self._state.receive(reply[0])
        if not reply[1]:
            raise Disconnected("the daemon ended the watch")

    async def _list(self) -> None:
        """Finds out which countdowns were forgotten while the watch was away."""
        request = self._state.list_request()
        with contextlib.closing(await _Connection.open(self._path, "List", request, True, self._timeout)) as connection:
            listed = _calls.countdowns(await _all_replies(connection))
        while self._connection and (reply := await self._connection.reply_so_far()):
            self._take(reply)
        self._state.confirm(listed)

    def _resume(self, error: CountdowndError) -> None:
        """Begins again, as if the connection had failed in this way."""
        self._disconnect()
        self._state.fail(error)

    def _disconnect(self) -> None:
        # Closing it here would take it out of the poller that the event loop of the parent process has too.
        if self._connection and not self._connection.is_inherited:
            self._connection.close()
            self._connection = None


class AsyncFollow(AsyncIterator[Step]):
    """The steps of `AsyncClient.follow`. Cancelling a task that waits for the next step loses none: the next iteration
    continues. `async with`, or leaving the loop, ends the watch; the countdown stays."""

    def __init__(self, client: AsyncClient, following: Following, tick: Duration | None) -> None:
        self._client = client
        self._key = following.key
        self._watch = client.watch(keys=[following.key], tick=tick)
        self._acts = following.acts()
        self._act = next(self._acts)  # what is done next; a step if it was delivered

    async def __anext__(self) -> Step:
        try:
            if isinstance(self._act, Step):
                self._act = next(self._acts)
            while not isinstance(self._act, Step):
                self._act = self._acts.send(await self._carry_out(self._act))
            return self._act
        except (CountdowndError, StopIteration) as error:
            self.close()
            if isinstance(error, CountdowndError):
                raise
            raise StopAsyncIteration from None

    async def _carry_out(self, act: Call | CountdowndError | None) -> Any:
        if isinstance(act, Call):
            begin = time.monotonic()
            try:
                await asyncio.sleep(act.pause)
            except asyncio.CancelledError:
                self._act = Call(act.pause - (time.monotonic() - begin), act.parameters)
                raise
            try:
                return await self._client._ask(_calls.started, "Start", act.parameters)
            except CountdowndError as error:
                return error
            except asyncio.CancelledError:  # it may have been made
                self._act = self._acts.send(Disconnected("the start was given up"))
                raise
        if act:
            return self._watch._resume(act)
        return await anext(self._watch), self._watch._state.listed.get(self._key)

    def close(self) -> None:
        """Ends the watch."""
        self._watch.close()

    async def aclose(self) -> None:
        """Ends the watch, for `contextlib.aclosing`."""
        self.close()

    async def __aenter__(self) -> AsyncFollow:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
