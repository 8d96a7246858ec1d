"""Starts a countdown, or finds it running, and follows it to its end: countdown.py KEY [SECONDS]

With the PyPI package "varlink". The countdown is the daemon's: end this program and begin it again, and it has gone on.
The daemon may be restarted, too: the watch is taken up where it was.
"""

import contextlib
import os
import sys
import time

import varlink

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
key = sys.argv[1]
length = float(sys.argv[2]) if len(sys.argv) > 2 else 60
path = os.environ.get("COUNTDOWND_SOCKET") or f"{os.environ['XDG_RUNTIME_DIR']}/countdownd/io.countdownd"


@contextlib.contextmanager
def connect():
    """A connection for one call: while a watch goes on, its connection takes no other."""
    with varlink.Client.new_with_address(f"unix:{path}") as client, client.open("io.countdownd") as countdowns:
        yield countdowns


def start():
    with connect() as countdowns:
        reply = countdowns.Start(key=key, durationUSec=round(length * 1_000_000))
    tell(reply["outcome"], reply["countdown"])


def tell(what, countdown):
    print(f"{key}: {what}, {countdown['remainingUSec'] / 1_000_000:.0f} s left", flush=True)


def follow():
    # All up to this revision has been told; who comes back with it misses nothing.
    since = None
    begun = False
    while True:
        try:
            with connect() as countdowns:
                for reply in countdowns.Watch(keys=[key], since=since, _more=True):
                    for event in reply["events"]:
                        since = event.get("revision", since)
                        match event["type"]:
                            # From now on all is told that happens, so that nothing is missed of what is started.
                            case "synced" if not begun:
                                start()
                                begun = True
                            case "tick":
                                tell("goes on", event)
                            case "finished" | "cancelled" as end:
                                return end
        except OSError as error:
            print(f"no daemon ({error}); trying again", file=sys.stderr)
            time.sleep(1)


print(f"{key}: {follow()}")
