"""Follows many countdowns at once with a Python client: followers_python.py python|asyncio. See trial_follow.py."""

import asyncio
import json
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import countdownd

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)
LASTS = ("finished", "cancelled", "gone")


class Account:
    """What a follow has told."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._types: list[str] = []
        self._last: countdownd.Step | None = None

    def add(self, step: countdownd.Step) -> None:
        self._types.append(step.type)
        self._last = step

    def write(self) -> None:
        assert self._last
        late, countdown = self._last.late, self._last.countdown
        end = {
            "number": self._number,
            "type": self._last.type,
            "lateUSec": None if late is None else late // MICROSECOND,
            "startedUSec": None if countdown is None else (countdown.started - EPOCH) // MICROSECOND,
            "firsts": self._types.count("started"),
            "lasts": sum(type in LASTS for type in self._types),
            "aways": self._types.count("away"),
        }
        sys.stdout.write(json.dumps(end) + "\n")
        sys.stdout.flush()


def arguments(follow: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the call."""
    return {
        "key": follow["key"],
        "duration": follow["duration"],
        "if_running": follow.get("ifRunning"),
        "forget": follow.get("forget"),
        "tick": follow.get("tick", 0),
    }


def follow_one(follow: dict[str, Any]) -> None:
    account = Account(follow["number"])
    time.sleep(follow["after"])
    for step in countdownd.Client().follow(**arguments(follow)):
        account.add(step)
    account.write()


async def follow_one_async(client: countdownd.AsyncClient, follow: dict[str, Any]) -> None:
    account = Account(follow["number"])
    await asyncio.sleep(follow["after"])
    async for step in client.follow(**arguments(follow)):
        account.add(step)
    account.write()


async def follow_all(follows: list[dict[str, Any]]) -> None:
    client = countdownd.AsyncClient(timeout=30)
    await asyncio.gather(*(follow_one_async(client, follow) for follow in follows))


follows = [json.loads(line) for line in sys.stdin]
if sys.argv[1] == "asyncio":
    asyncio.run(follow_all(follows))
else:
    threading.stack_size(256 << 10)
    for follow in follows:
        threading.Thread(target=follow_one, args=[follow]).start()
