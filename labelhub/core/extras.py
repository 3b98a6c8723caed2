"""Optional parts of an installation: the extras of pyproject.toml."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from threading import get_ident

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


@contextmanager
def without_pandas() -> Iterator[None]:
    """Import scikit-learn in this block: where pandas is installed it would load it, 60 MB for
    tables that nobody gives to it."""
    thread = get_ident()

    class NoPandas(MetaPathFinder):
        def find_spec(self, fullname: str, *_: object) -> None:
            # Another thread may import it at this moment.
            if fullname == "pandas" and get_ident() == thread:
                raise ModuleNotFoundError(name=fullname)

    finder = NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
