"""Check addresses of model servers: no metadata service, no link-local host.

Loopback and private networks are allowed to operators on purpose: local model servers are there.
Managers of projects may only enter public addresses, unless an operator allows private ones
(``LABELHUB_LLM_PRIVATE``). The name is checked when an address is saved. The addresses that it
resolves to are checked when a gateway opens, for a clear message, and again for each connection
(``apps.llm.client``), as the next answer of DNS may differ. Redirects are never followed.
"""

import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from apps.common.targets import is_public, numeric
from labelhub.core.errors import InvalidInput

FORBIDDEN_HOSTS = {"metadata", "metadata.google.internal", "metadata.goog", "instance-data"}
FORBIDDEN_ADDRESSES = {
    ipaddress.ip_address("fd00:ec2::254"),  # AWS metadata
    ipaddress.ip_address("100.100.100.200"),  # Alibaba metadata
    ipaddress.ip_address("168.63.129.16"),  # Azure platform
}


class AddressRefused(InvalidInput):
    """A base URL that the server may not or cannot connect to."""

    code = "address_refused"


def check_base_url(url: str, *, private: bool = True) -> str:
    """The base URL in its stored form, without a slash at the end.

    Args:
        url: as a person entered it.
        private: whether it may name this machine or a private network.

    Raises:
        AddressRefused: it is not an http(s) URL, contains a password, or names a forbidden host.
    """
    parts = _split(url)
    if parts.scheme not in ("http", "https"):
        raise AddressRefused("'%(url)s' must start with http:// or https://.", url=url)
    if not parts.hostname:
        raise AddressRefused("'%(url)s' names no host.", url=url)
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(
            "A base URL must not contain a user name or password: enter a key instead."
        )
    if parts.query or parts.fragment:
        raise AddressRefused("'%(url)s' must not contain '?' or '#'.", url=url)
    if parts.hostname.rstrip(".").lower() in FORBIDDEN_HOSTS:
        raise _forbidden(parts.hostname)
    named = parts.hostname.rstrip(".").lower()
    if not private and (named == "localhost" or named.endswith(".localhost")):
        raise _not_public(parts.hostname)
    _check_addresses(parts, numeric_only=True, private=private)
    return url.strip().rstrip("/")


def check_resolved(url: str, *, private: bool = True) -> None:
    """Refuse ``url`` if its host resolves to a forbidden address. Blocks on DNS.

    A name that does not resolve passes, as connecting fails with a clear message.

    Raises:
        AddressRefused: one of the addresses is forbidden.
    """
    check_base_url(url, private=private)
    _check_addresses(_split(url), numeric_only=False, private=private)


def host_of(url: str) -> str:
    """Host and port of ``url``, for messages."""
    return _split(url).netloc.rpartition("@")[2]


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # raises ValueError if invalid
    except ValueError:
        raise unreadable(url) from None
    return parts


def _check_addresses(parts: SplitResult, *, numeric_only: bool, private: bool) -> None:
    # The resolver also understands 0xA9FEA9FE and 2852039166, which ipaddress does not.
    flags = socket.AI_NUMERICHOST if numeric_only else 0
    host = parts.hostname or ""
    try:
        found = socket.getaddrinfo(host, parts.port, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError):
        return
    for *_, address in found:
        check_address(str(address[0]), host, private=private)


def check_address(found: str, host: str, *, private: bool = True) -> None:
    """Refuse the numeric address ``found`` that ``host`` resolves to.

    Raises:
        AddressRefused: the server must not connect to it.
    """
    address = numeric(found)
    if address.is_link_local or address.is_multicast or address in FORBIDDEN_ADDRESSES:
        raise _forbidden(host)
    if not private and not is_public(address):
        raise _not_public(host)


def unreadable(url: str) -> AddressRefused:
    """The error of a base URL that is none."""
    return AddressRefused("'%(url)s' cannot be read as an address.", url=url)


def _not_public(host: str) -> AddressRefused:
    return AddressRefused(
        "'%(host)s' is this machine or in a private network. Ask an operator to add the provider "
        "for all projects, or to allow private addresses (LABELHUB_LLM_PRIVATE).",
        host=host,
    )


def _forbidden(host: str) -> AddressRefused:
    return AddressRefused(
        "'%(host)s' is a link-local or metadata address, which is forbidden.", host=host
    )
