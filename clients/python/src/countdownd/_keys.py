"""The keys of limits: which values tell visitors apart, and how a network address counts."""

from __future__ import annotations

import base64
import decimal
import enum
import hashlib
import ipaddress
import json
import re
import uuid
from typing import TypeAlias

#: What visitors are told apart by. Two values that are equal have one key.
KeyValue: TypeAlias = (
    str | int | bytes | uuid.UUID | ipaddress.IPv4Address | ipaddress.IPv6Address | decimal.Decimal | enum.Enum | None
    | tuple["KeyValue", ...]
)

_EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
#: What stands behind an address in the fields of a proxy: RFC 7239 also has ports that begin with "_".
_PORT = re.compile(":(?:[0-9]*|_[A-Za-z0-9._-]*)$")
#: The network of translators between IPv6 and IPv4 (RFC 6052), whose last 32 bits are the IPv4 address.
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def limit_key(name: str, value: KeyValue) -> str:
    """The key of a limit for a visitor: NAME/VALUE, or NAME/~HASH if the value is long or has other characters than
    `A-Z a-z 0-9 . _ @ : -`. No text is an error. Raises TypeError if the value has another type than `KeyValue`."""
    text = _text(value)
    if not re.fullmatch("[A-Za-z0-9._@:-]{1,64}", text):
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        text = "~" + base64.urlsafe_b64encode(digest)[:22].decode()
    return f"{name}/{text}"


def _text(value: KeyValue) -> str:
    if isinstance(value, enum.Enum):
        return _text(value.value)
    if isinstance(value, str):
        text = str.__str__(value)
        address = _address(text)
        return text if address is None else _network(address)
    if isinstance(value, bytes):
        return _text(value.decode(errors="surrogateescape"))
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)
    if isinstance(value, ipaddress.IPv4Address | ipaddress.IPv6Address):
        return _network(value)
    if isinstance(value, uuid.UUID):
        return str(uuid.UUID(int=value.int))
    if isinstance(value, decimal.Decimal) and value.is_finite():
        least = value.normalize(_EXACT) or decimal.Decimal()  # 1.0 is 1, and -0 is 0
        return format(least, "f") if -64 < least.adjusted() < 64 else str(least)
    if isinstance(value, tuple):
        return json.dumps([_text(one) for one in value], ensure_ascii=False, separators=(",", ":"))
    if value is None:
        return ""
    raise TypeError(
        f"a key is a {type(value).__name__}; expected a string, an integer, bytes, a UUID, an address, a finite Decimal, an enum,"
        " None, or a tuple of them"
    )


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text is, perhaps in quotes or brackets, with a zone, or with a port as some proxies append it."""
    whole = text.strip(' \t"')
    for form in (whole, _PORT.sub("", whole)):
        plain = form[1:-1] if form[:1] == "[" and form[-1:] == "]" else form
        plain, _, _ = plain.partition("%") if ":" in plain else (plain, "", "")
        try:
            return ipaddress.ip_address(plain)
        except ValueError:
            pass
    return None


def _network(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """An IPv4 address, or the /64 of an IPv6 address, because one visitor has all of its addresses."""
    number = int(address)
    if isinstance(address, ipaddress.IPv6Address):
        if not address.ipv4_mapped and ipaddress.IPv6Address(number) not in _TRANSLATED:
            return str(ipaddress.IPv6Address(number >> 64 << 64))
        number &= 0xFFFF_FFFF
    return str(ipaddress.IPv4Address(number))
