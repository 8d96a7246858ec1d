"""Two daemons that share their countdowns through one redis-server, all on loopback and in a folder of their own."""

import os
import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import countdownd
from harness import BUILT, PATIENCE, ROOT, wait_until

_BRIDGES = [Path(os.environ.get("COUNTDOWND_EXECUTABLES", "/")), ROOT / "FleetBridge/.build/release", ROOT / "bin"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Fleet:
    """Its `sockets` are those of the daemons."""

    def __init__(self, bridge: Path, folder: Path) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        port = free_port()
        self._start("redis-server", "--bind", "127.0.0.1", "--port", str(port), "--appendonly", "yes", "--dir", folder)
        (folder / "url").write_text(f"redis://127.0.0.1:{port}/")
        (folder / "url").chmod(0o600)
        self.sockets = [self._start_host(bridge, folder / name) for name in ("a", "b")]

    @classmethod
    def start(cls, test: unittest.TestCase) -> "Fleet":
        """A fleet that ends with the test. Skips the test if the bridge is not built."""
        bridge = next((path for path in (folder / "countdownd-redis" for folder in _BRIDGES) if path.exists()), None)
        if not bridge:
            test.skipTest("make build-fleet builds the bridge")
        folder = Path(tempfile.mkdtemp())
        test.addCleanup(shutil.rmtree, folder)
        fleet = cls(bridge, folder)
        test.addCleanup(fleet.stop)
        return fleet

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait(PATIENCE)

    def _start(self, *command: str | Path) -> None:
        self._processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def _start_host(self, bridge: Path, folder: Path) -> Path:
        folder.mkdir(0o700)
        backend, daemon = folder / "backend", folder / "socket"
        self._start(bridge, "--url-file", folder.parent / "url", "--listen", backend)
        wait_until(backend.exists)
        self._start(BUILT / "countdownd", "--backend", backend, "--socket", daemon, "--state-directory", folder / "state")
        client = countdownd.Client(str(daemon))

        def follows() -> bool:
            try:
                client.start("trial", 0.001, if_running="restart", forget=True)
            except countdownd.CountdowndError:
                return False
            return True

        wait_until(follows)
        return daemon
