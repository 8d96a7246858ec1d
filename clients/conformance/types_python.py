"""Checked by mypy and never run: the types of the Python clients, as a program uses them."""

from datetime import timedelta

import countdownd


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
