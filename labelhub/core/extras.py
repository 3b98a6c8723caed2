"""Optional parts of an installation: the extras of pyproject.toml."""

from contextlib import suppress
from importlib.util import find_spec

from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase


class MissingExtra(InvalidInput):
    """What was asked for needs an optional part that this installation lacks."""

    code = "missing_extra"


def missing_extra(module: str, extra: str) -> Phrase | None:
    """What to say when ``module``, which ``extra`` brings, is not installed; None if it is."""
    with suppress(ModuleNotFoundError):  # of its parent
        if find_spec(module):
            return None
    return Phrase(
        "This server lacks a part that this needs. Its operator can install it: "
        "labelhub[%(extra)s].",
        extra=extra,
    )


def require_extra(module: str, extra: str) -> None:
    """Check that ``module`` is installed.

    Raises:
        MissingExtra: it is not; names the extra.
    """
    if missing := missing_extra(module, extra):
        raise MissingExtra(missing)
