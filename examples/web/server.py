"""A login page with "send code, again in 60 s": the backend. README.md says how to run it.

The backend keeps nothing. The countdowns are in countdownd, so they outlive it, and the session is a signed cookie. So any
backend with the same SECRET can answer any request.
"""

import asyncio
import collections
import contextlib
import dataclasses
import hashlib
import hmac
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
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
from starlette.types import Receive, Scope, Send

STATIC = Path(__file__).parent / "static"
SECRET = os.environ.get("SECRET", "")
if not SECRET:
    sys.exit("SECRET is not set; expected a long random text, the same for all workers and after a restart")
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)
#: A code is accepted for this long, once, and until the next one is sent.
VALID = timedelta(minutes=10)
#: The most pages that one network address can keep connected, so that one visitor cannot take all connections.
PAGES_PER_ADDRESS = 100
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
    """At most `up_to` / `duration` times at once, then once per `duration`."""

    name: str
    duration: timedelta
    up_to: timedelta

    async def start(self, account: str) -> countdownd.Countdown:
        """Starts the countdown. Raises AlreadyRunning if it is too early."""
        key = key_of(self.name, account)
        if self.duration == self.up_to:
            started = await daemon.start(key, self.duration, if_running="fail")
        else:
            started = await daemon.start(key, self.duration, if_running="extend", up_to=self.up_to)
        return started.countdown

    async def give_back(self, countdown: countdownd.Countdown) -> None:
        """Takes a start back, unless the countdown has ended or was started again since."""
        with contextlib.suppress(countdownd.RevisionMismatch, countdownd.WrongState, countdownd.NoSuchCountdown):
            by = -(self.duration // MICROSECOND)
            await daemon.call("Adjust", key=countdown.key, byUSec=by, ifRevision=countdown.revision)

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
    """Sends a code, unless the countdown says no. The countdown starts first, so two presses at once send one code; if
    sending fails, its time is given back."""
    rule, account = rule_of(request), account_of(request)
    countdown = await rule.start(account)
    code, validity = await start_code(account)
    try:
        await send(account, code)
    except Exception:
        await cancel_code(validity)
        await rule.give_back(countdown)
        raise
    return JSONResponse(await rule.state(account))


async def check_code(request: Request) -> Response:
    """Compares the code, which is the body of the request. A right code is accepted once."""
    account = account_of(request)
    given = await request.body()
    await TRIES.start(account)
    is_right = False
    with contextlib.suppress(countdownd.NoSuchCountdown):
        validity = await daemon.get(key_of("code", account))
        if validity.state == "running" and hmac.compare_digest(validity.metadata["code"], seal(account, given)):
            is_right = await cancel_code(validity)
    return JSONResponse({"right": is_right})


class Events:
    """Server-sent events: the state of a page, again after each change. One watch of the daemon serves all pages."""

    def __init__(self) -> None:
        self._pages_of: dict[str, set[asyncio.Event]] = collections.defaultdict(set)
        self._pages_at: dict[str, set[asyncio.Event]] = collections.defaultdict(set)

    async def watch(self) -> None:
        """Wakes the pages whose countdowns change, as long as the server runs."""
        # The browsers count by themselves, so there are no ticks.
        async with daemon.watch(match=[key_of(name, "*") for name in (*RULES, "code")], tick=0) as watch:
            try:
                async for event in watch:
                    if event.key:
                        self._wake(event.key.rpartition("/")[2])
                    elif event.type in ("synced", "historyTrimmed"):  # the daemon was away
                        self._wake(*self._pages_of)
            except countdownd.CountdowndError as error:  # one that another attempt does not repair
                print(f"the pages are not told of changes: {error}", file=sys.stderr, flush=True)

    def _wake(self, *accounts: str) -> None:
        for account in accounts:
            for page in self._pages_of.get(account, ()):
                page.set()

    @contextlib.contextmanager
    def _join(self, account: str, address: str) -> Iterator[asyncio.Event]:
        """A page. It is set when a countdown of the account has changed."""
        if len(self._pages_at[address]) >= PAGES_PER_ADDRESS:
            raise HTTPException(429, headers={"Retry-After": "10"})
        page = asyncio.Event()
        places = [(self._pages_of, account), (self._pages_at, address)]
        for pages, name in places:
            pages[name].add(page)
        try:
            yield page
        finally:
            for pages, name in places:
                pages[name].remove(page)
                if not pages[name]:
                    del pages[name]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        rule, account = rule_of(request), account_of(request)
        with self._join(account, request.client.host if request.client else "") as changed:
            headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            states = self._states(rule, account, changed)
            await StreamingResponse(states, media_type="text/event-stream", headers=headers)(scope, receive, send)

    async def _states(self, rule: Rule, account: str, changed: asyncio.Event) -> AsyncIterator[str]:
        yield "retry: 500\n\n"
        while True:
            changed.clear()
            with contextlib.suppress(countdownd.CountdowndError):  # if the daemon is away, the watch wakes this page later
                yield f"data: {json.dumps(await rule.state(account))}\n\n"
            while not changed.is_set():
                try:
                    await asyncio.wait_for(changed.wait(), 15)
                except asyncio.TimeoutError:
                    yield ":\n\n"  # a sign of life, for proxies that close quiet connections


async def refused(request: Request, error: Exception) -> Response:
    """Too early: 429, with how long."""
    assert isinstance(error, countdownd.AlreadyRunning)
    wait = error.retry_after or timedelta(minutes=1)
    state = await rule_of(request).state(account_of(request))
    return JSONResponse(state, 429, {"Retry-After": str(-(-wait // SECOND))})


async def unavailable(request: Request, error: Exception) -> Response:
    """The daemon is away, or cannot store the change."""
    print(error, file=sys.stderr, flush=True)
    return Response(status_code=503, headers={"Retry-After": "1"})


@contextlib.asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    watching = asyncio.create_task(events.watch())
    yield
    watching.cancel()


events = Events()
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
    exception_handlers={countdownd.AlreadyRunning: refused, countdownd.CountdowndError: unavailable},
    lifespan=lifespan,
)
