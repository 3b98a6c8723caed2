"""Secrets and signatures by the Standard Webhooks specification, version 1.0.0 (symmetric, ``v1``).

What is signed is ``{id}.{timestamp}.{body}`` with HMAC-SHA256; a secret is written as ``whsec_``
and base64. While a secret is being replaced, both sign: receivers take either.
"""

import base64
import hashlib
import hmac
import secrets
from datetime import datetime

from apps.common.sealing import seal, unseal
from apps.exchange.models import Webhook

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """A secret as it is shown to people, once."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sealed(secret: str) -> bytes:
    """The secret as it is stored."""
    return seal(secret.encode())


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """One signature, as it stands in the header."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed_headers(webhook: Webhook, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """The headers that prove that a message is ours.

    Raises:
        CannotOpen: the secret was sealed with a key that the server has no more.
    """
    kept = [webhook.secret]
    if webhook.old_secret and webhook.old_secret_until and webhook.old_secret_until > now:
        kept.append(webhook.old_secret)
    at = int(now.timestamp())
    plain = [unseal(each).decode() for each in kept]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(signature(each, message_id, at, body) for each in plain),
    }
