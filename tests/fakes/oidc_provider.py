"""A company's sign-in on loopback, by OpenID Connect: discovery, keys, PKCE, signed tokens.

It signs in ``person`` at once, as if their browser had a session there. What it does wrong is
chosen by ``token`` (claims of the ID token to replace), ``key`` (another one to sign with) and
``broken`` (names of its addresses that answer 500). ``asked`` counts the requests of each address.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "labelhub", "of-the-test-client"


def new_key() -> rsa.RSAPrivateKey:
    """A key to sign with."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


PUBLISHED = new_key()


@dataclass
class Provider:
    """The provider, and the person who has a session there; None: it denies."""

    issuer: str
    person: dict[str, Any] | None = None
    token: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = PUBLISHED
    published: dict[str, rsa.RSAPrivateKey] = field(default_factory=lambda: {"1": PUBLISHED})
    asked: Counter[str] = field(default_factory=Counter)
    broken: set[str] = field(default_factory=set)
    #: Requests of codes, by code.
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    access: dict[str, dict[str, Any]] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """What LabelHub is told."""
        return {
            "issuer": self.issuer,
            "client_id": CLIENT,
            "secret": SECRET,
            "name": "Example Ltd",
            "scopes": ["openid", "profile", "email"],
        }

    def sign(self, claims: dict[str, Any], **header: Any) -> str:
        """A token of this provider for LabelHub, valid for five minutes."""
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300}
        whole = {k: v for k, v in {**usual, **claims}.items() if v is not None}
        return jwt.encode(whole, self.key, "RS256", {"kid": "1", **header})

    def logout_token(self, subject: str, **claims: Any) -> str:
        """What it sends when somebody signs out or leaves."""
        event: dict[str, Any] = {"http://schemas.openid.net/event/backchannel-logout": {}}
        usual = {"sub": subject, "jti": secrets.token_hex(8), "events": event}
        return self.sign({**usual, **claims})


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    """A provider that runs within the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        provider = Provider(f"http://127.0.0.1:{server.server_port}")
        _Handler.providers[server.server_port] = provider
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield provider
        finally:
            server.shutdown()
            del _Handler.providers[server.server_port]


class _Handler(BaseHTTPRequestHandler):
    providers: dict[int, Provider] = {}

    @property
    def provider(self) -> Provider:
        """The one of this server."""
        return self.providers[self.server.server_port]  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        """Discovery, keys, the page to sign in, userinfo."""
        path, query = urlsplit(self.path).path, urlsplit(self.path).query
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        name = path.rpartition("/")[2]
        self.provider.asked[name] += 1
        if name in self.provider.broken:
            self._send(500, {"error": "broken"})
        elif name == "openid-configuration":
            self._send(200, self._discovery())
        elif name == "keys":
            to_jwk = jwt.algorithms.RSAAlgorithm.to_jwk
            keys = self.provider.published.items()
            public = [
                {**to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}
                for kid, key in keys
            ]
            self._send(200, {"keys": public})
        elif name == "authorize":
            self._authorize(asked)
        elif name == "userinfo":
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            person = self.provider.access.get(token)
            if person is None:
                self._send(401, {"error": "invalid_token"})
            else:
                self._send(200, {"sub": person["sub"], **self.provider.userinfo})
        else:
            self._send(404, {})

    def do_POST(self) -> None:
        """Exchange a code, which works once, and only with the secret and the verifier."""
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        provider = self.provider
        asked = provider.codes.pop(sent.get("code", ""), None)
        if "token" in provider.broken:
            self._send(500, {"error": "broken"})
            return
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT, SECRET)
            or sent.get("redirect_uri") != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            self._send(400, {"error": "invalid_grant"})
            return
        assert provider.person is not None
        token = secrets.token_hex(8)
        provider.access[token] = provider.person
        fresh = {"auth_time": int(time.time())} if "max_age" in asked else {}
        claims = {**provider.person, **fresh, "nonce": asked["nonce"], **provider.token}
        signed = provider.sign(claims)
        self._send(200, {"access_token": token, "token_type": "Bearer", "id_token": signed})

    def log_message(self, *args: object) -> None:
        """Quiet."""

    def _discovery(self) -> dict[str, Any]:
        issuer = self.provider.issuer
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "userinfo_endpoint": f"{issuer}/userinfo",
            "jwks_uri": f"{issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def _authorize(self, asked: dict[str, str]) -> None:
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        answer = {"state": asked["state"]}
        if self.provider.person is None:
            answer |= {"error": "access_denied", "error_description": "Not assigned"}
        else:
            answer["code"] = secrets.token_hex(8)
            self.provider.codes[answer["code"]] = asked
        self.send_response(302)
        self.send_header("Location", f"{asked['redirect_uri']}?{urlencode(answer)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
