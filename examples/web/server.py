"""A login page with "send code, again in 60 s": the backend. README.md says how to run it.

The backend keeps nothing. The countdowns are in countdownd, so they outlive it, and the session is a signed cookie. So any
backend with the same SECRET can answer any request.
"""

import contextlib
import dataclasses
import hashlib
import hmac
import json
import os
import secrets
import sys
from datetime import timedelta
from pathlib import Path

import countdownd
from countdownd.starlette import Relay
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parent / "static"
SECRET = os.environ.get("SECRET", "")
if not SECRET:
    sys.exit("SECRET is not set; expected a long random text, the same for all workers and after a restart")
SECOND = timedelta(seconds=1)
#: A code is accepted for this long, once, and until the next one is sent.
VALID = timedelta(minutes=10)
#: The page loads nothing from elsewhere, and has no inline scripts and styles.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

daemon = countdownd.AsyncClient()


def key_of(name: str, account: str) -> str:
    return f"login/{name}/{account}"


@dataclasses.dataclass(frozen=True)
class Rule:
    """At most `up_to` / `duration` codes at once, then one per `duration`."""

    name: str
    rate: str
    duration: timedelta
    up_to: timedelta

    async def state(self, account: str) -> dict[str, int | bool]:
        """For the page: how long the button counts, how many codes may be sent before it does, and whether a code was sent
        that is still accepted."""
        keys = [key_of(self.name, account), key_of("code", account)]
        running = {countdown.key: countdown for countdown in await daemon.list(keys=keys)}
        remaining = running[keys[0]].remaining if keys[0] in running else timedelta(0)
        wait = max(timedelta(0), remaining + self.duration - self.up_to)
        return {
            "waitMs": -(-wait // timedelta(milliseconds=1)),
            "wholeMs": self.duration // timedelta(milliseconds=1),
            "codes": (self.up_to - remaining) // self.duration,
            "isSent": keys[1] in running,
        }


RULES = {
    rule.name: rule
    for rule in (
        Rule("once", "1/60s", timedelta(seconds=60), timedelta(seconds=60)),
        Rule("rate", "3/1h", timedelta(minutes=20), timedelta(minutes=60)),
    )
}
#: Five tries at once, then one per 30 s, so that nobody guesses six digits.
TRIES = "5/150s"


def account_of(request: Request) -> str:
    """The account that the visitor logs in to. It comes from the session: a browser never names a key.

    In your application the password has identified it; here each visitor gets one.
    """
    account: str = request.session.setdefault("account", secrets.token_hex(8))
    return account


def rule_of(request: Request) -> Rule:
    try:
        return RULES[request.path_params["rule"]]
    except KeyError:
        raise HTTPException(404) from None


async def send(account: str, code: str) -> None:
    """Your provider of text messages."""
    print(f"To {account}: your code is {code}", file=sys.stderr, flush=True)


def seal(account: str, code: bytes) -> str:
    """The form in which the daemon keeps a code. Without SECRET, the code cannot be found from it."""
    return hmac.digest(SECRET.encode(), account.encode() + b" " + code, hashlib.sha256).hex()


async def start_code(account: str) -> tuple[str, countdownd.Countdown]:
    """A new code, with the countdown of its validity. The previous code is not accepted any more."""
    code = f"{secrets.randbelow(1_000_000):06}"
    sealed = {"code": seal(account, code.encode())}
    started = await daemon.start(key_of("code", account), VALID, if_running="restart", metadata=sealed)
    return code, started.countdown


async def cancel_code(countdown: countdownd.Countdown) -> bool:
    """Ends the validity of a code. Of several calls for one code, only one returns true."""
    try:
        await daemon.cancel(countdown.key, if_revision=countdown.revision)
    except (countdownd.RevisionMismatch, countdownd.WrongState, countdownd.NoSuchCountdown):
        return False
    return True


async def page(request: Request) -> Response:
    """The page, with its state: a visitor who comes back sees the button count on from the first moment."""
    rule, account = rule_of(request), account_of(request)
    state: dict[str, int | bool] = {"waitMs": 0, "wholeMs": 1, "codes": 1, "isSent": False}
    with contextlib.suppress(countdownd.CountdowndError):  # if the daemon is away, the events say the rest once it is back
        state = await rule.state(account)
    html = (STATIC / "page.html").read_text()
    step = "enter" if state["isSent"] else "ask"
    digits = f"{int(account, 16) % 90 + 10}"
    for name, value in [("rule", rule.name), ("step", step), ("digits", digits), ("state", json.dumps(state))]:
        html = html.replace(f"{{{name}}}", value)
    return HTMLResponse(html, headers={"Cache-Control": "no-store", "Content-Security-Policy": POLICY})


async def send_code(request: Request) -> Response:
    """Sends a code, unless the limit says no. Its countdown starts first, so two presses at once send one code; if sending
    fails, its time is given back."""
    rule, account = rule_of(request), account_of(request)
    async with countdownd.limiter(key_of(rule.name, account), rule.rate, client=daemon):
        code, validity = await start_code(account)
        try:
            await send(account, code)
        except Exception:
            await cancel_code(validity)
            raise
    return JSONResponse(await rule.state(account))


async def check_code(request: Request) -> Response:
    """Compares the code, which is the body of the request. A right code is accepted once: the login cancels its countdown.

    The countdowns of the limits run on. They are what a text message costs: if a login cancelled them, a visitor who logs in again
    and again could have any number of messages sent.
    """
    account = account_of(request)
    given = await request.body()
    is_right = False
    async with countdownd.limiter(key_of("tries", account), TRIES, client=daemon):
        with contextlib.suppress(countdownd.NoSuchCountdown):
            validity = await daemon.get(key_of("code", account))
            if validity.state == "running" and hmac.compare_digest(validity.metadata["code"], seal(account, given)):
                is_right = await cancel_code(validity)
    return JSONResponse({"right": is_right})


async def events(request: Request) -> Response:
    """The state of the page, again after each change."""
    rule, account = rule_of(request), account_of(request)
    return relay.page(request, account, lambda: rule.state(account))


async def refused(request: Request, error: Exception) -> Response:
    """Too early: 429, with how long."""
    assert isinstance(error, countdownd.Refused)
    wait = error.retry_after or timedelta(minutes=1)
    state = await rule_of(request).state(account_of(request))
    return JSONResponse(state, 429, {"Retry-After": str(-(-wait // SECOND))})


async def unavailable(request: Request, error: Exception) -> Response:
    """The daemon is away, or cannot store the change."""
    print(error, file=sys.stderr, flush=True)
    return Response(status_code=503, headers={"Retry-After": "1"})


relay = Relay(
    daemon, match=[key_of(name, "*") for name in (*RULES, "code")], topic=lambda key: key.rpartition("/")[2]
)
app = Starlette(
    routes=[
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/", lambda request: RedirectResponse("/once")),
        Route("/{rule}", page),
        Route("/{rule}/code", send_code, methods=["POST"]),
        Route("/{rule}/check", check_code, methods=["POST"], max_body_size=100),
        Route("/{rule}/events", events),
    ],
    middleware=[Middleware(SessionMiddleware, secret_key=SECRET, same_site="strict")],
    exception_handlers={countdownd.Refused: refused, countdownd.CountdowndError: unavailable},
    lifespan=relay.lifespan,
)
