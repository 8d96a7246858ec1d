"""Rates as people write them, and the keys that several rates of one key have."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

#: The symbol of each unit, its microseconds, and its other names, as countdownctl reads them.
_UNITS = {
    "w": (604_800_000_000, "week weeks"),
    "d": (86_400_000_000, "day days"),
    "h": (3_600_000_000, "hr hrs hour hours"),
    "m": (60_000_000, "min mins minute minutes"),
    "s": (1_000_000, "sec secs second seconds"),
    "ms": (1_000, "msec"),
    "us": (1, "µs μs usec"),
}
_MICROSECONDS = {name: length for symbol, (length, names) in _UNITS.items() for name in (symbol, *names.split())}
_CLOCK = re.compile("([0-9]+):([0-5][0-9])(?::([0-5][0-9]))?")
_PART = re.compile(r"([0-9]+(?:[.,][0-9]+)?|\.[0-9]+) *([A-Za-zµμ]*) *")
_BETWEEN = re.compile(",? *(?:and(?![A-Za-z]) *)?", re.IGNORECASE)
#: A comma that may also separate thousands.
_GROUPED = re.compile("[1-9][0-9]{0,2},[0-9]{3}")
_LONGEST = 100 * 36_525 * 864 * 1_000_000  # 100 years


def _period(text: str) -> int:
    """The microseconds of a duration such as "90", "10m", "1h30m" or "1:30", as countdownctl reads it."""
    total, rest, is_first = 0, text.strip(" "), True
    if clock := _CLOCK.fullmatch(rest):
        for field in clock.groups("")[: 1 + rest.count(":")]:
            total = total * 60 + int(field)
        return total * 1_000_000
    while part := _PART.match(rest):
        number, name = part.groups()
        rest = rest[part.end() :]
        if _GROUPED.fullmatch(number) or name not in _MICROSECONDS and (name or rest or not is_first):
            break
        whole, _, fraction = number.replace(",", ".").partition(".")
        total += int(whole + fraction) * _MICROSECONDS[name or "s"] // int("1" + "0" * len(fraction))
        if not rest:
            return total
        rest, is_first = _BETWEEN.sub("", rest, count=1), False
    raise ValueError(f"invalid period {text!r}; expected for example 90s, 10m or 1h30m")


@dataclasses.dataclass(frozen=True)
class Rate:
    """`times` calls at once, then one per `interval`: a token bucket (GCRA), so a window of `period` may see 2 * times - 1."""

    times: int
    #: In microseconds, as are the others.
    period: int

    @classmethod
    def parse(cls, text: str) -> Rate:
        """Reads "5/1h": five at once, then one per 12 minutes."""
        times, slash, period = text.partition("/")
        if not slash or not re.fullmatch("[0-9]+", times):
            raise ValueError(f"invalid rate {text!r}; expected a number and a period, such as 5/1h")
        rate = cls(int(times), _period(period))
        if not 1 <= rate.times <= rate.period <= _LONGEST:
            raise ValueError(f"invalid rate {text!r}; expected at least one, at most one per microsecond, and at most 100 years")
        return rate

    @property
    def interval(self) -> int:
        return -(-self.period // self.times)

    @property
    def up_to(self) -> int:
        return self.times * self.interval

    @property
    def suffix(self) -> str:
        """The period in its greatest whole unit: "1d" for "30/24h"."""
        return next(f"{self.period // length}{symbol}" for symbol, (length, _) in _UNITS.items() if self.period % length == 0)


def rate_keys(key: str, rates: Sequence[Rate]) -> Iterator[str]:
    """The key of each rate: the first one has KEY, each further one KEY/PERIOD, so that a deployment may change the number."""
    suffixes = [rate.suffix for rate in rates]
    if repeated := {suffix for suffix in suffixes if suffixes.count(suffix) > 1}:
        raise ValueError(f"the period {min(repeated)} has two rates; expected each period once")
    for number, suffix in enumerate(suffixes):
        yield f"{key}/{suffix}" if number else key
