"""A login page with "send code, again in 60 s": the backend. README.md says how to run it.

The backend keeps nothing. The countdowns are in countdownd, so they outlive it; the session is a signed cookie; and the code is
computed from the account and the start of its countdown. So any backend with the same SECRET can answer any request.
"""

import contextlib
import dataclasses
import hashlib
import hmac
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import countdownd
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parent / "static"
SECRET = os.environ.get("SECRET") or secrets.token_hex()
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
#: A code is accepted for this long.
VALID = timedelta(minutes=10)

daemon = countdownd.AsyncClient()


@dataclasses.dataclass(frozen=True)
class Rule:
    """At most `up_to` / `duration` times at once, then once per `duration`."""

    name: str
    duration: timedelta
    up_to: timedelta

    def key(self, account: str) -> str:
        return f"login/{self.name}/{account}"

    async def start(self, account: str) -> countdownd.Countdown:
        """Starts the countdown. Raises AlreadyRunning if no code may be sent now."""
        if self.duration == self.up_to:
            started = await daemon.start(self.key(account), self.duration, if_running="fail")
        else:
            started = await daemon.start(self.key(account), self.duration, if_running="extend", up_to=self.up_to)
        return started.countdown

    def state(self, countdown: countdownd.Countdown | None) -> dict[str, int]:
        """How long the button counts, and how many codes may be sent before it does."""
        remaining = timedelta(0)
        if countdown and countdown.state in ("running", "paused"):
            remaining = countdown.remaining
        wait = max(timedelta(0), remaining + self.duration - self.up_to)
        return {
            "waitMs": -(-wait // timedelta(milliseconds=1)),
            "wholeMs": self.duration // timedelta(milliseconds=1),
            "codes": (self.up_to - remaining) // self.duration,
        }


RULES = {
    rule.name: rule
    for rule in (
        Rule("once", timedelta(seconds=60), timedelta(seconds=60)),
        Rule("rate", timedelta(minutes=20), timedelta(minutes=60)),
    )
}
#: Five tries at once, then one per 30 s, so that nobody guesses six digits.
TRIES = Rule("tries", timedelta(seconds=30), timedelta(seconds=150))


def account_of(request: Request) -> str:
    """The account that the visitor logs in to. It comes from the session: a browser never names a key.

    In your application the password has identified it; here each visitor gets one.
    """
    account: str = request.session.setdefault("account", secrets.token_hex(8))
    return account


def code_for(account: str, countdown: countdownd.Countdown) -> str:
    digest = hmac.digest(SECRET.encode(), f"{account} {countdown.started.isoformat()}".encode(), hashlib.sha256)
    return f"{int.from_bytes(digest[:8], 'big') % 1_000_000:06}"


async def send(account: str, code: str) -> None:
    """Your provider of text messages."""
    print(f"To {account}: your code is {code}", file=sys.stderr, flush=True)


async def countdown_of(rule: Rule, account: str) -> countdownd.Countdown | None:
    with contextlib.suppress(countdownd.NoSuchCountdown):
        return await daemon.get(rule.key(account))
    return None


def rule_of(request: Request) -> Rule:
    try:
        return RULES[request.path_params["rule"]]
    except KeyError:
        raise HTTPException(404) from None


async def page(request: Request) -> Response:
    """The page, with what remains: a visitor who comes back sees the button count on from the first moment."""
    rule = rule_of(request)
    account = account_of(request)
    countdown = None
    with contextlib.suppress(countdownd.CountdowndError):  # if the daemon is away, the events say the rest once it is back
        countdown = await countdown_of(rule, account)
    html = (STATIC / "page.html").read_text()
    digits = f"{int(account, 16) % 90 + 10}"
    for name, value in [("rule", rule.name), ("digits", digits), ("state", json.dumps(rule.state(countdown)))]:
        html = html.replace(f"{{{name}}}", value)
    return HTMLResponse(html, headers={"Cache-Control": "no-store"})


async def send_code(request: Request) -> Response:
    """Sends a code, unless the countdown says no. The countdown starts first, so two presses at once send one code; if
    sending fails, its time is given back."""
    rule = rule_of(request)
    account = account_of(request)
    countdown = await rule.start(account)
    try:
        await send(account, code_for(account, countdown))
    except Exception:
        await daemon.call("Adjust", key=rule.key(account), byUSec=-(rule.duration // MICROSECOND))
        raise
    return JSONResponse(rule.state(countdown))


async def check_code(request: Request) -> Response:
    """Compares the code."""
    rule = rule_of(request)
    account = account_of(request)
    try:
        given = str((await request.json())["code"])
    except (ValueError, KeyError, TypeError):
        raise HTTPException(400) from None
    await TRIES.start(account)
    countdown = await countdown_of(rule, account)
    is_right = (
        countdown is not None
        and datetime.now(timezone.utc) - (countdown.ended or countdown.started) < VALID
        and hmac.compare_digest(given.encode(), code_for(account, countdown).encode())
    )
    return JSONResponse({"right": is_right})


async def events(request: Request) -> Response:
    """Relays the watch of the visitor's countdown as server-sent events, one for each new state."""
    states = relay(rule_of(request), account_of(request))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(states, media_type="text/event-stream", headers=headers)


async def relay(rule: Rule, account: str) -> AsyncIterator[str]:
    yield "retry: 500\n\n"
    countdown: countdownd.Countdown | None = None
    # The browser counts by itself, so there are no ticks. The heartbeat notices browsers that are gone.
    async with daemon.watch(keys=[rule.key(account)], tick=0, heartbeat=15) as watch:
        async for event in watch:
            if event.type == "historyTrimmed":
                countdown = None  # the current state follows
            elif event.type == "heartbeat":
                yield ":\n\n"
            elif event.countdown or (event.type == "synced" and countdown is None):
                countdown = event.countdown
                yield f"data: {json.dumps(rule.state(countdown))}\n\n"


async def refused(request: Request, error: Exception) -> Response:
    """Too early: 429, with how long."""
    assert isinstance(error, countdownd.AlreadyRunning)
    wait = error.retry_after or timedelta(minutes=1)
    state = rule_of(request).state(error.countdown) if request.url.path.endswith("/code") else {}
    return JSONResponse(state, 429, {"Retry-After": str(-(-wait // SECOND))})


async def unavailable(request: Request, error: Exception) -> Response:
    """The daemon is away, or cannot store the change."""
    print(error, file=sys.stderr, flush=True)
    return Response(status_code=503, headers={"Retry-After": "1"})


app = Starlette(
    routes=[
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/", lambda request: RedirectResponse("/once")),
        Route("/{rule}", page),
        Route("/{rule}/code", send_code, methods=["POST"]),
        Route("/{rule}/check", check_code, methods=["POST"]),
        Route("/{rule}/events", events),
    ],
    middleware=[Middleware(SessionMiddleware, secret_key=SECRET, same_site="strict")],
    exception_handlers={countdownd.AlreadyRunning: refused, countdownd.CountdowndError: unavailable},
)
