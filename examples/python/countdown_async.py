"""Starts a countdown, or finds it running, and follows it to its end: countdown_async.py KEY [SECONDS]

With the client in clients/python, and asyncio. The countdown belongs to the daemon: stop this program and run it
again, and the countdown is still running. If the daemon restarts, the watch continues and misses no event.
"""

import asyncio
import sys
from datetime import timedelta

import countdownd


def show(key: str, what: str, remaining: timedelta) -> None:
    print(f"{key}: {what}, {remaining.total_seconds():.0f} s left", flush=True)


async def follow(key: str, seconds: float) -> str:
    client = countdownd.AsyncClient()
    is_started = False
    async with client.watch(keys=[key]) as events:
        async for event in events:
            match event.type:
                # From now on the daemon sends every change, so no event of the countdown is missed.
                case "synced" if not is_started:
                    reply = await client.start(key, seconds)
                    show(key, reply.outcome, reply.countdown.remaining)
                    is_started = True
                # The daemon has lost its history, perhaps with the countdown: begin again.
                case "historyTrimmed":
                    is_started = False
                case "disconnected":
                    print(f"{event.error}; trying again", file=sys.stderr)
                case "tick" if event.remaining:
                    show(key, "running", event.remaining)
                case "finished" | "cancelled" as end:
                    return end
                # Its end is not kept, because it was started with `forget`.
                case "forgotten" if is_started:
                    return "ended while the daemon was away"
    raise AssertionError("a watch never ends by itself")


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
print(f"{sys.argv[1]}: {asyncio.run(follow(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60))}")
