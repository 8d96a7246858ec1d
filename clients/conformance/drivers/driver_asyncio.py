"""Drives the Python client for asyncio: see clients/conformance/README.md."""

import asyncio
import sys
from typing import Any

import countdownd
import python_values
from python_values import all_arguments, answer, call_arguments, countdown, event, options, serve, started, started_all


class Driver:
    def __init__(self) -> None:
        self.watch: countdownd.AsyncWatch | None = None

    async def perform(self, do: str, parameters: dict[str, Any]) -> list[Any]:
        client = countdownd.AsyncClient(**options(parameters))
        match do:
            case "path":
                return [{"path": client.path}]
            case "message":
                return [{"message": python_values.message}]
            case "start":
                return [started(await client.start(**call_arguments(parameters)))]
            case "startAll":
                return [started_all(await client.start_all(**all_arguments(parameters)))]
            case "get" | "wait" | "cancel":
                return [countdown(await getattr(client, do)(**call_arguments(parameters)))]
            case "list":
                return [[countdown(one) for one in await client.list(**call_arguments(parameters))]]
            case "follow":
                return [[event(step) async for step in client.follow(**call_arguments(parameters))]]
            case "watch":
                self.watch = client.watch(**call_arguments(parameters))
                return [{}]
            case "next":
                assert self.watch
                return [event(await anext(self.watch)) for _ in range(parameters["count"])]
            case _:
                raise ValueError(f"unknown command {do!r}")


driver = Driver()
with asyncio.Runner() as runner:
    for command in serve(sys.stdin):
        answer(lambda: runner.run(driver.perform(*command)))
