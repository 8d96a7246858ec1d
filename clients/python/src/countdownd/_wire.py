"""The messages: each is one JSON object and ends with a NUL. And the sockets that carry them."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from ._errors import CallTooLong, InvalidCall, ProtocolError, error_from
from ._types import GREATEST

#: How much is read at once.
READ_SIZE = 1 << 16
#: A reply of countdownd has about 64 KiB. A longer message than this is not one.
_MESSAGE_LIMIT = 16 << 20
#: The daemon ends a connection with a longer call.
_CALL_LIMIT = 256 << 10
#: Or with one that is nested deeper.
_DEPTH_LIMIT = 64
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Socket(socket.socket):
    """A socket that is closed without a warning when it is not used any more, because clients need not be closed."""

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # there may have been no descriptor for it
            self.close()


def encode_call(method: str, parameters: Mapping[str, Any], more: bool) -> bytes:
    """A call of a method of io.countdownd. Parameters that are None are left out. Raises InvalidCall, and ValueError if a
    number cannot be a parameter: the daemon would end the connection, which other calls share."""
    call: dict[str, Any] = {"method": f"io.countdownd.{method}"}
    if present := {name: value for name, value in parameters.items() if value is not None}:
        call["parameters"] = present
    for name, value in present.items():
        if isinstance(value, float) or isinstance(value, int) and abs(value) > GREATEST:
            raise ValueError(f"{name} is {value!r}; expected an integer from -(2**53 - 1) to 2**53 - 1")
    if more:
        call["more"] = True
    try:
        text = _ENCODER.encode(call).encode()
    except UnicodeEncodeError:
        raise InvalidCall("a text has half of a surrogate pair; expected whole characters") from None
    except RecursionError:
        raise InvalidCall(_TOO_DEEP) from None
    if text.count(b"{") + text.count(b"[") > _DEPTH_LIMIT and _is_deeper(call, _DEPTH_LIMIT):
        raise InvalidCall(_TOO_DEEP)
    if len(text) > _CALL_LIMIT:
        raise CallTooLong(f"the call has {len(text)} bytes; the daemon accepts at most {_CALL_LIMIT}")
    return text + b"\0"


_TOO_DEEP = f"the call is nested too deeply; the daemon accepts at most {_DEPTH_LIMIT} levels"


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list | tuple):
        return False
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in (value.values() if isinstance(value, dict) else value))


class Framer:
    """Cuts received bytes into messages."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def receive(self, data: bytes) -> Iterator[bytes]:
        """The messages that end in the data."""
        *complete, rest = data.split(b"\0")
        for end in complete:
            yield b"".join([*self._parts, end])
            self._parts, self._length = [], 0
        if rest:
            self._parts.append(rest)
            self._length += len(rest)
        if self._length > _MESSAGE_LIMIT:
            raise ProtocolError(f"a message has more than {_MESSAGE_LIMIT} bytes")


def decode_reply(message: bytes, more: bool) -> tuple[Mapping[str, Any], bool]:
    """The parameters of a reply, and whether others follow, which only a call with `more` allows. Raises the error of an
    error reply."""
    try:
        reply = json.loads(message.decode())
        parameters = reply.get("parameters") or {}
        error = reply.get("error")
        continues = reply.get("continues") is True
        if not isinstance(parameters, dict) or not isinstance(error, str | None) or continues and not more:
            raise TypeError
    except (ValueError, AttributeError, TypeError, RecursionError) as cause:
        raise ProtocolError("the reply is not one of countdownd") from cause
    if error is not None:
        raise error_from(error, parameters)
    return parameters, continues
