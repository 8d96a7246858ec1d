"""One watch for many pages, which follow it with server-sent events, in Starlette and FastAPI."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ._async import AsyncClient
from ._errors import CountdowndError
from ._keys import limit_key
from .asgi import address

_log = logging.getLogger("countdownd")

#: So often a quiet page gets a sign of life, because proxies close quiet connections.
_QUIET = 15.0


class Relay:
    """Sends each page its state, and sends it again after each change of the countdowns that it follows.

    One watch serves all pages of a process, because a page of its own watch would take one of the daemon's connections.
    `topic` says which pages a countdown concerns, from its key. `lifespan` runs the watch; if your application has its own
    lifespan, enter it there. While the daemon is away, each page has one event `away`, and afterwards its state again.
    """

    def __init__(
        self,
        client: AsyncClient | None = None,
        *,
        match: Iterable[str] | None = None,
        keys: Iterable[str] | None = None,
        topic: Callable[[str], str] = lambda key: key,
        pages_per_address: int = 100,
    ) -> None:
        self._client = client or AsyncClient()
        self._match, self._keys = match, keys
        self._topic = topic
        self._most = pages_per_address
        self._pages_of: dict[str, set[asyncio.Event]] = collections.defaultdict(set)
        self._pages_at: dict[str, set[asyncio.Event]] = collections.defaultdict(set)

    def page(self, request: Request, topic: str, state: Callable[[], Awaitable[object]]) -> StreamingResponse:
        """The events of a page: what `state` returns, as JSON. A network address with too many pages gets 429."""
        return _Page(self, limit_key("", address(request.scope)), topic, state)

    @contextlib.asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """Runs the watch meanwhile."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        # Browsers count by themselves, so there are no ticks.
        async with self._client.watch(match=self._match, keys=self._keys, tick=0) as watch:
            try:
                async for event in watch:
                    if event.key is not None:
                        self._wake(self._topic(event.key))
                    elif event.type in ("synced", "historyTrimmed", "disconnected"):  # the daemon was away, or is
                        self._wake(*self._pages_of)
            except CountdowndError as error:  # one that another attempt does not repair
                _log.error("the pages are not told of changes: %s", error)

    def _wake(self, *topics: str) -> None:
        for topic in topics:
            for page in self._pages_of.get(topic, ()):
                page.set()

    @contextlib.contextmanager
    def _join(self, topic: str, address: str) -> Iterator[asyncio.Event]:
        """A page. It is set when a countdown of its topic has changed."""
        if len(self._pages_at.get(address, ())) >= self._most:
            raise HTTPException(429, headers={"Retry-After": "10"})
        page = asyncio.Event()
        places = [(self._pages_of, topic), (self._pages_at, address)]
        for pages, name in places:
            pages[name].add(page)
        try:
            yield page
        finally:
            for pages, name in places:
                pages[name].remove(page)
                if not pages[name]:
                    del pages[name]


class _Page(StreamingResponse):
    def __init__(self, relay: Relay, address: str, topic: str, state: Callable[[], Awaitable[object]]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._events(), media_type="text/event-stream", headers=headers)
        self._relay, self._topic, self._address = relay, topic, address
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._relay._join(self._topic, self._address) as self._changed:
            await super().__call__(scope, receive, send)

    async def _events(self) -> AsyncIterator[str]:
        yield "retry: 500\n\n"
        is_away = False
        while True:
            self._changed.clear()
            try:
                yield f"data: {json.dumps(await self._state())}\n\n"
                is_away = False
            except CountdowndError:  # the watch wakes this page later
                if not is_away:
                    yield "event: away\ndata:\n\n"
                is_away = True
            while not self._changed.is_set():
                try:
                    await asyncio.wait_for(self._changed.wait(), _QUIET)
                except asyncio.TimeoutError:
                    yield ":\n\n"
