"""Starts a countdown, or finds it running, and follows it to its end: countdown_async.py KEY [SECONDS]

With the PyPI package "asyncvarlink", which takes the interface from the types below. The countdown is the daemon's: end
this program and begin it again, and it has gone on. The daemon may be restarted, too: the watch is taken up where it was.
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
length = float(sys.argv[2]) if len(sys.argv) > 2 else 60
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
    """A connection for one call: while a watch goes on, its connection takes no other."""
    transport, protocol = await asyncvarlink.connect_unix_varlink(asyncvarlink.VarlinkClientProtocol, path)
    try:
        yield protocol.make_proxy(Countdowns)
    finally:
        transport.close()


async def start():
    async with connect() as countdowns:
        reply = await countdowns.Start(key=key, durationUSec=round(length * 1_000_000))
    tell(reply["outcome"], reply["countdown"])


def tell(what, countdown):
    print(f"{key}: {what}, {countdown['remainingUSec'] / 1_000_000:.0f} s left", flush=True)


async def follow():
    # All up to this revision has been told; who comes back with it misses nothing.
    since = None
    begun = False
    while True:
        try:
            async with connect() as countdowns:
                async for reply in countdowns.Watch(keys=[key], since=since):
                    for event in reply["events"]:
                        since = event.get("revision") or since
                        match event["type"]:
                            # From now on all is told that happens, so that nothing is missed of what is started.
                            case "synced" if not begun:
                                await start()
                                begun = True
                            case "tick":
                                tell("goes on", event)
                            # asyncvarlink 0.3.3 complains on standard error of a watch that is left.
                            case "finished" | "cancelled" as end:
                                return end
        except OSError as error:
            print(f"no daemon ({error}); trying again", file=sys.stderr)
            await asyncio.sleep(1)


print(f"{key}: {asyncio.run(follow())}")
