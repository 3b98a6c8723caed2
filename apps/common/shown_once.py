"""Secrets that one page shows once, after the redirect that follows a form.

Between the two requests a secret waits encrypted in the session of the person who asked for it.
"""

import base64
from contextlib import suppress

from django.http import HttpRequest

from apps.common.sealing import CannotOpen, seal, unseal

_KEY = "shown_once"


def keep_secret(request: HttpRequest, name: str, secret: str) -> None:
    """Keep ``secret`` for the page that asks for ``name``."""
    sealed = base64.b64encode(seal(secret.encode())).decode()
    request.session[_KEY] = request.session.get(_KEY, {}) | {name: sealed}


def take_secret(request: HttpRequest, name: str) -> str:
    """The secret, which is forgotten then; "" if there is none."""
    kept = dict(request.session.get(_KEY, {}))
    sealed = kept.pop(name, None)
    if sealed is None:
        return ""
    request.session[_KEY] = kept
    with suppress(CannotOpen):  # the server's keys were replaced in between
        return unseal(base64.b64decode(sealed)).decode()
    return ""
