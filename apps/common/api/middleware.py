"""Rules of all REST addresses."""

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
#: Unknown names are cut to so many characters in errors.
LONGEST_NAME = 40


class RestAddressMiddleware:
    """Accepts addresses without final slash; refuses query parameters that are not documented.

    Clients follow a redirect to the slash with a GET and lose the body. An ignored parameter would
    return all rows to a client that asked for some.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the final slash before Django resolves the address."""
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
        """Refuse query parameters that the operation does not know."""
        method = "get" if request.method == "HEAD" else str(request.method).lower()
        # Known methods only, to bound the cache.
        if not (request.GET and request.path_info.startswith(REST) and method in METHODS):
            return None
        match = request.resolver_match
        known = query_parameters(view, method, match.route if match else "")
        unknown = [name for name in request.GET if name not in known]
        if not unknown:
            return None
        errors = [
            {"field": name, "message": _unknown_message(name, sorted(known))}
            for name in (long[:LONGEST_NAME] for long in unknown[:10])
        ]
        detail = f"{errors[0]['field']}: {errors[0]['message']}"
        return problem_answer(400, "unknown_parameter", detail, errors=errors)


@cache
def query_parameters(view: Callable[..., HttpResponse], method: str, route: str) -> frozenset[str]:
    """The query parameters of one operation, from the declarations of the OpenAPI document."""
    generator: Any = SchemaGenerator  # it is not typed
    with generating:
        operations = generator(patterns=[path(route, view)]).parse(None, public=True)
    return frozenset(
        parameter["name"]
        for methods in operations.values()
        for parameter in methods.get(method, {}).get("parameters", [])
        if parameter["in"] == "query"
    )


def _unknown_message(name: str, known: list[str]) -> str:
    if not known:
        return "is unknown; this address takes no parameters."
    similar = get_close_matches(name, known, n=1)
    guess = f" Did you mean {similar[0]}?" if similar else ""
    return f"is unknown; known are {', '.join(known)}.{guess}"
