"""The page of examples/web in a real browser: scripts/test-web runs this.

Chromium and its driver are Debian's. Nothing here waits for a minute to pass: a countdown is finished from outside, and
the page shows it.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients/conformance"))
sys.path.insert(0, str(ROOT / "clients/python/src"))

from fleet import Fleet, free_port  # noqa: E402
from harness import PATIENCE, Daemon, wait_until  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402

PICTURES = ROOT / ".build/test-web"


class Backend:
    """examples/web/server.py on a loopback port."""

    def __init__(self, daemon_socket: Path, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.daemon_socket = daemon_socket
        self.log: Any = tempfile.TemporaryFile()
        self.start()

    def start(self) -> None:
        command = "-m uvicorn --app-dir examples/web server:app --no-access-log --timeout-graceful-shutdown 0"
        self.process = subprocess.Popen(
            [sys.executable, *command.split(), "--port", str(self.port)],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT / "clients/python/src"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "SECRET": "secret of the test",
                "COUNTDOWND_SOCKET": str(self.daemon_socket),
            },
            stderr=self.log,
        )
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE):
                return True
        except ConnectionRefusedError:
            return False

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)

    def close(self) -> None:
        self.stop()
        self.log.close()

    @property
    def codes(self) -> list[str]:
        """The codes that were sent."""
        self.log.seek(0)
        return re.findall(r"your code is (\d{6})", self.log.read().decode())


def browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    for argument in ["headless=new", "no-sandbox", "disable-dev-shm-usage", "force-color-profile=srgb", "hide-scrollbars"]:
        options.add_argument(f"--{argument}")
    options.add_argument("--window-size=900,760")
    return webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))


class Page:
    """A tab of the browser that shows the page. Its methods switch to the tab."""

    def __init__(self, chrome: webdriver.Chrome, url: str) -> None:
        self.chrome = chrome
        chrome.switch_to.new_window("tab")
        self.tab = chrome.current_window_handle
        chrome.get(url)

    def run(self, script: str, *arguments: Any) -> Any:
        self.chrome.switch_to.window(self.tab)
        return self.chrome.execute_script(script, *arguments)

    def in_shadow(self, component: str, selector: str) -> WebElement:
        self.chrome.switch_to.window(self.tab)
        found: WebElement = self.chrome.execute_script(
            "return document.querySelector(arguments[0]).shadowRoot.querySelector(arguments[1])", component, selector
        )
        return found

    @property
    def title(self) -> str:
        """The title of the button."""
        return str(self.run("return document.querySelector('resend-button').shadowRoot.querySelector('span').textContent"))

    @property
    def seconds(self) -> int:
        """What remains, as the button shows it; 0 if it does not count."""
        match = re.fullmatch(r"Again in (\d+):(\d\d)", self.title)
        return int(match[1]) * 60 + int(match[2]) if match else 0

    def press(self) -> None:
        self.in_shadow("resend-button", "button").click()

    def expect(self, title: str) -> None:
        try:
            wait_until(lambda: re.fullmatch(title, self.title) is not None)
        except AssertionError:
            raise AssertionError(f"the title is {self.title!r}, not {title!r}") from None

    def counts_on(self) -> None:
        """Waits until it shows less than now."""
        before = self.seconds
        assert before > 0, self.title
        wait_until(lambda: 0 < self.seconds < before)

    @property
    def message(self) -> str:
        return str(self.run("return document.querySelector('#message').textContent"))

    def expect_message(self, text: str) -> None:
        wait_until(lambda: text in self.message)

    # The code field

    def type(self, keys: str) -> None:
        self.run("document.querySelector('code-field').focus()")
        self.in_shadow("code-field", "input").send_keys(keys)

    def paste(self, text: str) -> None:
        self.run(
            """const data = new DataTransfer();
            data.setData("text", arguments[1]);
            const input = document.querySelector("code-field").shadowRoot.querySelector("input");
            input.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));""",
            None,
            text,
        )

    @property
    def boxes(self) -> list[str]:
        """The text of each box."""
        script = "return [...document.querySelector('code-field').shadowRoot.querySelectorAll('.boxes span')]"
        return list(self.run(f"{script}.map((box) => box.textContent)"))

    @property
    def has_focus(self) -> bool:
        return bool(self.run("return document.activeElement === document.querySelector('code-field')"))


class PageTests(unittest.TestCase):
    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.backend = Backend(self.daemon.socket)
        self.addCleanup(self.backend.close)
        self.chrome = browser()
        self.addCleanup(self.chrome.quit)

    def open(self, path: str = "/", backend: Backend | None = None) -> Page:
        return Page(self.chrome, (backend or self.backend).url + path)

    def key(self) -> str:
        """The key of the only countdown that runs."""
        (countdown,) = self.daemon.call("List")["countdowns"]
        return str(countdown["key"])

    def test_it_counts_on_whatever_the_visitor_leaves_or_the_operator_stops(self) -> None:
        page = self.open()
        page.expect("Send code")
        page.press()
        page.expect("Again in 1:00|Again in 0:59")
        page.press()
        page.counts_on()
        self.chrome.refresh()
        self.assertTrue(0 < page.seconds < 60, page.title)
        other = self.open()
        self.assertLessEqual(abs(other.seconds - page.seconds), 1)
        other.press()
        self.assertEqual(len(self.backend.codes), 1)

        self.backend.stop()
        page.counts_on()
        self.daemon.stop(signal.SIGKILL)
        page.counts_on()
        self.backend.start()
        page.counts_on()
        late = self.open()
        late.expect("Send code")  # no daemon: nothing is known yet
        self.daemon.start()
        late.expect("Again in .*")
        self.assertLessEqual(abs(late.seconds - page.seconds), 1)

        # The page that was there all the time is connected again, too.
        self.daemon.call("Finish", key=self.key())
        for each in (page, other, late):
            each.expect("Send a new code|Send code")
        other.press()
        for each in (page, other, late):
            each.expect("Again in .*")
        self.assertEqual(len(self.backend.codes), 2)

    def test_a_title_that_is_set_while_it_counts_shows_afterwards(self) -> None:
        page = self.open()
        page.press()
        page.expect("Again in .*")
        page.run("document.querySelector('resend-button').setAttribute('again', 'Once more')")
        self.assertRegex(page.title, "Again in .*")
        self.daemon.call("Finish", key=self.key())
        page.expect("Once more")

    def test_a_press_without_a_daemon_says_so_and_the_button_can_be_pressed_again(self) -> None:
        page = self.open()
        self.daemon.stop()
        page.press()
        page.expect_message("No connection")
        page.expect("Send code")
        self.daemon.start()
        page.press()
        page.expect("Again in .*")

    def test_if_a_code_cannot_be_sent_the_button_can_be_pressed_at_once(self) -> None:
        self.backend.log.close()
        self.backend.stop()
        with open("/dev/full", "wb") as full:  # where the codes go
            self.backend.log = full
            self.backend.start()
        page = self.open()
        page.press()
        page.expect_message("No connection")
        page.expect("Send code|Send a new code")
        self.assertEqual(self.daemon.call("List")["countdowns"], [])

    def test_each_session_has_its_own_button_and_a_browser_cannot_choose_the_key(self) -> None:
        page = self.open()
        page.press()
        page.expect("Again in .*")
        key = self.key()
        self.chrome.delete_all_cookies()
        stranger = self.open(f"/once?key={key}&account={key}")
        stranger.expect("Send code")
        stranger.press()
        stranger.expect("Again in .*")
        self.assertEqual(len(self.daemon.call("List")["countdowns"]), 2)

    def test_the_code_field_cuts_what_is_too_much_and_leaves_when_it_is_full(self) -> None:
        page = self.open()
        page.run("document.addEventListener('full', (event) => { window.full = event.detail; event.stopPropagation(); }, true)")
        page.type("12x3")
        self.assertEqual(page.boxes, ["1", "2", "3", "", "", ""])
        page.type(Keys.BACKSPACE)
        self.assertEqual(page.boxes, ["1", "2", "", "", "", ""])
        page.type("34567")
        self.assertEqual(page.boxes, list("123456"))
        self.assertFalse(page.has_focus)
        self.assertEqual(page.run("return window.full"), "123456")
        page.paste("99 12345678")
        self.assertEqual(page.boxes, list("345678"))
        page.paste("Code 654321, valid 10 min")
        self.assertEqual(page.boxes, list("654321"))
        page.run("document.querySelector('code-field').length = 4")
        self.assertEqual(page.boxes, [""] * 4)
        page.type("12")
        page.run("document.querySelector('code-field').setAttribute('gap', 20)")
        self.assertEqual(page.boxes, [""] * 4)

    def test_the_code_that_was_sent_is_accepted_also_after_restarts_and_guesses_are_refused(self) -> None:
        page = self.open()
        page.type("000000")
        page.expect_message("That is not the code")
        page.press()
        page.expect("Again in .*")
        (code,) = self.backend.codes
        self.backend.stop()
        self.daemon.restart(signal.SIGKILL)
        self.backend.start()
        page.type(code)
        page.expect_message("Welcome back")
        page.run("document.querySelector('code-field').clear()")
        for _ in range(4):
            page.type("000000")
            wait_until(lambda: page.boxes[0] == "")
        page.expect_message("Too many tries")

    def test_three_codes_are_sent_at_once_and_then_one_per_20_minutes(self) -> None:
        page = self.open("/rate")
        for left in ["2 codes left", "1 code left"]:
            page.press()
            wait_until(lambda: left in page.run("return document.querySelector('#codes').textContent"))
            self.assertEqual(page.title, "Send a new code")
        page.press()
        page.expect("Again in (20:00|19:5.)")
        self.assertEqual(len(self.backend.codes), 3)
        # Twenty minutes later there is room for one.
        self.daemon.call("Adjust", key=self.key(), byUSec=-1200_000_000)
        page.expect("Send a new code")
        page.press()
        page.expect("Again in (20:00|19:5.)")
        self.assertEqual(len(self.backend.codes), 4)

    def test_server_sent_events_and_retry_after_are_what_other_clients_expect(self) -> None:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        post: Callable[[], Any] = lambda: opener.open(f"{self.backend.url}/once/code", b"")  # noqa: E731
        with opener.open(f"{self.backend.url}/once/events") as events:
            self.assertEqual(events.headers["Content-Type"], "text/event-stream; charset=utf-8")
            lines = (line for line in events if line.startswith(b"data: "))
            self.assertEqual(next(lines), b'data: {"waitMs": 0, "wholeMs": 60000, "codes": 1}\n')
            self.assertEqual(post().status, 200)
            self.assertEqual(next(lines), b'data: {"waitMs": 60000, "wholeMs": 60000, "codes": 0}\n')
            with self.assertRaises(urllib.error.HTTPError) as refused:
                post()
            self.assertEqual((refused.exception.code, refused.exception.headers["Retry-After"]), (429, "60"))

    def test_two_backends_of_a_fleet_have_one_button(self) -> None:
        fleet = Fleet.start(self)
        first, second = (Backend(socket) for socket in fleet.sockets)
        self.addCleanup(first.close)
        self.addCleanup(second.close)
        # One site, as behind a load balancer: cookies do not distinguish ports.
        here, there = self.open(backend=first), self.open(backend=second)
        here.press()
        for page in (here, there):
            page.expect("Again in .*")
        self.assertLessEqual(abs(here.seconds - there.seconds), 1)
        there.press()
        here.run("return fetch('/once/code', { method: 'POST' }).then((reply) => { window.status_ = reply.status; })")
        wait_until(lambda: here.run("return window.status_") == 429)
        self.assertEqual((len(first.codes), len(second.codes)), (1, 0))
        there.type(first.codes[0])
        there.expect_message("Welcome back")

    # From its pictures, scripts/test-web makes the README's.
    def test_a_narrow_and_a_wide_page_fit_and_pictures_of_both_are_taken(self) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name, width, height, scheme in [("light", 600, 500, "light"), ("dark-narrow", 360, 500, "dark")]:
            page = self.open()
            self.chrome.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": False},
            )
            features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
            self.chrome.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": name, "value": value} for name, value in features.items()]},
            )
            if not page.seconds:
                page.press()
                page.expect("Again in .*")
                self.daemon.call("Adjust", key=self.key(), byUSec=-18_000_000)
            page.expect("Again in 0:[34].")
            page.type("138")
            self.assertLessEqual(page.run("return document.documentElement.scrollWidth"), width)
            self.chrome.save_screenshot(str(PICTURES / f"{name}.png"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
