"""Measures how many starts a second the Python client makes.

Each line has a daemon of its own, which shares the machine with the client, so the figures are those of both.
"""

import asyncio
import concurrent.futures
import os
import sys
import time

from servers import ROOT, Daemon, parser_of, temporary

sys.path.insert(0, os.path.join(ROOT, "clients/python/src"))

import countdownd  # noqa: E402

COUNT = 20_000


def start(client, number):
    return client.start(f"bench/{number % 1000}", 3600, if_running="restart", forget=True)


def blocking(path):
    client = countdownd.Client(path)
    for number in range(COUNT):
        start(client, number)


def threads(path):
    client = countdownd.Client(path)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: start(client, number), range(COUNT)))


async def awaiting(path):
    async with countdownd.AsyncClient(path) as client:
        for number in range(COUNT):
            await start(client, number)


async def tasks(path):
    async with countdownd.AsyncClient(path) as client:
        await asyncio.gather(*(start(client, number) for number in range(COUNT)))


LINES = {
    "blocking, one after the other": blocking,
    "blocking, 8 threads": threads,
    "asyncio, one after the other": lambda path: asyncio.run(awaiting(path)),
    "asyncio, all tasks at once": lambda path: asyncio.run(tasks(path)),
}


def main():
    options = parser_of(__doc__).parse_args()
    for name, run in LINES.items():
        with temporary() as directory, Daemon(options.daemon, directory) as daemon:
            begun = time.perf_counter()
            run(daemon.socket)
            print(f"{name}: {COUNT / (time.perf_counter() - begun):,.0f} starts a second", flush=True)
