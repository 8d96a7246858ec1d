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
        machine = _follow.Following(
            follow["key"], parameters, missing_ok=follow.get("missingOk", False), token=TABLE["token"]
        )
        for number, row in enumerate(scenario["rows"]):
            self.assertFalse(machine.is_over)
            raised, acts = None, []
            try:
                acts += self.put(machine, row["in"])
            except _errors.CountdowndError as error:
                raised = type(error).__name__
            if machine.must_start and not machine.is_over:
                pause = round(machine.delay() * 1_000_000)
                made = {name: value for name, value in machine.request(at(row["in"])).items() if value is not None}
                acts.append({"act": "start", "afterUSec": pause, "parameters": made})
            if machine.is_over:
                acts.append({"act": "close"})
            place = f"row {number}: {row['in']}"
            self.assertEqual(raised, row.get("raises"), place)
            self.assertEqual(acts, row["acts"], place)
            self.check_steps([*machine.steps], row["steps"], place)
            machine.steps.clear()

    def put(self, machine: _follow.Following, given: dict[str, Any]) -> list[dict[str, Any]]:
        if reply := given.get("reply"):
            machine.answer(_calls.started({**reply, "countdown": countdown(reply["countdown"])}))
        elif error := given.get("error"):
            return [{"act": "rewatch"}] if machine.refuse(error_of(error), at(given)) else []
        else:
            machine.receive(self.event(given["event"]), at(given), self.listed(given))
        return []

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


def at(given: dict[str, Any]) -> float:
    return float(given.get("atUSec", 1_700_000_000_000_000) / 1_000_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
