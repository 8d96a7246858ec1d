"""The table of `follow`, with the state machine of the Python client."""

import json
import sys
import unittest
from pathlib import Path
from typing import Any

from harness import PYTHON_CLIENT

sys.path.insert(0, str(PYTHON_CLIENT))
from countdownd import _calls, _errors, _follow
from countdownd._types import Event, Step

TABLE = json.loads((Path(__file__).parent / "follow.json").read_text())


def countdown(name: str) -> dict[str, Any]:
    found: dict[str, Any] = TABLE["countdowns"][name]
    return found


def error_of(wire: dict[str, Any]) -> _errors.CountdowndError:
    kind: type[_errors.CountdowndError] = getattr(_errors, wire["name"])
    if not issubclass(kind, _errors.CallError):
        return kind("of the table")
    parameters = {**wire, "reason": "of the table"}
    if "countdown" in wire:
        parameters["countdown"] = countdown(wire["countdown"])
    return kind(wire["name"], parameters)


class TableTests(unittest.TestCase):
    maxDiff = None

    def test_each_row_of_the_table_has_its_acts_and_steps(self) -> None:
        for scenario in TABLE["scenarios"]:
            with self.subTest(scenario["name"]):
                self.check(scenario)

    def check(self, scenario: dict[str, Any]) -> None:
        follow = scenario["follow"]
        parameters = follow["start"] and {
            **dict.fromkeys(["durationUSec", "deadlineUSec", "ifRunning", "metadata", "forget"]),
            **follow["start"],
            "key": follow["key"],
        }
        now = 0.0
        machine = _follow.Following(
            follow["key"], parameters, follow.get("missingOk", False), TABLE["token"], clock=lambda: now
        )
        generator = machine.acts()
        self.assertIsNone(next(generator))
        for number, row in enumerate(scenario["rows"]):
            place = f"row {number}: {row['in']}"
            now = row["in"].get("atUSec", 1_700_000_000_000_000) / 1_000_000
            acts, steps, raised = self.put(generator, self.sent(row["in"]))
            self.assertEqual(raised, row.get("raises"), place)
            self.assertEqual(acts, row["acts"], place)
            self.check_steps(steps, row["steps"], place)

    def put(self, generator: Any, sent: Any) -> tuple[list[Any], list[Step], str | None]:
        """The acts and steps until the next input, and the error."""
        acts: list[Any] = []
        steps: list[Step] = []
        try:
            act = generator.send(sent)
            while isinstance(act, Step | Exception):
                steps += [act] if isinstance(act, Step) else []
                acts += [{"act": "rewatch"}] if isinstance(act, Exception) else []
                act = next(generator)
        except StopIteration:
            return [*acts, {"act": "close"}], steps, None
        except _errors.CountdowndError as error:
            return [*acts, {"act": "close"}], steps, type(error).__name__
        if act:
            made = {name: value for name, value in act.parameters.items() if value is not None}
            acts.append({"act": "start", "afterUSec": round(act.pause * 1_000_000), "parameters": made})
        return acts, steps, None

    def sent(self, given: dict[str, Any]) -> Any:
        if reply := given.get("reply"):
            return _calls.started({**reply, "countdown": countdown(reply["countdown"])})
        if error := given.get("error"):
            return error_of(error)
        return self.event(given["event"]), self.listed(given)

    def event(self, wire: dict[str, Any]) -> Event:
        if wire["type"] == "disconnected":
            return Event("disconnected", error=error_of({"name": wire["error"], "limit": "connections", "maximum": 9}))
        full = {**wire, "countdown": countdown(wire["countdown"])} if "countdown" in wire else wire
        return Event.from_wire(full)

    def listed(self, given: dict[str, Any]) -> Any:
        return _calls.countdown({"countdown": countdown(given["listed"])}) if "listed" in given else None

    def check_steps(self, steps: list[Step], rows: list[dict[str, Any]], place: str) -> None:
        self.assertEqual([step.type for step in steps], [row["type"] for row in rows], place)
        for step, row in zip(steps, rows):
            if "countdown" not in row:
                self.assertIsNone(step.countdown, place)
                continue
            known = _calls.countdown({"countdown": countdown(row["countdown"])})
            assert step.countdown
            for name in ("state", "started", "deadline", "revision", "metadata"):
                self.assertEqual(getattr(step.countdown, name), getattr(known, name), place)
            if "remainingUSec" in row:
                self.assertEqual(step.remaining.total_seconds() * 1_000_000, row["remainingUSec"], place)
            late = None if step.late is None else step.late.total_seconds() * 1_000_000
            self.assertEqual(late, row.get("lateUSec"), place)


if __name__ == "__main__":
    unittest.main(verbosity=2)
