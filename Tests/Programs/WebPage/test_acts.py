"""The page of examples/web with its backend passes the cases of Tests/Core/Controls/Cases/press.json, as KeyedButton in Swift does."""

import importlib
import os
import sys
import threading
import unittest
import unittest.mock
from typing import Any

import uvicorn
from test_page import ROOT, Page, browser  # its path finds the modules of the clients
from fleet import free_port
from harness import Daemon, wait_until
from test_components import cases

#: A page that does not show is told nothing.
HIDE = """
    Object.defineProperty(document, "hidden", { value: true });
    document.dispatchEvent(new Event("visibilitychange"));
"""


class ActTests(unittest.TestCase):
    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.enterContext(unittest.mock.patch.object(sys, "path", [str(ROOT / "examples/web"), *sys.path]))
        environment = {"SECRET": "secret of the test", "COUNTDOWND_SOCKET": str(self.daemon.socket)}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        sys.modules.pop("server", None)
        self.server: Any = importlib.import_module("server")
        self.acts: list[str] = []
        self.fails = False
        self.observe()
        config = uvicorn.Config(self.server.app, port=free_port(), log_level="critical", timeout_graceful_shutdown=1)
        uvicorn_server = uvicorn.Server(config)
        thread = threading.Thread(target=uvicorn_server.run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(setattr, uvicorn_server, "should_exit", True)
        wait_until(lambda: uvicorn_server.started)
        self.url = f"http://127.0.0.1:{config.port}"
        self.chrome = browser()
        self.addCleanup(self.chrome.quit)

    def observe(self) -> None:
        """Notes the acts of the backend."""
        call = self.server.daemon.call

        async def noted(method: str, **parameters: Any) -> Any:
            reply = await call(method, **parameters)
            if method == "StartAll" and parameters["cooldowns"][0]["key"].startswith("login/once/") and reply["accepted"]:
                self.acts.append("hold")
            if method in ("Cancel", "Adjust") and parameters["key"].startswith("login/once/"):
                self.acts.append("give back")
            return reply

        async def send(account: str, code: str) -> None:
            self.acts.append("act")
            if self.fails:
                raise OSError("of the test")

        self.server.daemon.call = noted
        self.server.send = send

    def test_each_case(self) -> None:
        for case in cases("press", 5):
            self.chrome.get(self.url)
            self.chrome.delete_all_cookies()
            page = None
            first = self.chrome.current_window_handle
            for number, step in enumerate(case["steps"], start=1):
                with self.subTest(case["name"], step=number):
                    self.acts.clear()
                    self.fails = step.get("fails", False)
                    page = self.do(step["do"], page)
                    wait_until(lambda: len(self.acts) >= len(step["acts"]) and self.state(page) != "sending")
                    wait_until(lambda: (self.state(page) == "counting") == step["counts"])
                    self.assertEqual(self.acts, step["acts"])
            for tab in self.chrome.window_handles:
                self.chrome.switch_to.window(tab)
                if tab != first:
                    self.chrome.close()
            self.chrome.switch_to.window(first)

    def do(self, what: str, page: Page | None) -> Page:
        if what == "open" or page is None:
            return Page(self.chrome, self.url)
        if what == "end":
            for running in self.daemon.call("List", match=["login/once/*"])["countdowns"]:
                self.daemon.call("Finish", key=running["key"])
        elif what.startswith("elsewhere"):
            if what.endswith("unseen"):
                page.run(HIDE)
            other = Page(self.chrome, self.url)
            other.press()
            wait_until(lambda: self.state(other) == "counting")
        else:
            button = page.in_shadow("resend-button", "button")
            for _ in range(2 if what == "twice" else 1):
                page.run("arguments[0].click()", button)
        return page

    def state(self, page: Page | None) -> str:
        assert page
        return str(page.run("return document.querySelector('resend-button').state"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
