"""A client of countdownd, which keeps keyed countdowns for all programs of a user.

`Client` blocks, `AsyncClient` is for asyncio; both have the same methods. `watch` reports what happens to countdowns
and never ends by itself: if the daemon restarts, it reconnects and misses no end. `limiter` and `cooldown` limit code,
`countdownd.asgi` and `countdownd.wsgi` the requests of web servers, and `countdownd.testing` has a daemon for tests.
"""

from ._async import AsyncClient, AsyncWatch
from ._errors import (
    AddressError,
    AlreadyRunning,
    CallError,
    CallTooLong,
    CountdowndError,
    Disconnected,
    HistoryTrimmed,
    InvalidParameter,
    LimitReached,
    MethodNotFound,
    NoDaemon,
    NoSuchCountdown,
    PermissionDenied,
    ProtocolError,
    Refused,
    RevisionMismatch,
    StorageFailed,
    TimedOut,
    Unreachable,
    WrongState,
)
from ._limiter import Limiter, cooldown, limiter
from ._sync import Client, Watch
from ._types import (
    Clock,
    Cooldown,
    Countdown,
    Duration,
    Event,
    EventType,
    IfRunning,
    Outcome,
    Room,
    Started,
    StartedAll,
    State,
    Status,
)

__version__ = "0.1.0"

__all__ = [
    "AddressError",
    "AlreadyRunning",
    "AsyncClient",
    "AsyncWatch",
    "CallError",
    "CallTooLong",
    "Client",
    "Clock",
    "Cooldown",
    "Countdown",
    "CountdowndError",
    "Disconnected",
    "Duration",
    "Event",
    "EventType",
    "HistoryTrimmed",
    "IfRunning",
    "InvalidParameter",
    "LimitReached",
    "Limiter",
    "MethodNotFound",
    "NoDaemon",
    "NoSuchCountdown",
    "Outcome",
    "PermissionDenied",
    "ProtocolError",
    "Refused",
    "RevisionMismatch",
    "Room",
    "Started",
    "StartedAll",
    "State",
    "Status",
    "StorageFailed",
    "TimedOut",
    "Unreachable",
    "Watch",
    "WrongState",
    "cooldown",
    "limiter",
]
