"""Read addresses and ids that requests bring."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def local_address(request: HttpRequest, wanted: str) -> str:
    """``wanted`` if it is an address of this server, else ``""``, to prevent open redirects."""
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if ours else ""


def parse_row_id(raw: str) -> int | None:
    """The row id in ``raw``; None if it is no valid id."""
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 19 else None
