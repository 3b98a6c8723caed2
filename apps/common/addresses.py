"""What addresses bring along: where to go on, which row is meant."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def own_address(request: HttpRequest, wanted: str) -> str:
    """``wanted`` if it is an address of this server, else ``""``: nobody is sent elsewhere."""
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if ours else ""


def row_number(raw: str) -> int | None:
    """The row that an address names; None where it names none, as when it was typed by hand."""
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) < 19 else None
