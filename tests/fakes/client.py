"""A small client of our REST, and of what a browser needs to sign in."""

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from typing import Any, TypeVar

Found = TypeVar("Found")


class Refused(AssertionError):
    """The server answered with an error."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status}: {body[:500]!r}")
        self.status, self.body = status, body


def wait_for(look: Callable[[], Found | None], *, seconds: float, what: str) -> Found:
    """What ``look`` returns as soon as it is truthy."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


class Client:
    """Speaks to one server; with ``key`` as its owner, after :meth:`sign_in` with a session."""

    def __init__(self, address: str, key: str = "") -> None:
        self.address = address
        self._key = key
        self.cookies = CookieJar()
        cookies = urllib.request.HTTPCookieProcessor(self.cookies)
        self._open = urllib.request.build_opener(cookies, urllib.request.ProxyHandler({})).open

    def send(self, path: str, data: bytes | None = None, content_type: str = "") -> tuple[int, Any]:
        """(status, JSON or bytes); POST when there is ``data``.

        Raises:
            Refused: by the server's status.
        """
        headers = {"Content-Type": content_type} if content_type else {}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.address + path, data=data, headers=headers)  # noqa: S310 - http
        try:
            with self._open(request, timeout=30) as answer:
                status, kind, body = (
                    answer.status,
                    answer.headers.get("Content-Type"),
                    answer.read(),
                )
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, error.read()) from None
        return status, json.loads(body) if kind == "application/json" and body else body

    def get(self, path: str) -> Any:
        """Of REST: ``path`` below ``/api/v1/``."""
        return self.send(f"/api/v1/{path}")[1]

    def post(self, path: str, body: Any = None) -> Any:
        """Of REST; None for an answer without content."""
        data = json.dumps(body if body is not None else {}).encode()
        return self.send(f"/api/v1/{path}", data, "application/json")[1] or None

    def every(self, path: str) -> Iterator[Any]:
        """All results of a list, page by page."""
        page = self.get(path)
        yield from page["results"]
        while page["next"]:
            page = self.send(page["next"].removeprefix(self.address))[1]
            yield from page["results"]

    def health(self) -> tuple[int, dict[str, Any]]:
        """Status and body of ``/health/ready``."""
        try:
            return self.send("/health/ready")
        except Refused as error:
            return error.status, json.loads(error.body)

    def sign_in(self, username: str, password: str) -> str:
        """Sign in as a browser does; the Cookie header of the session."""
        page = self.send("/accounts/login/")[1].decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token, "the sign-in page has no form"
        form = {"csrfmiddlewaretoken": token[1], "login": username, "password": password}
        self.send("/accounts/login/", urllib.parse.urlencode(form).encode())
        kept = {cookie.name: cookie.value for cookie in self.cookies}
        assert "sessionid" in kept, "signing in failed"
        return f"sessionid={kept['sessionid']}"
