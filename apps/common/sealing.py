"""Encryption at rest, and hashes that only this server can compute.

Keys come from ``LABELHUB_TEXT_KEYS`` (the first encrypts, all decrypt) or else from the secret key.
Removing a key makes everything encrypted with it unreadable at once; ``reseal`` encrypts it with
the first key before. What is stored for longer than until the next page is in a column that
``labelhub.management.recovery.sealed`` finds: a :class:`SealedField`, or allauth's second steps.
"""

import base64
import hashlib
import hmac
from contextlib import suppress
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models

from labelhub.core.errors import LabelhubError


class CannotOpen(LabelhubError):
    """The text was encrypted with a key that is no longer set."""

    code = "cannot_open"


class SealedField(models.BinaryField[Any, Any]):
    """A column of values of :func:`seal`; backups check it and ``reseal`` finds it."""

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        """As migrations see it: binary."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.BinaryField", args, kwargs


def seal(plain: bytes) -> bytes:
    """Encrypt ``plain`` with the first key."""
    return next(iter(_boxes(_secrets()).values())).encrypt(plain)


def unseal(sealed: bytes | memoryview) -> bytes:
    """Decrypt ``sealed``.

    Raises:
        CannotOpen: no key decrypts it.
    """
    try:
        return MultiFernet(_boxes(_secrets()).values()).decrypt(bytes(sealed))
    except InvalidToken:
        raise CannotOpen(
            "This was encrypted with a key that is no longer set: add it to LABELHUB_TEXT_KEYS."
        ) from None


def reseal(sealed: bytes) -> bytes:
    """The same text, encrypted with the first key; raises as :func:`unseal`."""
    return seal(unseal(sealed))


def key_ids() -> tuple[str, ...]:
    """16 hexadecimal digits for each key, in its order, from which nobody can find the key."""
    return tuple(_boxes(_secrets()))


def key_id(secret: str) -> str:
    """See :func:`key_ids`."""
    return _derive(secret, b"labelhub key id", 8).hex()


def opened_by(sealed: bytes | memoryview) -> str:
    """The id of the key that decrypts ``sealed``; "" if none does."""
    token = bytes(sealed)
    for found, box in _boxes(_secrets()).items():
        with suppress(InvalidToken):
            box.decrypt(token)
            return found
    return ""


def keyed_hash(purpose: str, value: str) -> str:
    """32 hexadecimal digits, equal for equal values; not computable without our key."""
    key = f"{purpose}:{_secrets()[0]}".encode()
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:32]


def digest(secret: str) -> str:
    """SHA-256 of a long random secret, to store and look it up."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _secrets() -> tuple[str, ...]:
    return tuple(settings.LABELHUB_TEXT_KEYS) or (settings.SECRET_KEY,)


def _derive(secret: str, purpose: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=None, info=purpose).derive(secret.encode())


@lru_cache(maxsize=4)
def _boxes(secrets: tuple[str, ...]) -> dict[str, Fernet]:
    """What encrypts and decrypts, by the id of its key."""
    return {
        key_id(secret): Fernet(base64.urlsafe_b64encode(_derive(secret, b"labelhub text", 32)))
        for secret in secrets
    }
