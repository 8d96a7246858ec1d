"""What happens to limits while the daemon cannot be asked."""

from __future__ import annotations

import copy
import logging
import threading
import time
from typing import Literal, TypeAlias

from ._errors import AddressError, CountdowndError, Disconnected, LimitReached, StorageFailed, Unreachable

log = logging.getLogger("countdownd")
OnFailure: TypeAlias = Literal["open", "closed"]

#: Of a call to the daemon, after the first one. On a busy machine a daemon that works may take a tenth of it.
TIMEOUT = 0.5


class Breaker:
    """After a failure, no calls for a second; then one caller tries again."""

    def __init__(self, on_failure: OnFailure, subject: str, when_closed: str) -> None:
        if on_failure not in ("open", "closed"):
            raise ValueError(f"on_failure is {on_failure!r}; expected open or closed")
        self.is_open_on_failure = on_failure == "open"
        self._subject = subject
        self._effect = "not limited" if self.is_open_on_failure else when_closed
        self._lock = threading.Lock()
        self._next_try: float | None = None
        self._error: CountdowndError | None = None

    def allows(self) -> bool:
        with self._lock:
            if self._next_try is None:
                return True
            if time.monotonic() < self._next_try:
                return False
            self._next_try = time.monotonic() + 1
            return True

    @property
    def failure(self) -> CountdowndError:
        """Why the last call failed."""
        return copy.copy(self._error) if self._error else Disconnected("the daemon has not answered")

    def fail(self, error: CountdowndError) -> None:
        """Raises the error if it is a mistake of the program."""
        is_outage = isinstance(error, Disconnected | StorageFailed | Unreachable | AddressError)
        if not is_outage and not (isinstance(error, LimitReached) and not error.limit.startswith("cooldowns")):
            raise error
        self._error = error
        if not self._note(time.monotonic() + 1):
            log.warning("%s are %s: %s", self._subject, self._effect, error)

    def succeed(self) -> None:
        if self._note(None):
            log.warning("the limits of %s work again", self._subject)

    def _note(self, next_try: float | None) -> bool:
        """Whether the last call had failed."""
        with self._lock:
            had_failed = self._next_try is not None
            self._next_try = next_try
            return had_failed
