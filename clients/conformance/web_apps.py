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
def _django_urls() -> Any:
    import django  # type: ignore[import-untyped]
    from django.conf import settings  # type: ignore[import-untyped]

    urls = type("urls", (), {})
    settings.configure(ROOT_URLCONF=urls, ALLOWED_HOSTS=["*"], SECRET_KEY="of the test")
    django.setup()
    return urls


def _django(view: Any = None) -> None:
    """A site whose page is the view."""
    urls = _django_urls()
    from django.http import HttpResponse  # type: ignore[import-untyped]
    from django.urls import clear_url_caches, path  # type: ignore[import-untyped]

    def hello(request: Any) -> HttpResponse:
        return HttpResponse("hello")

    urls.urlpatterns = [path("", view or hello), path("free", hello)]
    clear_url_caches()


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


def fastapi_route(**options: Any) -> Any:
    import countdownd.fastapi
    from fastapi import Depends, FastAPI

    app = FastAPI()
    app.get("/", dependencies=[Depends(countdownd.fastapi.RouteLimit(**options))])(lambda: "hello")
    app.get("/free")(lambda: "hello")
    return app


def starlette_route(**options: Any) -> Any:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    limit = Middleware(countdownd.asgi.RateLimit, **options)
    routes = [Route("/", lambda request: PlainTextResponse("hello"), middleware=[limit])]
    return Starlette(routes=[*routes, Route("/free", lambda request: PlainTextResponse("hello"))])


def flask_route(**options: Any) -> Any:
    import countdownd.flask
    from flask import Flask

    app = Flask("shop")
    app.add_url_rule("/", "limited", countdownd.flask.RouteLimit(**options)(lambda: "hello"))
    app.add_url_rule("/free", "free", lambda: "hello")
    return app


def django_site(view: Any) -> Any:
    from django.core.wsgi import get_wsgi_application

    _django(view)
    return get_wsgi_application()


def django_route(**options: Any) -> Any:
    import countdownd.django
    from django.http import HttpResponse

    return django_site(countdownd.django.RouteLimit(**options)(lambda request: HttpResponse("hello")))


def django_async_route(**options: Any) -> Any:
    from django.core.asgi import get_asgi_application
    from django.http import HttpResponse

    import countdownd.django

    async def hello(request: Any) -> HttpResponse:
        return HttpResponse("hello")

    _django(countdownd.django.RouteLimit(**options)(hello))
    return get_asgi_application()


def _key(request: Any) -> Any:
    """Requests for /pid are not limited."""
    return {} if request.get("path", request.get("PATH_INFO")) == "/pid" else "all"


#: A daemon with all checks on a machine that compiles may take longer than the 500 ms of the default for 2,000 calls.
_WORKERS: Options = {"limits": {"all": "100/1h"}, "key": _key, "on_failure": "open", "timeout": 10}


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
