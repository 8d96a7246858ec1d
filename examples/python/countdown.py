"""Starts a countdown, or finds it running, and follows it to its end: countdown.py KEY [SECONDS]

With the PyPI package "varlink". The countdown belongs to the daemon: stop this program and run it again, and the
countdown is still running. If the daemon restarts, the program resumes its watch and misses no event.
"""

import contextlib
import os
import sys
import time

import varlink

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
key = sys.argv[1]
duration = float(sys.argv[2]) if len(sys.argv) > 2 else 60
path = os.environ.get("COUNTDOWND_SOCKET") or f"{os.environ['XDG_RUNTIME_DIR']}/countdownd/io.countdownd"


@contextlib.contextmanager
def connect():
    """A connection for one call: calls behind a watch wait until it ends."""
    with varlink.Client.new_with_address(f"unix:{path}") as client, client.open("io.countdownd") as countdowns:
        yield countdowns


def start():
    with connect() as countdowns:
        reply = countdowns.Start(key=key, durationUSec=round(duration * 1_000_000))
    show(reply["outcome"], reply["countdown"])


def show(what, countdown):
    print(f"{key}: {what}, {countdown['remainingUSec'] / 1_000_000:.0f} s left", flush=True)


def follow():
    # All changes up to this revision have been received. A watch with it as "since" misses none.
    since = None
    started = False
    while True:
        try:
            with connect() as countdowns:
                for reply in countdowns.Watch(keys=[key], since=since, _more=True):
                    for event in reply["events"]:
                        since = event.get("revision", since)
                        match event["type"]:
                            # From now on the daemon sends every change, so no event of the countdown is missed.
                            case "synced" if not started:
                                start()
                                started = True
                            case "tick":
                                show("running", event)
                            case "finished" | "cancelled" as end:
                                return end
        except OSError as error:
            print(f"no daemon ({error}); trying again", file=sys.stderr)
            time.sleep(1)


print(f"{key}: {follow()}")
