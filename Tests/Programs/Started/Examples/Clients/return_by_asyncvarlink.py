"""A countdown that outlives its client, by the PyPI package "asyncvarlink": python return_by_asyncvarlink.py SOCKET

It has no parser for definitions: the types below are what it holds the replies against, strictly. Each visit is a
connection of its own. Prints what the visits were told, a JSON object a line.
"""

import asyncio
import collections.abc
import json
import sys
import typing

from asyncvarlink import (
    GenericVarlinkErrorReply,
    VarlinkClientProtocol,
    VarlinkInterface,
    connect_unix_varlink,
    varlinkmethod,
)


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


class Countdowns(VarlinkInterface, name="io.countdownd"):
    @varlinkmethod
    def Start(
        self,
        *,
        key: str,
        durationUSec: int | None = None,
        ifRunning: str | None = None,
    ) -> Started: ...

    @varlinkmethod(return_parameter="countdown")
    def Get(self, *, key: str) -> Countdown: ...

    @varlinkmethod(return_parameter="countdown")
    def Wait(self, *, key: str) -> Countdown: ...

    @varlinkmethod(return_parameter="events")
    def Watch(
        self,
        *,
        keys: list[str],
        tickUSec: int | None = None,
        since: int | None = None,
    ) -> collections.abc.Iterator[list[Event]]: ...


async def visit(action):
    transport, protocol = await connect_unix_varlink(
        VarlinkClientProtocol, sys.argv[1]
    )
    try:
        return await action(protocol.make_proxy(Countdowns))
    finally:
        transport.close()


def tell(**told):
    print(json.dumps(told), flush=True)


def start(service):
    return service.Start(key="tea", durationUSec=60_000_000)


def restart(service):
    return service.Start(key="tea", durationUSec=100_000, ifRunning="restart")


async def follow(service, last, **since):
    """The events of a watch up to the last one."""
    events = []
    async for reply in service.Watch(keys=["tea"], tickUSec=0, **since):
        for event in reply["events"]:
            events.append(event)
            if event["type"] == last:
                return events


async def main():
    for _ in range(2):
        tell(start=await visit(start))
    for event in await visit(lambda service: follow(service, "synced")):
        tell(event=event)
    restarted = await visit(restart)
    tell(start=restarted)
    since = restarted["countdown"]["revision"]
    for event in await visit(lambda service: follow(service, "finished", since=since)):
        tell(event=event)
    tell(waited=await visit(lambda service: service.Wait(key="tea")))
    tell(start=await visit(start))
    try:
        await visit(lambda service: service.Get(key="coffee"))
    except GenericVarlinkErrorReply as error:
        tell(error=error.name, parameters=error.parameters)


asyncio.run(main())
