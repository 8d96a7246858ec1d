"""Checked by mypy and never run: the types of the Python clients, as a program uses them."""

from datetime import timedelta

import countdownd
import countdownd.asgi
import countdownd.wsgi


def use(client: countdownd.Client) -> timedelta | None:
    started = client.start("tea", rate="5/1h", if_running="wait", queue_up_to=1)
    if started.outcome == "forgotten":  # type: ignore[comparison-overlap]
        return None
    countdown = client.resume(client.pause("tea").key, if_revision=1)
    if countdown.state == "boiling" or countdown.clock == "cuckoo":  # type: ignore[comparison-overlap]
        return client.adjust("tea", by=-timedelta(seconds=5)).remaining
    client.start("tea", if_running="perhaps")  # type: ignore[arg-type]
    for event in client.watch(keys=["tea"]):
        if event.type == "finnished":  # type: ignore[comparison-overlap]
            return None
        if event.type == "finished":
            return event.late
    all = client.start_all([countdownd.Cooldown("sms/138", 60), countdownd.Cooldown("ip/1", rate="20/1h")], dry_run=True)
    return all.retry_after if not all.accepted else all.rooms[0].more


async def use_async(client: countdownd.AsyncClient) -> timedelta | None:
    async with client, client.watch() as events:
        async for event in events:
            if event.type == "finnished":  # type: ignore[comparison-overlap]
                return (await client.get("tea")).remaining
    return (await client.status()).started - (await client.finish("tea")).started


async def follow(client: countdownd.Client, other: countdownd.AsyncClient) -> timedelta | None:
    for step in client.follow("tea", 300, if_running="restart", tick=0):
        if step.type == "finnished":  # type: ignore[comparison-overlap]
            return step.late
    async for step in other.follow("tea", missing_ok=True):
        return step.remaining
    other.follow("tea", duration="5")  # type: ignore[arg-type]
    return None


async def account(scope: countdownd.asgi.Scope) -> tuple[str, int]:
    return scope["user"].name, 1


def limit(app: countdownd.asgi.App, wsgi: countdownd.wsgi.App, client: countdownd.Client) -> int | None:
    for key in (countdownd.asgi.address, lambda scope: {"a": 5, "b": None}):
        countdownd.asgi.RateLimit(app, limits={"a": "1/1s"}, key=key, on_failure="open")
    countdownd.asgi.RateLimit(app, limits={"a": "1/1s"}, key=account, on_failure="open", cost=lambda scope: 2)
    countdownd.asgi.RateLimit(app, limits={"a": "1/1s"}, key=lambda scope: 1.5, on_failure="open")  # type: ignore[arg-type,return-value]
    countdownd.asgi.RateLimit(app, limits={"a": "1/1s"}, key=lambda scope: object(), on_failure="open")  # type: ignore[arg-type,return-value]
    countdownd.wsgi.RateLimit(wsgi, limits={"a": "1/1s"}, key=countdownd.wsgi.address, on_failure="closed")
    countdownd.wsgi.RateLimit(wsgi, limits={"a": "1/1s"}, key=account, on_failure="closed")  # type: ignore[arg-type]
    with countdownd.limiter({"a": "1/1s"}, values=("b", 5), on_failure="open") as taken:
        taken.counts = not taken.rooms
    if (ended := client.wait("tea", missing_ok=True)) is not None:
        return ended.revision
    return client.wait("tea").revision
