"""Where the files of this installation are, and settings that lie in files."""

import os
from collections.abc import MutableMapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from environ import Env

from labelhub import IS_INSTALLED, ROOT

#: A variable with this ending names a file that holds the value, as orchestrators mount secrets.
IN_FILE = "_FILE"
#: Beside those of LabelHub.
OTHERS = ("DATABASE_URL", "REDIS_URL", "SENTRY_DSN")


def read_files(environ: MutableMapping[str, str]) -> None:
    """Set each of our variables that ``NAME_FILE`` gives by a file; one that is set is kept.

    Raises:
        ImproperlyConfigured: the file cannot be read.
    """
    for variable, path in list(environ.items()):
        name = variable.removesuffix(IN_FILE)
        if name == variable or not path or not (name in OTHERS or name.startswith("LABELHUB_")):
            continue
        if environ.get(name):
            continue
        try:
            environ[name] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(f"{variable}: cannot read {path}: {error}.") from None


class _Escaped:
    """The variables of this process, with each ``$`` as ``Env`` wants it in a value."""

    def __getitem__(self, name: str) -> str:
        return os.environ[name].replace("$", r"\$")


def plain_env() -> Env:
    """A reader of variables that takes ``$`` for a character. ``Env`` itself takes ``$key`` for the
    value of another variable: a secret that begins so would silently be the default."""
    env = Env()
    env.escape_proxy, env.ENVIRON = True, _Escaped()
    return env


def default_data_folder() -> Path:
    """``var/`` of a checkout. An installed command finds its data from wherever it is started."""
    if not IS_INSTALLED:
        return ROOT / "var"
    share = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(share) / "labelhub"


def data_folder() -> Path:
    """The folder of the database, uploads and what is made from them; it need not exist."""
    return Path(os.environ.get("LABELHUB_DATA_DIR") or default_data_folder()).resolve()


def make_private(folder: Path) -> Path:
    """Create ``folder`` for this account only, unless it exists.

    Raises:
        ImproperlyConfigured: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"Cannot make the data folder {folder} ({error.strerror}): set LABELHUB_DATA_DIR."
        ) from None
    return folder


def built(name: str, otherwise: Path) -> Path:
    """A folder that the wheel brings ready made; ``otherwise`` in a checkout."""
    return ROOT / name if IS_INSTALLED else otherwise
