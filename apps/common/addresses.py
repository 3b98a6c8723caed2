"""Addresses that a request brought along, used only where they lead to ourselves."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def own_address(request: HttpRequest, wanted: str) -> str:
    """``wanted`` if it is an address of this server, else ``""``: nobody is sent elsewhere."""
    ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if ours else ""
