"""Read addresses and ids that requests bring."""

import inspect
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme


def local_address(request: HttpRequest, wanted: str) -> str:
    """``wanted`` if it is a page of this server, else ``""``, to prevent open redirects."""
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if ours and shows_page(wanted) else ""


def shows_page(address: str) -> bool:
    """Whether ``address``, of this server, answers GET: that of a form may take POST only."""
    try:
        view: Any = resolve(urlsplit(address).path).func
    except Resolver404:
        return False
    # Only the closure of Django's decorators knows the methods that they allow.
    while inspect.isfunction(view):
        if "GET" not in inspect.getclosurevars(view).nonlocals.get("request_method_list", ("GET",)):
            return False
        view = getattr(view, "__wrapped__", None)
    return True


def parse_row_id(raw: str) -> int | None:
    """The row id in ``raw``; None if it is no valid id."""
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 19 else None
