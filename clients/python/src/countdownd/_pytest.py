"""The plugin for pytest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .testing import Daemon


@pytest.fixture
def countdownd_daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """A daemon for the test. Clients without a path use it."""
    with Daemon() as daemon:
        monkeypatch.setenv("COUNTDOWND_SOCKET", daemon.path)
        yield daemon
