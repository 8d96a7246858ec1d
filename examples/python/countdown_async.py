"""Starts a countdown, or finds it running, and follows it to its end: countdown_async.py KEY [SECONDS]

With the client in clients/python, and asyncio. The countdown belongs to the daemon: stop this program and run it again, and
the countdown is still running. If the daemon restarts, the program counts on and misses no end.
"""

import asyncio
import sys

import countdownd


async def follow(key: str, seconds: float) -> None:
    async for step in countdownd.AsyncClient().follow(key, seconds):
        said = "running" if step.type == "tick" else step.type
        to = sys.stderr if step.type == "away" else sys.stdout
        print(f"{key}: {said}, {step.remaining.total_seconds():.0f} s left", file=to, flush=True)


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
asyncio.run(follow(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60))
