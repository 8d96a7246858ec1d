"""Measures countdownd beside Redis, line by line, and writes docs/performance.md with its plots.

Every server runs on a private directory, which is removed. With --lines, some lines are measured, and with --quick all of them
for a moment each: both are printed, and nothing is written. The lines `expiry` (40 minutes for five rounds) and `expiry-alone`
(two) are measured only if they are named; each of them alone writes its part of the page. With --before, the daemon of another
build is measured in the place of Redis, in turn with this one; nothing is written.
"""

import argparse
import os
import signal
import subprocess
import sys
import time

from benchmark import plots, report
from benchmark.lines import APART, LINES, ONCE, TURNS
from benchmark.trial import Trial
from servers import ROOT, need, one_of, program

# The errors of a line after which the next one is measured.
FAILURES = (RuntimeError, OSError, EOFError, subprocess.TimeoutExpired)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="how often each line is measured: 5, with --quick once")
    parser.add_argument("--lines", nargs="+", metavar="NAME", type=lambda name: one_of(LINES | APART, name), default=[],
                        help="of: " + ", ".join(LINES | APART))
    parser.add_argument("--quick", action="store_true", help="a trial; its figures say nothing")
    parser.add_argument("--programs", type=os.path.abspath, default=os.path.join(ROOT, "bin"),
                        help="the folder of the release build")
    parser.add_argument("--before", type=os.path.abspath, metavar="FOLDER", help="the folder of an older build, instead of Redis")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.load = program(os.path.join(ROOT, "Tests/Bench/.build/release/countdown-load"))
    need(*(f"{options.programs}/{name}" for name in ("countdownd", "countdownctl", "countdownd-redis")), "redis-server", "redis-cli")
    if options.before:
        need(f"{options.before}/countdownd")
        options.lines = options.lines or list(TURNS)
        if others := [name for name in options.lines if name not in TURNS]:
            parser.error(f"--before cannot measure {', '.join(others)}: use {', '.join(TURNS)}")
    return options


def measure(trial, options):
    """Measures each line in each round; returns whether all succeeded."""
    succeeded = True
    for name in options.lines or LINES:
        rounds = 1 if name in ONCE else options.rounds
        for number in range(rounds):
            print(f"{time.strftime('%T')} {name}, round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            try:
                (LINES | APART)[name](trial)
            except FAILURES as failure:
                print(f"bench: {name}: {failure}", file=sys.stderr, flush=True)
                succeeded = False
    return succeeded


def end_waiting(*_):
    raise TimeoutError("a program has not ended in time")


def main():
    signal.signal(signal.SIGALRM, end_waiting)
    options = arguments()
    circumstances = report.circumstances(options.programs, options.rounds)
    trial = Trial(options.programs, options.load, options.quick, options.before)
    succeeded = measure(trial, options)
    tables = report.tables(trial)
    print("\n\n".join(tables.values()))
    if not succeeded:
        sys.exit("bench: some lines could not be measured, and nothing is written")
    if options.quick or options.before:
        return
    if not options.lines:
        report.write_page({**tables, "Trial": circumstances()})
        plots.draw_growth(trial)
    elif len(options.lines) == 1 and options.lines[0] in APART:
        name = options.lines[0].capitalize()
        report.write_page({name: tables["Expiry"], f"Trial: {name}": circumstances()})
        if name == "Expiry":
            plots.draw_expiry(trial)
