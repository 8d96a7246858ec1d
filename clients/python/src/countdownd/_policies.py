"""Limits with names, whose keys are made of the values that tell visitors apart."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from ._keys import KeyValue, limit_key
from ._rates import Rate, rate_keys
from ._types import Room

#: The rate of each limit, or several, by its name: {"burst": "3/10m", "sms": ["1/60s", "5/1h"]}.
Limits: TypeAlias = Mapping[str, str | Sequence[str]]
#: What visitors are told apart by: one value for all limits, or one for each limit that applies.
Values: TypeAlias = KeyValue | Mapping[str, KeyValue]

_SECOND = timedelta(seconds=1)


@dataclasses.dataclass(frozen=True)
class Policy:
    """A rate of a limit, and its name in the headers."""

    name: str
    rate: Rate

    def __str__(self) -> str:
        seconds, rest = divmod(self.rate.period, 1_000_000)
        return f'"{self.name}";q={self.rate.times}' + ("" if rest else f";w={seconds}")

    def state(self, room: Room) -> str:
        used = room.countdown.remaining // timedelta(microseconds=1) if room.countdown else 0
        left = max(0, self.rate.up_to - used) // self.rate.interval
        return f'"{self.name}";r={left}' + ("" if room.more is None else f";t={seconds(room.more)}")


class Policies:
    """The rates of all limits."""

    def __init__(self, limits: Limits, none_may_apply: bool = False) -> None:
        self._none_may_apply = none_may_apply
        self._of_limit = {name: list(_policies(name, rates)) for name, rates in limits.items()}
        count = sum(map(len, self._of_limit.values()))
        if not 1 <= count <= 16:
            raise ValueError(f"there are {count} rates; expected 1 to 16")

    def asked(self, values: Values) -> Iterator[tuple[Policy, str]]:
        """The rates that apply to the values, with their keys."""
        each = values if isinstance(values, Mapping) else dict.fromkeys(self._of_limit, values)
        if unknown := [name for name in each if name not in self._of_limit]:
            raise ValueError(f"key names {unknown[0]!r}; expected a name of limits")
        if not each and not self._none_may_apply:  # a visitor may have sent an empty object instead of a text
            raise ValueError("key names no limit; expected at least one")
        for name, value in each.items():
            policies = self._of_limit[name]
            yield from zip(policies, rate_keys(limit_key(name, value), [policy.rate for policy in policies]))


def _policies(name: str, rates: str | Sequence[str]) -> Iterator[Policy]:
    if not re.fullmatch("[A-Za-z0-9._@:-]{1,64}", name):
        raise ValueError(f"the name of a limit is {name!r}; expected 1 to 64 of A-Z a-z 0-9 . _ @ : -")
    parsed = [Rate.parse(rate) for rate in ([rates] if isinstance(rates, str) else rates)]
    for key, rate in zip(rate_keys(name, parsed), parsed):
        yield Policy(key, rate)


def seconds(duration: timedelta) -> int:
    """Whole seconds, rounded up."""
    return -(-duration // _SECOND)
