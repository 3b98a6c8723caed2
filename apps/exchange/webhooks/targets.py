"""Where a webhook may lead: to servers in the open network, never into ours by accident.

Whoever manages a project chooses addresses, so a webhook must not become a way to reach what only
this server can reach. The form of an address is checked when it is saved; what its name resolves
to is checked for each request, and the connection goes to the very address that was checked.
Private networks are open where an operator says so (``LABELHUB_WEBHOOK_PRIVATE``), this machine
in development as well; link-local and metadata addresses never are.
"""

import ipaddress
import re

import httpx
from django.conf import settings

from apps.common.targets import numeric
from apps.llm.addresses import FORBIDDEN_HOSTS, AddressRefused, check_address
from labelhub.core.errors import InvalidInput

LONGEST = 2000
#: A name or numbers, of IPv6 with colons.
HOST = re.compile(rb"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
#: What of IPv6 is given out for use in the open network.
OPEN_IPV6 = ipaddress.ip_network("2000::/3")


def check_url(url: str) -> str:
    """The address of a receiver in its kept form.

    Raises:
        InvalidInput: it is no http(s) address, holds a password, or names a forbidden host.
    """
    url = url.strip()
    try:
        parts = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        raise InvalidInput.at("url", "This cannot be read as an address.") from None
    if parts.scheme not in ("http", "https") or not HOST.fullmatch(parts.raw_host):
        raise InvalidInput.at("url", "Write a whole address that begins with https:// or http://.")
    if len(url) > LONGEST:
        raise InvalidInput.at("url", f"The address is longer than {LONGEST:,} characters.")
    if parts.userinfo or parts.fragment:
        raise InvalidInput.at(
            "url", "Leave out the user name, the password and '#'; deliveries are signed instead."
        )
    if parts.port is not None and not 0 < parts.port < 65_536:
        raise InvalidInput.at("url", f"There is no port {parts.port}.")
    _check_host(parts.host)
    return url


def _check_host(host: str) -> None:
    """What can be told without asking for the name."""
    named = host.rstrip(".").lower()
    refused = named in FORBIDDEN_HOSTS
    try:
        refused = refused or not is_allowed(host)
    except ValueError:
        local = named == "localhost" or named.endswith(".localhost")
        refused = refused or (local and not settings.LABELHUB_WEBHOOK_LOOPBACK)
    if refused:
        raise InvalidInput.at("url", words_of_refusal(host))


def is_allowed(address: str) -> bool:
    """Whether the server may connect to this numeric address.

    Raises:
        ValueError: it is a name.
    """
    found = numeric(address)
    try:
        check_address(address, address)
    except AddressRefused:
        return False
    if found.is_unspecified:
        return False
    if found.is_loopback:
        return bool(settings.LABELHUB_WEBHOOK_LOOPBACK)
    is_open = found.is_global and (found.version == 4 or found in OPEN_IPV6)
    return is_open or bool(settings.LABELHUB_WEBHOOK_PRIVATE)


def words_of_refusal(host: str) -> str:
    """Why nothing is sent there."""
    return (
        f"'{host}' is not in the open network: it leads to this machine, a private network or a "
        "reserved address. An operator can allow private receivers (LABELHUB_WEBHOOK_PRIVATE)."
    )
