"""Encryption at rest, and hashes that only this server can compute.

Keys come from ``LABELHUB_TEXT_KEYS`` (the first encrypts, all decrypt) or else from the secret key.
Removing a key makes everything encrypted with it unreadable at once.
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
    """The text was encrypted with a key that is no longer set."""

    code = "cannot_open"


def seal(plain: bytes) -> bytes:
    """Encrypt ``plain`` with the first key."""
    return _box(_secrets()).encrypt(plain)


def unseal(sealed: bytes | memoryview) -> bytes:
    """Decrypt ``sealed``.

    Raises:
        CannotOpen: no key decrypts it.
    """
    try:
        return _box(_secrets()).decrypt(bytes(sealed))
    except InvalidToken:
        raise CannotOpen(
            "This was encrypted with a key that is no longer set: add it to LABELHUB_TEXT_KEYS."
        ) from None


def keyed_hash(purpose: str, value: str) -> str:
    """32 hexadecimal digits, equal for equal values; not computable without our key."""
    key = f"{purpose}:{_secrets()[0]}".encode()
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:32]


def digest(secret: str) -> str:
    """SHA-256 of a long random secret, to store and look it up."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _secrets() -> tuple[str, ...]:
    return tuple(settings.LABELHUB_TEXT_KEYS) or (settings.SECRET_KEY,)


@lru_cache(maxsize=4)
def _box(secrets: tuple[str, ...]) -> MultiFernet:
    keys = [
        HKDF(SHA256(), length=32, salt=None, info=b"labelhub text").derive(secret.encode())
        for secret in secrets
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])
