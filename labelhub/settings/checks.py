"""What settings are made of: values from outside that are checked, a secret that is kept."""

import fcntl
import ipaddress
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environ import Env

SECRET_LENGTH = 50
ENGINES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")


def network_addresses(name: str, entries: Iterable[str]) -> list[str]:
    """The addresses and networks that a variable lists.

    Raises:
        ImproperlyConfigured: one of them is neither; uvicorn would silently trust nobody.
    """
    found = [entry.strip() for entry in entries if entry.strip()]
    for entry in found:
        try:
            ipaddress.ip_network(entry)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name}: '{entry}' is no IP address and no network such as 10.0.0.0/24."
            ) from None
    return found


def database_url(name: str, url: str) -> str:
    """``url`` itself, which may be empty; ``name`` is the variable it came from.

    Raises:
        ImproperlyConfigured: LabelHub works with no such database; the words hold no password.
    """
    if not url:
        return url
    engine = Env.DB_SCHEMES.get(url.strip().partition(":")[0].lower(), "")
    if engine not in ENGINES or (engine.endswith("postgresql") and not _has_sound_port(url)):
        raise ImproperlyConfigured(
            f"{name} names no PostgreSQL and no SQLite database; write it as "
            "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE, or leave it empty. "
            "Characters such as / @ : # in a password are written as %2F %40 %3A %23."
        )
    return url


def _has_sound_port(url: str) -> bool:
    """False above all where a password was not quoted: its rest is taken for the port."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return False
    return True


def long_secret(secret: str) -> str:
    """``secret`` itself.

    Raises:
        ImproperlyConfigured: there is none, or it could be guessed.
    """
    if len(secret) < SECRET_LENGTH:
        raise ImproperlyConfigured(
            f"Set LABELHUB_SECRET_KEY to a long random text, at least {SECRET_LENGTH} characters; "
            "production has no default."
        )
    return secret


def kept_secret(path: Path) -> str:
    """The secret in the file ``path``; made by whoever comes first.

    The file appears whole or not at all, and of several processes that start at once one writes.
    """
    if secret := _text(path):
        return secret
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not _text(path):
            _write(path, get_random_secret_key())
    finally:
        os.close(folder)
    return _text(path)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # readable by us alone
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).replace(path)
