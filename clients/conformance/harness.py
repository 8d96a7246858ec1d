"""A driver of a client, the daemon, and a server that answers by a script."""

import contextlib
import json
import os
import queue
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("COUNTDOWND_EXECUTABLES", ROOT / ".build/debug"))
#: The folder of the Python package.
PYTHON_CLIENT = Path(os.environ.get("COUNTDOWND_PYTHON_CLIENT", ROOT / "clients/python/src"))
#: The longest wait for anything that has to come.
PATIENCE = 20.0

_FOLDER = Path(__file__).parent / "drivers"
DRIVERS = {
    "python": [sys.executable, str(_FOLDER / "driver_sync.py")],
    "asyncio": [sys.executable, str(_FOLDER / "driver_asyncio.py")],
    "node": ["node", str(_FOLDER / "driver_node.js")],
    "swift": [str(BUILT / "client-driver")],
}


def wait_until(condition: Callable[[], bool]) -> None:
    """Asks again and again until the condition is met."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"not met within {PATIENCE} s"


class Driver:
    """A program that makes calls with one of the clients."""

    def __init__(self, client: str, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            DRIVERS[client],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PYTHON_CLIENT), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, do: str, **parameters: Any) -> None:
        """Gives a command without waiting for its result."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"do": do, **parameters}).encode() + b"\n")
        self.process.stdin.flush()

    def result(self) -> Any:
        """The next result."""
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"no result within {PATIENCE} s") from None
        if not line:
            raise AssertionError("the driver has ended")
        return json.loads(line)

    def do(self, do: str, **parameters: Any) -> Any:
        self.send(do, **parameters)
        return self.result()

    def next(self) -> dict[str, Any]:
        """The next event of the watch."""
        event: dict[str, Any] = self.do("next", count=1)
        return event

    def next_of(self, *types: str) -> dict[str, Any]:
        """The next event of one of these types."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if (event := self.next())["type"] in types:
                return event
        raise AssertionError(f"no {types} within {PATIENCE} s")

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Daemon:
    """The real daemon, with a folder of its own, in which it can be started again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.socket = self.folder / "socket"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with ready:
            address = self.folder / "notify"
            address.unlink(missing_ok=True)
            ready.bind(str(address))
            ready.settimeout(PATIENCE)
            self.process = subprocess.Popen(
                [BUILT / "countdownd", "--socket", self.socket, "--state-directory", self.folder / "state"],
                env={"NOTIFY_SOCKET": str(address)},
                stderr=subprocess.DEVNULL,
            )
            while b"READY=1" not in ready.recv(4096):
                pass

    def stop(self, signal: signal.Signals = signal.SIGTERM) -> None:
        assert self.process
        self.process.send_signal(signal)
        self.process.wait(PATIENCE)

    def restart(self, signal: signal.Signals) -> None:
        self.stop(signal)
        self.start()

    def lose_store(self) -> None:
        """Stops the daemon and removes everything that it keeps."""
        self.stop()
        shutil.rmtree(self.folder / "state")

    @contextlib.contextmanager
    def connection(self) -> Iterator["Peer"]:
        with socket.socket(socket.AF_UNIX) as connected:
            connected.connect(str(self.socket))
            yield Peer(connected)

    def call(self, method: str, **parameters: Any) -> Any:
        with self.connection() as peer:
            peer.write({"method": f"io.countdownd.{method}", "parameters": parameters})
            return peer.read()["parameters"]

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder)


class Peer:
    """One side of a connection."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.socket.settimeout(PATIENCE)
        self._received = b""

    def read(self) -> Any:
        """The next message. Raises ConnectionError if there is none."""
        while b"\0" not in self._received:
            data = self.socket.recv(1 << 16)
            if not data:
                raise ConnectionError
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)

    def write(self, message: Any) -> None:
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def events(self, *events: Any) -> None:
        self.write({"parameters": {"events": events}, "continues": True})

    def wait_for_end(self) -> None:
        """Waits until the client has closed the connection."""
        with contextlib.suppress(ConnectionResetError):
            while self.socket.recv(1 << 16):
                pass

    def write_until_full(self, message: bytes, most: int) -> int:
        """Sends the message again and again until the client has not read for a second, or `most` bytes were sent."""
        sent = 0
        self.socket.setblocking(False)
        while sent < most and select.select([], [self.socket], [], 1)[1]:
            with contextlib.suppress(BlockingIOError):
                sent += self.socket.send(message)
        self.socket.setblocking(True)
        return sent


Script = Callable[[Peer, dict[str, Any]], None]


class FakeDaemon:
    """A server that gives each connection, with its call, to the next function of a script. The connection ends when the
    function returns. After the last one nothing listens any more."""

    def __init__(self, *script: Script) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.socket = self.folder / "socket"
        #: The parameters of the calls, and when they came.
        self.calls: list[dict[str, Any]] = []
        self.times: list[float] = []
        self._errors: list[BaseException] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._serve, args=script)]
        self._threads[0].start()

    def _serve(self, *script: Script) -> None:
        with self._listener:
            for function in script:
                self._listener.settimeout(PATIENCE)
                try:
                    connected, _ = self._listener.accept()
                    peer = Peer(connected)
                    call = peer.read()
                    self.times.append(time.monotonic())
                    self.calls.append(call)
                    # A thread, because a watch lasts while other calls are made.
                    self._threads.append(threading.Thread(target=self._answer, args=(function, peer, call)))
                    self._threads[-1].start()
                except (OSError, ValueError) as error:
                    self._errors.append(error)
                    return

    def _answer(self, function: Script, peer: Peer, call: dict[str, Any]) -> None:
        with peer.socket:
            try:
                function(peer, call.get("parameters", {}))
            except BaseException as error:
                self._errors.append(error)

    def wait_for_end_of(self, number: int) -> None:
        """Waits until the connection with this number has ended; the first is 0."""
        self._threads[number + 1].join(PATIENCE)

    def finish(self) -> None:
        """Waits for the end of the script. Raises its first error."""
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the script has not ended"
        if self._errors:
            raise self._errors[0]

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self.folder)


class ServerTests(unittest.TestCase):
    """Tests whose servers end with them."""

    def daemon(self) -> Daemon:
        daemon = Daemon()
        self.addCleanup(daemon.close)
        return daemon

    def fake(self, *script: Any) -> FakeDaemon:
        fake = FakeDaemon(*script)
        self.addCleanup(fake.close)
        return fake
