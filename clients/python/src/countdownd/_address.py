"""The path of the daemon's socket, by the rule of countdownctl, and how long a client waits for a reply from there."""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Mapping
from typing import Any

from ._errors import AddressError
from ._types import Duration, microseconds

_PATH_LIMIT = 107  # bytes in sockaddr_un, less the NUL
_LONGEST_TIMEOUT = 2_000_000.0  # seconds; the system counts milliseconds in 32 bits


class Addressed:
    """What both clients are made of: the daemon's socket, and how long a call may take."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, timeout: Duration | None = 5) -> None:
        self._given = path
        self._timeout = None if timeout is None else _seconds(timeout)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, makes its own connections."""
        return functools.partial(type(self), timeout=self._timeout), (self._given,)

    @property
    def path(self) -> str:
        """The path of the daemon's socket: by default `$COUNTDOWND_SOCKET`, else `countdownd/io.countdownd` in the runtime
        directory.

        Raises AddressError if the runtime directory is not safe, or if the path is too long.
        """
        if self._given is not None:
            path = os.fspath(self._given)
        else:
            path = os.environ.get("COUNTDOWND_SOCKET") or f"{_runtime_directory()}/countdownd/io.countdownd"
        if path.startswith("unix:"):  # as varlinkctl writes addresses, perhaps with parameters
            path = path.removeprefix("unix:").partition(";")[0]
            if not path:
                raise AddressError("the address is 'unix:'; expected unix:PATH")
        length = len(os.fsencode(path))
        if length > _PATH_LIMIT:
            raise AddressError(f"{path!r} has {length} bytes, and the path of a socket has at most {_PATH_LIMIT}")
        return path

    def _limit(self, method: str, parameters: Mapping[str, Any]) -> float | None:
        """How many seconds to wait for a reply; None without limit."""
        return None if self._waits(method, parameters) else self._timeout

    @staticmethod
    def _waits(method: str, parameters: Mapping[str, Any]) -> bool:
        """Whether the call waits by its nature, and with it those after it on its connection."""
        return method == "Wait" or parameters.get("ifRunning") == "wait"


def _seconds(timeout: Duration) -> float:
    try:
        count = microseconds(timeout)
    except ValueError:
        count = 0
    if count <= 0:
        raise ValueError(f"the timeout is {timeout!r}; expected a positive duration of at most 285 years, or None for no limit")
    return min(count / 1_000_000, _LONGEST_TIMEOUT)


def _runtime_directory() -> str:
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    is_named = named.startswith("/")  # the XDG Base Directory Specification ignores relative paths
    path = named if is_named else f"/run/user/{os.getuid()}"
    fault = _fault(path, {os.getuid(), 0} if is_named else {os.getuid()})
    if fault and is_named:
        raise AddressError(f"XDG_RUNTIME_DIR is {path!r}, which {fault}; correct it")
    if fault:
        raise AddressError(f"{path} {fault}: without a session, `loginctl enable-linger` makes it")
    return path


def _fault(path: str, owners: set[int]) -> str | None:
    """Why other users could replace a socket in the directory, or why it cannot hold one."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be examined: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return "is not a directory"
    if found.st_uid not in owners:
        return f"belongs to UID {found.st_uid}"
    if found.st_mode & 0o022:
        return f"can be written by others (mode 0{stat.S_IMODE(found.st_mode):o})"
    return None
