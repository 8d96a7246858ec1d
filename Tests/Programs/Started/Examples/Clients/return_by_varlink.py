"""A countdown that outlives its client, by the PyPI package "varlink": python return_by_varlink.py SOCKET

Each visit is a connection of its own. Prints what the visits were told, a JSON object a line.
"""

import json
import sys

import varlink

address = "unix:" + sys.argv[1]


def visit(action):
    with varlink.Client.new_with_address(address) as client:
        with client.open("io.countdownd") as service:
            return action(service)


def tell(**told):
    print(json.dumps(told), flush=True)


def start(service):
    return service.Start(key="tea", durationUSec=60_000_000)


def restart(service):
    return service.Start(key="tea", durationUSec=100_000, ifRunning="restart")


def follow(service, last, **since):
    """The events of a watch up to the last one."""
    for reply in service.Watch(keys=["tea"], tickUSec=0, _more=True, **since):
        for event in reply["events"]:
            yield event
            if event["type"] == last:
                return


for _ in range(2):
    tell(start=visit(start))
for event in visit(lambda service: list(follow(service, "synced"))):
    tell(event=event)
restarted = visit(restart)
tell(start=restarted)
since = restarted["countdown"]["revision"]
for event in visit(lambda service: list(follow(service, "finished", since=since))):
    tell(event=event)
tell(waited=visit(lambda service: service.Wait(key="tea")))
tell(start=visit(start))
try:
    visit(lambda service: service.Get(key="coffee"))
except varlink.VarlinkError as error:
    tell(error=error.error(), parameters=error.parameters())
