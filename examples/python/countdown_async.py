"""Starts a countdown, or finds it running, and follows it to its end: countdown_async.py KEY [SECONDS]

With the PyPI package "asyncvarlink", which takes the interface from the types below. The countdown belongs to the
daemon: stop this program and run it again, and the countdown is still running. If the daemon restarts, the program
resumes its watch and misses no event.
"""

import asyncio
import collections.abc
import contextlib
import os
import sys
import typing

import asyncvarlink

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
key = sys.argv[1]
duration = float(sys.argv[2]) if len(sys.argv) > 2 else 60
path = os.environ.get("COUNTDOWND_SOCKET") or f"{os.environ['XDG_RUNTIME_DIR']}/countdownd/io.countdownd"


class Countdown(typing.TypedDict):
    key: str
    state: str
    clock: str
    durationUSec: int
    remainingUSec: int
    startedUSec: int
    deadlineUSec: int | None
    endedUSec: int | None
    label: str | None
    metadata: dict[str, str] | None
    forget: bool
    revision: int


class Event(typing.TypedDict):
    type: str
    revision: int | None
    key: str | None
    remainingUSec: int | None
    lateUSec: int | None
    countdown: Countdown | None


class Started(typing.TypedDict):
    outcome: str
    countdown: Countdown


class Countdowns(asyncvarlink.VarlinkInterface, name="io.countdownd"):
    @asyncvarlink.varlinkmethod
    def Start(self, *, key: str, durationUSec: int | None = None) -> Started: ...

    @asyncvarlink.varlinkmethod(return_parameter="events")
    def Watch(
        self, *, keys: list[str], since: int | None = None
    ) -> collections.abc.Iterator[list[Event]]: ...


@contextlib.asynccontextmanager
async def connect():
    """A connection for one call: calls behind a watch wait until it ends."""
    transport, protocol = await asyncvarlink.connect_unix_varlink(asyncvarlink.VarlinkClientProtocol, path)
    try:
        yield protocol.make_proxy(Countdowns)
    finally:
        transport.close()


async def start():
    async with connect() as countdowns:
        reply = await countdowns.Start(key=key, durationUSec=round(duration * 1_000_000))
    show(reply["outcome"], reply["countdown"])


def show(what, countdown):
    print(f"{key}: {what}, {countdown['remainingUSec'] / 1_000_000:.0f} s left", flush=True)


async def follow():
    # All changes up to this revision have been received. A watch with it as "since" misses none.
    since = None
    started = False
    while True:
        try:
            async with connect() as countdowns:
                async for reply in countdowns.Watch(keys=[key], since=since):
                    for event in reply["events"]:
                        since = event.get("revision") or since
                        match event["type"]:
                            # From now on the daemon sends every change, so no event of the countdown is missed.
                            case "synced" if not started:
                                await start()
                                started = True
                            case "tick":
                                show("running", event)
                            # Leaving a watch makes asyncvarlink 0.3.3 print a warning.
                            case "finished" | "cancelled" as end:
                                return end
        except OSError as error:
            print(f"no daemon ({error}); trying again", file=sys.stderr)
            await asyncio.sleep(1)


print(f"{key}: {asyncio.run(follow())}")
