"""A small HTTP client with one kept connection, and the clock around each request."""

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body and seconds from the first byte sent to the last one read."""

    status: int
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Client:
    """One user's connection to the server."""

    def __init__(self, port: int, key: str = "", timeout: float = 60) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Token {key}"

    def get(self, path: str) -> Answer:
        """GET."""
        return self.request("GET", path)

    def post(self, path: str, data: Any = None) -> Answer:
        """POST ``data`` as JSON."""
        return self.request("POST", path, b"" if data is None else json.dumps(data).encode())

    def request(self, method: str, path: str, body: bytes = b"") -> Answer:
        """One request; a connection that the server has closed is opened anew, once."""
        began = time.perf_counter()
        for last in (False, True):
            try:
                self._http.request(method, path, body, self._headers)
                response = self._http.getresponse()
                read = response.read()
                return Answer(response.status, read, time.perf_counter() - began)
            except (http.client.RemoteDisconnected, ConnectionResetError):
                self._http.close()
                if last:
                    raise
        raise AssertionError("unreachable")
