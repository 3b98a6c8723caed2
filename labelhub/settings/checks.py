"""Check values of settings, and keep a generated secret."""

import fcntl
import ipaddress
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environ import Env

from apps.common.queues import QUEUES
from labelhub.core.extras import missing_extra

SECRET_LENGTH = 50
SECONDS = {"s": 1, "m": 60, "h": 3600}
ENGINES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")


def check_networks(name: str, entries: Iterable[str]) -> list[str]:
    """The addresses and networks in a variable.

    Raises:
        ImproperlyConfigured: an entry is neither; uvicorn would ignore it silently.
    """
    found = [entry.strip() for entry in entries if entry.strip()]
    for entry in found:
        try:
            ipaddress.ip_network(entry)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name}: '{entry}' is neither an IP address nor a network such as 10.0.0.0/24."
            ) from None
    return found


def check_queues(name: str, queues: list[str]) -> list[str]:
    """The queues in a variable.

    Raises:
        ImproperlyConfigured: there is no such queue, or none is named.
    """
    if not queues or set(queues) - set(QUEUES):
        raise ImproperlyConfigured(f"{name} is a list of {', '.join(QUEUES)}, or not set.")
    return queues


def check_database_url(name: str, url: str) -> str:
    """Check ``url`` of the variable ``name`` and return it; it may be empty.

    Raises:
        ImproperlyConfigured: it is not a supported database, or its driver is not installed; the
            message holds no password.
    """
    if not url:
        return url
    engine = Env.DB_SCHEMES.get(url.strip().partition(":")[0].lower(), "")
    if engine not in ENGINES or (engine.endswith("postgresql") and not _has_valid_port(url)):
        raise ImproperlyConfigured(
            f"{name} is neither a PostgreSQL nor an SQLite database: write "
            "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE, or leave it empty. "
            "In a password, write %2F %40 %3A %23 for / @ : #."
        )
    if engine.endswith("postgresql"):
        check_extra(name, "psycopg", "postgres")
    return url


def check_extra(name: str, module: str, extra: str) -> None:
    """Check that ``module``, which the value of the variable ``name`` needs, is installed.

    Raises:
        ImproperlyConfigured: it is not; names the extra.
    """
    if missing := missing_extra(module, extra):
        raise ImproperlyConfigured(f"{name} is set. {missing}")


def bucket(url: str) -> dict[str, Any]:
    """The storage at ``s3://BUCKET/PREFIX?endpoint=URL&region=NAME``; all but the bucket optional.

    Raises:
        ImproperlyConfigured: it is no such address, or the extra is not installed.
    """
    parts, options = urlsplit(url), dict(parse_qsl(urlsplit(url).query))
    if parts.scheme != "s3" or not parts.netloc or options.keys() - {"endpoint", "region"}:
        raise ImproperlyConfigured(
            "LABELHUB_FILES_URL is not of the form s3://BUCKET/PREFIX?endpoint=URL&region=NAME."
        )
    for module in ("storages", "boto3"):
        check_extra("LABELHUB_FILES_URL", module, "s3")
    given = {
        "bucket_name": parts.netloc,
        "location": parts.path.strip("/"),
        "endpoint_url": options.get("endpoint"),
        "region_name": options.get("region"),
    }
    return {"BACKEND": "apps.common.s3.SharedBucket", "OPTIONS": given}


def _has_valid_port(url: str) -> bool:
    """False especially for an unquoted password, whose rest is read as the port."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return False
    return True


def read_rate(name: str, rate: str) -> tuple[int, int]:
    """``"100/m"`` as (100, 60 seconds), with s, m or h; 0 is no limit.

    Raises:
        ImproperlyConfigured: it is no rate.
    """
    if rate == "0":
        return 0, SECONDS["m"]
    most, _, window = rate.partition("/")
    if not (most.isascii() and most.isdigit() and window in SECONDS):
        raise ImproperlyConfigured(f"{name}: write a rate such as 15000/m (s, m or h), or 0.")
    return int(most), SECONDS[window]


def check_secret(secret: str) -> str:
    """Check ``secret`` and return it.

    Raises:
        ImproperlyConfigured: it is missing or too short.
    """
    if len(secret) < SECRET_LENGTH:
        raise ImproperlyConfigured(
            f"Set LABELHUB_SECRET_KEY to a random text of at least {SECRET_LENGTH} characters; "
            "production has no default."
        )
    return secret


def load_secret(path: Path) -> str:
    """The secret in the file ``path``, generated on first use.

    The file is written atomically, by one of several processes that start at once.
    """
    if secret := _read_if_exists(path):
        return secret
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not _read_if_exists(path):
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mode 0600
            with os.fdopen(handle, "w") as file:
                file.write(get_random_secret_key())
            Path(name).replace(path)
    finally:
        os.close(folder)
    return _read_if_exists(path)


def _read_if_exists(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
