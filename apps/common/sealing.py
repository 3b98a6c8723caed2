"""Encryption at rest, and hashes that only this server can make.

Keys come from ``LABELHUB_TEXT_KEYS`` (the first seals, all open) or else from the secret key. What
no key opens any more is gone: that is how sealed text is made unreadable everywhere at once.
"""

import base64
import hashlib
import hmac
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from labelhub.core.errors import LabelhubError


class CannotOpen(LabelhubError):
    """What was sealed was sealed with a key that is not here any more."""

    code = "cannot_open"


def seal(plain: bytes) -> bytes:
    """``plain``, readable with our keys only."""
    return _box(_secrets()).encrypt(plain)


def unseal(sealed: bytes | memoryview) -> bytes:
    """What was sealed.

    Raises:
        CannotOpen: none of the keys opens it.
    """
    try:
        return _box(_secrets()).decrypt(bytes(sealed))
    except InvalidToken:
        raise CannotOpen(
            "This was encrypted with a key that is no longer set; add it to LABELHUB_TEXT_KEYS."
        ) from None


def keyed_hash(purpose: str, value: str) -> str:
    """32 hexadecimal digits: equal for equal values, and of no use to who has not our key."""
    key = f"{purpose}:{_secrets()[0]}".encode()
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:32]


def digest(secret: str) -> str:
    """SHA-256 of a long random secret, under which it is looked up."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _secrets() -> tuple[str, ...]:
    return tuple(settings.LABELHUB_TEXT_KEYS) or (settings.SECRET_KEY,)


@lru_cache(maxsize=4)
def _box(secrets: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(_key(secret)) for secret in secrets])


def _key(secret: str) -> bytes:
    derived = HKDF(SHA256(), length=32, salt=None, info=b"labelhub text").derive(secret.encode())
    return base64.urlsafe_b64encode(derived)
