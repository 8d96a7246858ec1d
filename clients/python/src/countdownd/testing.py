"""A daemon for tests, and a clock that they advance. For pytest, the package has the fixture `countdownd_daemon`."""

from __future__ import annotations

import contextlib
import heapq
import os
import shutil
import subprocess
import tempfile
import time
from datetime import timedelta

from ._errors import Disconnected, NoSuchCountdown, StorageFailed, WrongState
from ._sync import Client
from ._types import Duration, microseconds

_START_LIMIT = 10.0
_ZERO = timedelta()
#: Kills the daemon and removes its folder when its input ends, because the process that holds the other end of it has ended.
_WATCHDOG = 'read -r _; kill -9 "$1"; rm -rf "$2"'


class Daemon:
    """A daemon with its own folder, which ends with the `with`, and at the latest with this process, also if that is killed.
    Clients use its socket, `path`."""

    def __init__(self, program: str | os.PathLike[str] | None = None) -> None:
        """The program is `$COUNTDOWND_PROGRAM` or the `countdownd` in `$PATH` if none is given."""
        found = shutil.which(program or os.environ.get("COUNTDOWND_PROGRAM") or "countdownd")
        if found is None:
            raise FileNotFoundError("no program countdownd in $PATH; install countdownd, or set $COUNTDOWND_PROGRAM")
        self._program = found
        self._folder = tempfile.mkdtemp(prefix="countdownd-")
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None
        #: The socket.
        self.path = f"{self._folder}/socket"

    def __enter__(self) -> Daemon:
        try:
            self.start()
        except BaseException:
            shutil.rmtree(self._folder)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Starts it, with the countdowns that it had, and waits until it answers."""
        with open(f"{self._folder}/log", "ab") as log:
            command = [self._program, "--socket", self.path, "--state-directory", f"{self._folder}/state"]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        watchdog = ["sh", "-c", _WATCHDOG, "sh", str(self._process.pid), self._folder]
        silent = subprocess.DEVNULL
        self._watchdog = subprocess.Popen(watchdog, stdin=subprocess.PIPE, stdout=silent, stderr=silent, start_new_session=True)
        deadline = time.monotonic() + _START_LIMIT
        while True:
            try:
                with Client(self.path) as client:
                    client.status()
                    return
            except (Disconnected, StorageFailed) as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise RuntimeError(f"countdownd does not start: {self.log}") from error
            time.sleep(0.005)

    def stop(self) -> None:
        """Kills it, as a crash would. It keeps its countdowns."""
        for process in (self._watchdog, self._process):
            if process:
                process.kill()
                process.wait()
        if self._watchdog and self._watchdog.stdin:
            self._watchdog.stdin.close()

    @property
    def log(self) -> str:
        """What it has logged."""
        with open(f"{self._folder}/log", errors="replace") as log:
            return log.read()

    def advance(self, duration: Duration) -> None:
        """Lets time pass for all running countdowns: those whose deadline comes finish, in the order of their deadlines, and
        queued calls are served. Their durations get shorter too, so what `max_duration` still allows is as before. Paused
        countdowns, start times and the system's clock stay as they are."""
        whole = timedelta(microseconds=microseconds(duration))
        with Client(self.path) as client:
            # When each countdown ends, and since when it runs, counted from now.
            ends = [(one.remaining, _ZERO, one.key) for one in client.list(states=["running"])]
            heapq.heapify(ends)
            while ends and ends[0][0] <= whole:
                end, since, key = heapq.heappop(ends)
                with contextlib.suppress(WrongState, NoSuchCountdown):  # it has just ended
                    client.adjust(key, since - end)
                for started in client.list(keys=[key], states=["running"]):  # by a call that was queued
                    heapq.heappush(ends, (end + started.remaining, end, key))
            for _, since, key in ends:
                with contextlib.suppress(WrongState, NoSuchCountdown):
                    client.adjust(key, since - whole)
