"""Drives the blocking Python client: see clients/conformance/README.md."""

import sys
from typing import Any

import countdownd
import python_values
from python_values import all_arguments, answer, call_arguments, countdown, event, options, serve, started, started_all


class Driver:
    def __init__(self) -> None:
        self.watch: countdownd.Watch | None = None

    def perform(self, do: str, parameters: dict[str, Any]) -> list[Any]:
        client = countdownd.Client(**options(parameters))
        match do:
            case "path":
                return [{"path": client.path}]
            case "message":
                return [{"message": python_values.message}]
            case "start":
                return [started(client.start(**call_arguments(parameters)))]
            case "startAll":
                return [started_all(client.start_all(**all_arguments(parameters)))]
            case "get" | "wait" | "cancel":
                return [countdown(getattr(client, do)(**call_arguments(parameters)))]
            case "list":
                return [[countdown(one) for one in client.list(**call_arguments(parameters))]]
            case "follow":
                return [[event(step) for step in client.follow(**call_arguments(parameters))]]
            case "watch":
                self.watch = client.watch(**call_arguments(parameters))
                return [{}]
            case "next":
                assert self.watch
                return [event(next(self.watch)) for _ in range(parameters["count"])]
            case _:
                raise ValueError(f"unknown command {do!r}")


driver = Driver()
for command in serve(sys.stdin):
    answer(lambda: driver.perform(*command))
