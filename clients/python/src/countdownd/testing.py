"""A daemon for tests, and a clock that they advance. For pytest, the package has the fixture `countdownd_daemon`."""

from __future__ import annotations

import contextlib
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


class Daemon:
    """A daemon with its own folder, which ends with the `with`. Clients use its socket, `path`."""

    def __init__(self, program: str | os.PathLike[str] | None = None) -> None:
        """The program is `$COUNTDOWND_PROGRAM` or the `countdownd` in `$PATH` if none is given."""
        found = shutil.which(program or os.environ.get("COUNTDOWND_PROGRAM") or "countdownd")
        if found is None:
            raise FileNotFoundError("no program countdownd in $PATH; install countdownd, or set $COUNTDOWND_PROGRAM")
        self._program = found
        self._folder = tempfile.mkdtemp(prefix="countdownd-")
        self._process: subprocess.Popen[bytes] | None = None
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
        if self._process:
            self._process.kill()
            self._process.wait()

    @property
    def log(self) -> str:
        """What it has logged."""
        with open(f"{self._folder}/log", errors="replace") as log:
            return log.read()

    def advance(self, duration: Duration) -> None:
        """Lets time pass for all running countdowns: those whose deadline comes finish, in the order of their deadlines, and
        queued calls are served. Their durations get shorter too, so what `max_duration` still allows is as before. Paused
        countdowns, start times and the system's clock stay as they are."""
        left = timedelta(microseconds=microseconds(duration))
        with Client(self.path) as client:
            while running := sorted(client.list(states=["running"]), key=lambda one: one.remaining):
                step = min(left, running[0].remaining)
                left -= step
                for one in running:
                    with contextlib.suppress(WrongState, NoSuchCountdown):  # it has just ended
                        client.adjust(one.key, -step)
                if not left:
                    return
