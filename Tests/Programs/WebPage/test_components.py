"""The web components of examples/web pass the cases of Tests/Core/Controls/Cases, as the controls in Swift do."""

import functools
import http.server
import json
import threading
import unittest
from typing import Any

from selenium.webdriver.common.keys import Keys
from test_page import ROOT, browser

#: The page's clock stands still until the test moves it on, and calls what is due.
CLOCK = """
    const timers = new Map();
    let now = 1000, last = 0;
    performance.now = () => now;
    window.setTimeout = (call, delay = 0) => { timers.set(++last, { call, at: now + delay }); return last; };
    window.clearTimeout = (timer) => timers.delete(timer);
    window.moveClock = (milliseconds) => {
      const end = now + milliseconds;
      const next = () => [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      for (let due; (due = next()); ) {
        const [timer, { call, at }] = due;
        timers.delete(timer);
        now = Math.max(now, at);
        call();
      }
      now = end;
    };
    return Promise.all(["resend-button", "code-field"].map((name) => import(`/${name}.js`)));
"""

BUTTON = """
    document.body.replaceChildren(window.button = document.createElement("resend-button"));
    window.sent = 0;
    button.action = () => new Promise((succeed, fail) => { sent += 1; window.actions = { succeed, fail }; });
    window.addEventListener("unhandledrejection", (event) => event.preventDefault());
"""

#: Performs a step, and returns whether it was sent, the state and the title.
BUTTON_STEP = """
    const step = arguments[0], before = sent;
    const inner = button.shadowRoot.querySelector("button");
    if ("press" in step) inner.click();
    if ("succeed" in step) actions.succeed();
    if ("fail" in step) actions.fail(new Error("of the case"));
    if ("count" in step) button.count(step.count);
    if ("wait" in step) moveClock(step.wait);
    for (const [title, text] of Object.entries(step.titles ?? {})) {
      button.setAttribute(title === "idle" ? "label" : title, text);
    }
    // Later than what waits for the action.
    return new Promise((done) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => done([
      sent > before, button.state, button.shadowRoot.querySelector("span").textContent, inner.ariaDisabled,
    ])))));
"""

FIELD = """
    document.body.replaceChildren(window.field = document.createElement("code-field"));
    if (arguments[0]) field.length = arguments[0];
    field.addEventListener("full", (event) => { window.full = event.detail; });
"""

FIELD_STEP = """
    const step = arguments[0], input = field.shadowRoot.querySelector("input");
    if ("paste" in step) {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", step.paste);
      input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }
    if ("fill" in step) {
      input.value = step.fill;
      input.dispatchEvent(new InputEvent("input", { inputType: "insertReplacementText", bubbles: true }));
    }
    if ("length" in step) field.length = step.length;
    if ("spacing" in step) field.setAttribute("gap", step.spacing);
    const boxes = [...field.shadowRoot.querySelectorAll(".boxes span")];
    return {
      boxes: boxes.map((box) => box.textContent).join(""), value: field.value, full: window.full, count: boxes.length,
      filled: boxes.filter((box) => box.className === "filled").length,
      cursor: boxes.findIndex((box) => box.className === "cursor"), hasFocus: document.activeElement === field,
    };
"""


class ComponentTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = str(ROOT / "examples/web/static")
        handler = functools.partial(_Files, directory=folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever).start()
        self.chrome = browser()
        self.addCleanup(self.chrome.quit)
        self.chrome.get(f"http://127.0.0.1:{server.server_port}/")
        self.run_script(CLOCK)

    def run_script(self, script: str, *arguments: Any) -> Any:
        return self.chrome.execute_script(script, *arguments)

    def test_each_case_of_the_button(self) -> None:
        for case in cases("button"):
            self.run_script(BUTTON)
            self.run_script(BUTTON_STEP, {"titles": case["titles"]})
            for number, step in enumerate(case["steps"], start=1):
                with self.subTest(case["name"], step=number):
                    is_sent, state, title, is_disabled = self.run_script(BUTTON_STEP, step)
                    self.assertEqual(is_sent, step.get("press", False))
                    self.assertEqual(state, step.get("state", state))
                    self.assertEqual(title, step.get("title", title))
                    self.assertEqual(is_disabled == "true", state in ("sending", "counting"))

    def test_each_case_of_the_field(self) -> None:
        for case in cases("code-field"):
            self.run_script(FIELD, case.get("length"))
            length = case.get("length", 4)
            for number, step in enumerate(case["steps"], start=1):
                with self.subTest(case["name"], step=number):
                    self.run_script("window.full = null")
                    if keys := step.get("type", "") + Keys.BACKSPACE * step.get("backspace", 0):
                        self.type(keys)
                    length = step.get("length", length)
                    expected = step["boxes"]
                    shown = self.run_script(FIELD_STEP, step)
                    self.assertEqual((shown["boxes"], shown["value"]), (expected, expected))
                    self.assertEqual((shown["full"], shown["count"]), (step.get("full"), length))
                    self.assertEqual(shown["filled"], len(expected))
                    self.assertEqual(shown["cursor"], len(expected) if len(expected) < length else -1)
                    if shown["full"]:
                        self.assertFalse(shown["hasFocus"])

    def type(self, keys: str) -> None:
        self.run_script("field.focus()")
        self.run_script("return field.shadowRoot.querySelector('input')").send_keys(keys)


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def cases(name: str, least: int = 10) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / f"Tests/Core/Controls/Cases/{name}.json").read_text())["cases"]
    assert len(found) > least
    return found


if __name__ == "__main__":
    unittest.main(verbosity=2)
