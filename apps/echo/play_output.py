"""How the commands that play Echo speak: progress, figures in words, the file of the curves."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput

#: Seconds between two lines of progress.
_TELL_EVERY = 10.0


def progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """Tells ``say`` how many of how many plays are done: the first after some seconds."""
    begun, said = time.monotonic(), 0.0

    def tell(done: int, whole: int) -> None:
        nonlocal said
        spent = time.monotonic() - begun
        if done < whole and spent - said >= _TELL_EVERY:
            said = spent
            left = spent / done * (whole - done)
            say(f"{done} of {whole} plays done, about {left / 60:.0f} min left")

    return tell


def curves_file(name: str | None) -> Path | None:
    """Where the curves go, tried before an hour of playing and not after it.

    Raises:
        InvalidInput: it is no .svg file that can be written.
    """
    if name is None:
        return None
    target = Path(name)
    if target.suffix != ".svg":
        raise InvalidInput.at("curves", "must end in .svg.")
    if not target.parent.is_dir():
        raise InvalidInput.at("curves", f"there is no folder {target.parent}.")
    _try_to_write(target)
    return target


def figure_words(figure: Mapping[str, Any]) -> str:
    """A figure with its interval, for people."""
    if figure["value"] is None:
        return f"none ({figure['reason'].replace('_', ' ')})"
    if figure["low"] is None or figure["high"] is None:
        return f"{figure['value']:.3f} (n {figure['n']})"
    return f"{figure['value']:.3f} ({figure['low']:.3f} to {figure['high']:.3f}, n {figure['n']})"


def _try_to_write(target: Path) -> None:
    """Leaves nothing where nothing was."""
    there = target.exists()
    try:
        target.open("a").close()
    except OSError as error:
        raise InvalidInput.at(
            "curves", f"cannot be written: {target} ({error.strerror})."
        ) from None
    if not there:
        target.unlink()
