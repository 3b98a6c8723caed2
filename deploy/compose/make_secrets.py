"""Write the secrets of a new installation, once: what is there is kept.

usage: make_secrets.py [FOLDER]
"""

import os
import secrets
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "/var/lib/labelhub-secrets")


def keep(name: str, content: str) -> str:
    """The content of the file; ``content``, written whole or not at all, if there is none."""
    path = FOLDER / name
    if not path.exists():
        written = path.with_suffix(".new")
        with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        written.replace(path)
    return path.read_text()


if __name__ == "__main__":
    keep("secret-key", secrets.token_urlsafe(64))
    keep("text-keys", secrets.token_urlsafe(64))
    keep("metrics-token", secrets.token_urlsafe(32))
    password = keep("postgres-password", secrets.token_urlsafe(32))
    keep("database-url", f"postgres://labelhub:{password}@postgres:5432/labelhub")
