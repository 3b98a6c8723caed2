"""Where the server is and who asks: checked once, when a client is made."""

import re
from dataclasses import dataclass, field

import httpx

from labelhub.client.endpoints import PREFIX
from labelhub.client.errors import WrongUse
from labelhub.client.wire import Request

TIMEOUT = 30.0
#: Imports, reports and exports may take the server minutes.
SLOW = 20
KEY = re.compile(r"[!-~]{8,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What every request of a client has in common. The key never shows."""

    address: str
    key: str = field(repr=False)
    timeout: float

    def headers(self) -> dict[str, str]:
        """Who asks."""
        return {"Authorization": f"Token {self.key}", "User-Agent": "labelhub-client"}

    def url(self, request: Request[object]) -> str:
        """Where a request goes."""
        return f"{self.address}{PREFIX}{request.path}"

    def patience(self, request: Request[object]) -> httpx.Timeout:
        """Seconds to connect, and to wait for each piece of an answer."""
        slow = self.timeout * (SLOW if request.endpoint.slow else 1)
        return httpx.Timeout(slow, connect=min(self.timeout, 10.0))


def checked(address: str, key: str, timeout: float) -> Settings:
    """The settings; what ends in ``/api/v1`` is an address as well.

    Raises:
        WrongUse: of no use; the message does not hold the key.
    """
    try:
        url = httpx.URL(address.strip())
    except (httpx.InvalidURL, TypeError, AttributeError):
        raise WrongUse("address: give one such as http://127.0.0.1:8000.") from None
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise WrongUse(f"address: {_shown(url)!r} is none; give one such as http://127.0.0.1:8000.")
    if url.userinfo:
        raise WrongUse("address: leave out name and password; the key says who you are.")
    if not KEY.fullmatch(str(key).strip()):
        raise WrongUse("key: this is no API key; make one in the web interface under API keys.")
    if not timeout > 0:
        raise WrongUse("timeout: give seconds, more than none.")
    plain = str(url).rstrip("/").removesuffix(PREFIX.rstrip("/"))
    return Settings(address=plain.rstrip("/"), key=key.strip(), timeout=timeout)


def _shown(url: httpx.URL) -> str:
    return str(url.copy_with(username=None, password=None, query=None))[:80]
