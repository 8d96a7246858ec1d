"""The applications that test_middleware.py limits, each made by its framework as its own pages show it."""

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any

import countdownd.asgi
import countdownd.wsgi

Options = dict[str, Any]

def starlette_app(**options: Any) -> Any:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def hello(request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    routes = [Route("/", hello, methods=["GET", "POST", "OPTIONS"])]
    return Starlette(routes=routes, middleware=[Middleware(countdownd.asgi.RateLimit, **options)])


def fastapi_app(**options: Any) -> Any:
    from fastapi import FastAPI

    app = FastAPI()
    app.add_middleware(countdownd.asgi.RateLimit, **options)
    app.get("/")(lambda: "hello")
    return app


def flask_app(**options: Any) -> Any:
    from flask import Flask

    app = Flask("shop")
    app.add_url_rule("/", view_func=lambda: "hello", methods=["GET", "POST", "OPTIONS"])
    app.wsgi_app = countdownd.wsgi.RateLimit(app.wsgi_app, **options)  # type: ignore[method-assign]
    return app


@functools.cache
def _django() -> None:
    import django  # type: ignore[import-untyped]
    from django.conf import settings  # type: ignore[import-untyped]
    from django.http import HttpRequest, HttpResponse  # type: ignore[import-untyped]
    from django.urls import path  # type: ignore[import-untyped]

    def hello(request: HttpRequest) -> HttpResponse:
        return HttpResponse("hello")

    urls = type("urls", (), {"urlpatterns": [path("", hello)]})
    settings.configure(ROOT_URLCONF=urls, ALLOWED_HOSTS=["*"], SECRET_KEY="of the test")
    django.setup()


def django_app(**options: Any) -> Any:
    from django.core.wsgi import get_wsgi_application  # type: ignore[import-untyped]

    _django()
    return countdownd.wsgi.RateLimit(get_wsgi_application(), **options)


def django_async_app(**options: Any) -> Any:
    from django.core.asgi import get_asgi_application  # type: ignore[import-untyped]

    _django()
    return countdownd.asgi.RateLimit(get_asgi_application(), **options)


def plain_app(**options: Any) -> Any:
    def hello(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Length", "5")])
        return [b"hello"]

    return countdownd.wsgi.RateLimit(hello, **options)


def _key(request: Any) -> Any:
    """Requests for /pid are not limited."""
    return {} if request.get("path", request.get("PATH_INFO")) == "/pid" else "all"


#: As many workers ask at once, a call may take longer than 50 ms on a busy machine.
_WORKERS: Options = {"limits": {"all": "100/1h"}, "key": _key, "on_failure": "closed", "timeout": 10}


def asgi_worker() -> Any:
    """For uvicorn: an application for each worker."""
    app = fastapi_app(**_WORKERS)
    app.get("/pid")(os.getpid)
    return app


def wsgi_worker() -> Any:
    """For gunicorn, which makes one before it starts its workers."""
    app = flask_app(**_WORKERS)
    app.add_url_rule("/pid", "pid", lambda: str(os.getpid()))
    return app
