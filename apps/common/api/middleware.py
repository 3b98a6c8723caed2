"""What holds for every REST address before its view is asked."""

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.generators import SchemaGenerator

from apps.common.api.errors import problem_answer
from apps.common.api.openapi import METHODS, generating

REST = "/api/v1/"
#: What a name in a refusal is cut to.
LONGEST_NAME = 40


class RestAddressMiddleware:
    """Every address with and without its final slash; no query parameter that is not documented.

    A redirect to the slash would lose what is sent: clients follow it with a GET. A parameter that
    is ignored gives everything to somebody who asked for a part.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the slash before the address is looked up."""
        if request.path_info.startswith(REST) and not request.path_info.endswith("/"):
            request.path_info += "/"
            request.path += "/"
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],
        _args: list[Any],
        _kwargs: dict[str, Any],
    ) -> HttpResponse | None:
        """The refusal of the query parameters that the operation does not know, if any."""
        method = "get" if request.method == "HEAD" else str(request.method).lower()
        # Of methods that there are only: what is cached must have bounds.
        if not (request.GET and request.path_info.startswith(REST) and method in METHODS):
            return None
        match = request.resolver_match
        known = query_parameters(view, method, match.route if match else "")
        unknown = [name for name in request.GET if name not in known]
        if not unknown:
            return None
        errors = [
            {"field": name, "message": _words(name, sorted(known))}
            for name in (long[:LONGEST_NAME] for long in unknown[:10])
        ]
        detail = f"{errors[0]['field']}: {errors[0]['message']}"
        return problem_answer(400, "unknown_parameter", detail, errors=errors)


@cache
def query_parameters(view: Callable[..., HttpResponse], method: str, route: str) -> frozenset[str]:
    """The query parameters that the OpenAPI document declares for one operation.

    They are taken from the same declarations in the same way, so the two cannot differ.
    """
    generator: Any = SchemaGenerator  # it is not typed
    with generating:
        operations = generator(patterns=[path(route, view)]).parse(None, public=True)
    return frozenset(
        parameter["name"]
        for methods in operations.values()
        for parameter in methods.get(method, {}).get("parameters", [])
        if parameter["in"] == "query"
    )


def _words(name: str, known: list[str]) -> str:
    if not known:
        return "is not known here; this address takes no parameters."
    meant = get_close_matches(name, known, n=1)
    guess = f" Did you mean {meant[0]}?" if meant else ""
    return f"is not known here; known are {', '.join(known)}.{guess}"
