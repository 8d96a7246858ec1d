"""Starts a countdown, or finds it running, and follows it to its end: countdown.py KEY [SECONDS]

With the client in clients/python. The countdown belongs to the daemon: stop this program and run it again, and the countdown
is still running. If the daemon restarts, the program counts on and misses no end.
"""

import sys

import countdownd

if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
key, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60
for step in countdownd.Client().follow(key, seconds):
    said = "running" if step.type == "tick" else step.type
    to = sys.stderr if step.type == "away" else sys.stdout
    print(f"{key}: {said}, {step.remaining.total_seconds():.0f} s left", file=to, flush=True)
