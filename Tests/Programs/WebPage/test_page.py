"""The page of examples/web in a real browser: scripts/test-web runs this.

Chromium and its driver are Debian's. Nothing here waits for a minute to pass: a countdown is finished from outside, and
the page shows it.
"""

import asyncio
import contextlib
import functools
import http.server
import importlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients/conformance"))
sys.path.insert(0, str(ROOT / "clients/python/src"))

from fleet import Fleet, free_port  # noqa: E402
from harness import PATIENCE, Daemon, wait_until  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.remote.webelement import WebElement  # noqa: E402
from starlette.requests import Request  # noqa: E402

PICTURES = ROOT / ".build/test-web"


def server_command() -> list[str]:
    """The command of the README that starts the server, with this Python."""
    readme = (ROOT / "examples/web/README.md").read_text()
    (command,) = re.findall(r"^SECRET=.* web/bin/(uvicorn .*)$", readme, re.MULTILINE)
    return [sys.executable, "-m", *shlex.split(command)]


class Backend:
    """examples/web/server.py on a loopback port."""

    def __init__(self, daemon_socket: Path, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.daemon_socket = daemon_socket
        self.log: Any = tempfile.TemporaryFile()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*server_command(), "--port", str(self.port), "--no-access-log"],
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

    def stop(self, signal: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(signal)
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
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    chrome.set_page_load_timeout(PATIENCE)
    return chrome


#: The contrast of what is drawn, as WCAG computes it: of the lines of the boxes, inside and outside, and of the lines in them.
CONTRASTS = """
    const luminance = (color) => {
      const [red, green, blue] = color.match(/[\\d.]+/g).map((part) => {
        const value = part / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (...colors) => {
      const [less, more] = colors.map(luminance).sort((a, b) => a - b);
      return (more + 0.05) / (less + 0.05);
    };
    const card = getComputedStyle(document.querySelector("main")).backgroundColor;
    return [...document.querySelector("code-field").shadowRoot.querySelectorAll(".boxes span")].flatMap((box) => {
      const { borderTopColor, borderTopWidth, backgroundColor } = getComputedStyle(box);
      const line = getComputedStyle(box, "::after");
      if (parseFloat(borderTopWidth) < 1 || parseFloat(line.borderBottomWidth) < 1) return [0];
      return [contrast(borderTopColor, card), contrast(borderTopColor, backgroundColor),
        contrast(line.borderBottomColor, backgroundColor)];
    });
"""


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

    @property
    def text(self) -> str:
        """What the card says, without the components."""
        return str(self.run("return document.querySelector('main').innerText"))

    @property
    def spoken(self) -> str:
        """What the button lets screen readers say."""
        return str(self.run("return document.querySelector('resend-button').shadowRoot.querySelector('output').textContent"))

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


class Visitor:
    """A client of the backend with a session, but without a browser."""

    def __init__(self, backend: Backend) -> None:
        self._url = backend.url
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self._opener.open(f"{self._url}/once").close()

    def post(self, path: str, body: bytes = b"") -> int:
        """The status of the reply."""
        try:
            with self._opener.open(self._url + path, body) as reply:
                return int(reply.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def logs_in(self, code: str) -> bool:
        """Whether the code is accepted."""
        with self._opener.open(f"{self._url}/once/check", code.encode()) as reply:
            return bool(json.load(reply)["right"])


class BadGateway(http.server.ThreadingHTTPServer):
    """A proxy that does not reach its server. `paths` are those it was asked for."""

    def __init__(self, port: int) -> None:
        paths: list[str] = []
        self.paths = paths

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                paths.append(self.path)
                self.send_error(502)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        super().__init__(("127.0.0.1", port), Handler)

    def __enter__(self) -> "BadGateway":
        threading.Thread(target=self.serve_forever).start()
        return self

    def __exit__(self, *arguments: object) -> None:
        self.shutdown()
        self.server_close()


class PageTests(unittest.TestCase):
    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.backend = Backend(self.daemon.socket)
        self.addCleanup(self.backend.close)

    @functools.cached_property
    def chrome(self) -> webdriver.Chrome:
        chrome = browser()
        self.addCleanup(chrome.quit)
        return chrome

    def open(self, path: str = "/", backend: Backend | None = None) -> Page:
        return Page(self.chrome, (backend or self.backend).url + path)

    def key(self) -> str:
        """The key of the only button that counts."""
        (countdown,) = self.daemon.call("List", match=["login/once/*", "login/rate/*"])["countdowns"]
        return str(countdown["key"])

    def emulate(self, **features: str) -> None:
        """What the visitor prefers, for the tab that shows."""
        media = [{"name": name, "value": value} for name, value in features.items()]
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})

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
        page.expect_message("That did not work")
        page.expect("Send code")
        self.daemon.start()
        page.press()
        page.expect("Again in .*")

    def test_a_typed_code_stays_if_the_connection_fails_and_enter_sends_it_again(self) -> None:
        page = self.open()
        page.press()
        page.expect("Again in .*")
        (code,) = self.backend.codes
        self.backend.stop()
        page.type(code)
        page.expect_message("No connection")
        self.assertEqual(page.boxes, list(code))
        self.assertTrue(page.has_focus)
        self.backend.start()
        self.daemon.stop()
        page.type(Keys.ENTER)
        page.expect_message("That did not work")
        self.assertEqual(page.boxes, list(code))
        self.daemon.start()
        page.type(Keys.ENTER)
        wait_until(lambda: "Welcome back!" in page.text)

    def test_what_comes_next_has_the_focus_also_after_a_reload(self) -> None:
        page = self.open()
        focused = "return document.activeElement.localName"
        self.assertEqual(page.run(focused), "resend-button")
        page.press()
        page.expect("Again in .*")
        self.chrome.refresh()
        self.assertEqual(page.run(focused), "code-field")

    def test_a_page_is_told_that_the_daemon_is_away_until_it_is_back(self) -> None:
        page = self.open()
        for _ in range(2):
            self.daemon.stop()
            page.expect_message("The service is away")
            self.daemon.start()
            wait_until(lambda: page.message == "")
        self.daemon.stop()
        other = self.open()
        other.expect_message("The service is away")
        self.daemon.start()
        wait_until(lambda: other.message == "")

    def test_if_a_code_cannot_be_sent_the_button_can_be_pressed_at_once(self) -> None:
        self.backend.log.close()
        self.backend.stop()
        with open("/dev/full", "wb") as full:  # where the codes go
            self.backend.log = full
            self.backend.start()
        page = self.open()
        page.press()
        page.expect_message("That did not work")
        page.expect("Send code|Send a new code")
        self.assertEqual(self.daemon.call("List")["countdowns"], [])
        self.assertIn("Get your code", page.text)

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
        self.assertEqual(len(self.daemon.call("List", match=["login/once/*"])["countdowns"]), 2)

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
        page.paste("12345678")
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
        for _ in range(3):
            page.type("000000" if code != "000000" else "111111")
            page.expect_message("That is not the code")
            wait_until(lambda: page.boxes[0] == "")
        page.type(code)
        wait_until(lambda: "Welcome back!" in page.text)
        late = self.open()
        late.type("000000")
        late.expect_message("Too many tries")

    def test_the_card_changes_with_each_step_and_says_check_your_phone_only_after_a_code_was_sent(self) -> None:
        page = self.open()
        self.assertIn("Get your code", page.text)
        self.assertNotIn("Check your phone", page.text)
        page.press()
        wait_until(lambda: "Check your phone" in page.text)
        self.chrome.refresh()
        self.assertIn("Check your phone", page.text)
        other = self.open()
        self.assertNotIn("Get your code", other.text)
        page.type(self.backend.codes[0])
        wait_until(lambda: "Welcome back!" in page.text)
        self.assertNotIn("Check your phone", page.text)
        self.assertEqual(page.run("return document.activeElement.tagName"), "H1")
        for component in ("resend-button", "code-field"):
            self.assertFalse(page.run("return document.querySelector(arguments[0]).checkVisibility()", component))
        wait_until(lambda: "Get your code" in other.text)

    def test_a_code_is_accepted_once_until_the_next_one_is_sent_and_for_ten_minutes(self) -> None:
        visitor = Visitor(self.backend)
        for path, sends in [("rate", 3), ("once", 1)]:
            for _ in range(sends):
                self.assertEqual(visitor.post(f"/{path}/code"), 200)
        codes = self.backend.codes
        self.assertEqual(len(set(codes)), len(codes))
        self.assertFalse(visitor.logs_in(codes[2]))
        self.assertTrue(visitor.logs_in(codes[3]))
        self.assertFalse(visitor.logs_in(codes[3]))
        self.daemon.call("Finish", key=self.daemon.call("List", match=["login/once/*"])["countdowns"][0]["key"])
        self.assertEqual(visitor.post("/once/code"), 200)
        (validity,) = self.daemon.call("List", match=["login/code/*"])["countdowns"]
        self.assertEqual(validity["durationUSec"], 600_000_000)
        self.assertNotIn(self.backend.codes[-1], json.dumps(validity))
        self.daemon.call("Finish", key=validity["key"])
        self.assertFalse(visitor.logs_in(self.backend.codes[-1]))

    def test_of_five_requests_with_the_right_code_one_is_accepted(self) -> None:
        visitor = Visitor(self.backend)
        visitor.post("/once/code")
        (code,) = self.backend.codes
        answers: list[bool] = []
        threads = [threading.Thread(target=lambda: answers.append(visitor.logs_in(code))) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(sorted(answers), [False] * 4 + [True])

    def test_a_send_that_fails_late_does_not_give_back_the_time_of_the_next_code(self) -> None:
        self.addCleanup(sys.path.remove, str(ROOT / "examples/web"))
        sys.path.insert(0, str(ROOT / "examples/web"))
        with unittest.mock.patch.dict(os.environ, SECRET="secret of the test", COUNTDOWND_SOCKET=str(self.daemon.socket)):
            server = importlib.import_module("server")
            for rule in ("once", "rate"):
                with self.subTest(rule):
                    asyncio.run(asyncio.wait_for(self.fail_late(server, rule), PATIENCE))

    async def fail_late(self, server: Any, rule: str) -> None:
        """Lets a code fail after the next one was sent."""
        sends: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

        async def send(account: str, code: str) -> None:
            sends.put_nowait(outcome := asyncio.get_running_loop().create_future())
            await outcome

        server.send = send
        request = Request({"type": "http", "session": {"account": rule}, "path_params": {"rule": rule}})
        key = f"login/{rule}/{rule}"
        late = asyncio.create_task(server.send_code(request))
        late_outcome = await sends.get()
        if rule == "once":
            self.daemon.call("Finish", key=key)
        following = asyncio.create_task(server.send_code(request))
        (await sends.get()).set_result(None)
        await following
        revisions = [self.daemon.call("Get", key=each)["countdown"]["revision"] for each in (key, f"login/code/{rule}")]
        late_outcome.set_exception(OSError("of the test"))
        with self.assertRaisesRegex(OSError, "of the test"):
            await late
        limit, code = (self.daemon.call("Get", key=each)["countdown"] for each in (key, f"login/code/{rule}"))
        self.assertEqual((code["state"], code["revision"]), ("running", revisions[1]))
        if rule == "once":
            self.assertEqual((limit["state"], limit["revision"]), ("running", revisions[0]))
        else:  # the failure gives back its own time
            self.assertEqual((limit["state"], limit["durationUSec"]), ("running", 1200_000_000))

    def test_odd_codes_are_wrong_codes(self) -> None:
        visitor = Visitor(self.backend)
        visitor.post("/once/code")
        for odd in [b"", b"\xff\xed\xa0\x80", b'{"code": "\\ud800"}', "１２３４５６".encode()]:
            self.assertEqual(visitor.post("/once/check", odd), 200)
        self.assertEqual(visitor.post("/once/check", b"1" * 101), 413)

    def test_one_visitor_cannot_take_all_connections(self) -> None:
        connections = self.daemon.call("GetStatus")["connections"]
        with contextlib.ExitStack() as stack:
            statuses = []
            for _ in range(150):
                stream = stack.enter_context(socket.create_connection(("127.0.0.1", self.backend.port), timeout=PATIENCE))
                stream.sendall(b"GET /once/events HTTP/1.1\r\nHost: test\r\n\r\n")
                statuses.append(stream.recv(4096).split()[1])
            self.assertEqual((statuses.count(b"200"), statuses.count(b"429")), (100, 50))
            self.assertLessEqual(self.daemon.call("GetStatus")["connections"], connections + 1)
            other = stack.enter_context(
                socket.create_connection(("127.0.0.1", self.backend.port), PATIENCE, source_address=("127.0.0.2", 0))
            )
            other.sendall(b"GET /once/events HTTP/1.1\r\nHost: test\r\n\r\n")
            self.assertEqual(other.recv(4096).split()[1], b"200")
        # The places are free again.
        page = self.open()
        page.press()
        page.expect("Again in .*")
        self.daemon.call("Finish", key=self.key())
        page.expect("Send a new code")

    def test_a_tenth_tab_loads_and_every_tab_is_told(self) -> None:
        tabs = [self.open() for _ in range(10)]
        tabs[-1].press()
        for tab in tabs:
            tab.expect("Again in .*")
        self.daemon.call("Finish", key=self.key())
        for tab in tabs:
            tab.expect("Send a new code|Send code")

    def test_after_errors_of_a_proxy_the_page_is_told_again(self) -> None:
        page = self.open()
        page.press()
        page.expect("Again in .*")
        self.backend.stop()
        with BadGateway(self.backend.port) as proxy:
            wait_until(lambda: proxy.paths.count("/once/events") >= 2)
        self.backend.start()
        self.daemon.call("Finish", key=self.key())
        page.expect("Send a new code")

    def test_ctrl_c_stops_the_server_while_a_page_is_open(self) -> None:
        page = self.open()
        page.press()
        page.expect("Again in .*")
        self.backend.stop(signal.SIGINT)
        self.backend.start()

    def test_without_secret_the_server_does_not_start(self) -> None:
        for workers in ["1", "2"]:
            server = subprocess.Popen(
                [*server_command(), "--port", str(free_port()), "--workers", workers],
                cwd=ROOT,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "clients/python/src")},
                stderr=subprocess.PIPE,
            )
            deadline = threading.Timer(PATIENCE, server.kill)
            deadline.start()
            with self.subTest(workers=workers), server:
                assert server.stderr
                self.assertTrue(any(b"SECRET is not set" in line for line in server.stderr))
                server.terminate()
            deadline.cancel()

    def test_a_wrong_code_is_seen_at_the_boxes_and_read_out_until_a_digit_is_typed(self) -> None:
        page = self.open()
        state = """
            const field = document.querySelector("code-field");
            const box = field.shadowRoot.querySelector(".boxes span");
            const { ariaInvalid, ariaDescription } = field.shadowRoot.querySelector("input");
            return [field.matches(":invalid"), ariaInvalid, ariaDescription, getComputedStyle(box).borderTopWidth];
        """
        for _ in range(2):
            page.type("000000")
            page.expect_message("That is not the code.")
            self.assertEqual(page.run(state), [True, "true", "That is not the code.", "2px"])
            page.type("1")
            self.assertEqual(page.run(state), [False, "false", "", "1px"])
            self.assertEqual(page.message, "")
            page.type(Keys.BACKSPACE)
        self.assertEqual(page.run("return document.querySelector('#message').role"), "status")

    def test_it_is_read_out_that_the_button_can_be_pressed_again(self) -> None:
        page = self.open()
        self.assertEqual(page.spoken, "")
        page.press()
        page.expect("Again in .*")
        self.assertEqual(page.spoken, "")
        self.daemon.call("Finish", key=self.key())
        page.expect("Send a new code")
        self.assertEqual(page.spoken, "You can send a new code now.")

    def test_a_strict_policy_for_content_keeps_the_looks(self) -> None:
        page = self.open()
        page.press()
        page.expect("Again in .*")
        with urllib.request.urlopen(f"{self.backend.url}/once") as reply:
            policy = reply.headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(self.chrome.execute("getLog", {"type": "browser"})["value"], [])
        box = "getComputedStyle(document.querySelector('code-field').shadowRoot.querySelector('.boxes span'))"
        button = "getComputedStyle(document.querySelector('resend-button').shadowRoot.querySelector('button'))"
        looks = page.run(f"return [{box}.display, {button}.display, {button}.borderTopLeftRadius]")
        self.assertEqual(looks, ["grid", "flex", "14px"])

    def test_boxes_and_their_lines_can_be_seen_in_light_dark_and_forced_colours(self) -> None:
        page = self.open()
        for name, value in [
            ("prefers-color-scheme", "light"), ("prefers-color-scheme", "dark"), ("forced-colors", "active"),
        ]:
            self.emulate(**{name: value, "prefers-reduced-motion": "reduce"})
            for digits in ["", "12", "000000"]:
                with self.subTest(**{name: value}, digits=digits):
                    page.run("document.querySelector('code-field').clear()")
                    if digits:
                        page.type(digits)
                    if len(digits) == 6:
                        page.expect_message("That is not the code")
                    contrasts = page.run(CONTRASTS)
                    self.assertEqual(len(contrasts), 18)
                    self.assertGreaterEqual(min(contrasts), 3)

    def test_everything_grows_with_the_size_of_the_text(self) -> None:
        page = self.open()
        sizes = """
            document.documentElement.style.fontSize = arguments[0];
            const height = (element) => element.getBoundingClientRect().height;
            const box = document.querySelector("code-field").shadowRoot.querySelector(".boxes span");
            return [...document.querySelectorAll("h1, .sign, resend-button, main"), box].map(height);
        """
        small, large = page.run(sizes, "16px"), page.run(sizes, "24px")
        for before, after in zip(small, large, strict=True):
            self.assertGreaterEqual(after, 1.45 * before)

    def test_without_javascript_the_page_says_so(self) -> None:
        with urllib.request.urlopen(f"{self.backend.url}/once") as reply:
            (sentence,) = re.findall(r"<noscript><p[^>]*>(.*)</p></noscript>", reply.read().decode())
        self.assertIn("needs JavaScript", sentence)

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
            states = (json.loads(line[6:]) for line in events if line.startswith(b"data: "))
            self.assertEqual(next(states), {"waitMs": 0, "wholeMs": 60000, "codes": 1, "isSent": False})
            self.assertEqual(post().status, 200)
            sent = next(state for state in states if state["isSent"])
            self.assertEqual((0 < sent["waitMs"] <= 60000, sent["codes"]), (True, 0))
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
        wait_until(lambda: "Welcome back!" in there.text)

    # From its pictures, scripts/test-web makes the README's.
    def test_a_narrow_and_a_wide_page_fit_and_pictures_of_both_are_taken(self) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name, width, height, scheme in [("light", 600, 500, "light"), ("dark-narrow", 360, 500, "dark")]:
            page = self.open()
            self.chrome.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": False},
            )
            self.emulate(**{"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"})
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
