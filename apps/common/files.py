"""Write files atomically."""

from collections.abc import Iterable
from pathlib import Path

from labelhub.core.errors import InvalidInput


def write_atomically(target: Path, pieces: Iterable[bytes]) -> int:
    """Write ``target`` through a temporary file beside it. Returns its size in bytes.

    Raises:
        InvalidInput: the file cannot be written.
    """
    partial = target.with_name(f".{target.name}.part")
    try:
        with partial.open("wb") as file:
            for piece in pieces:
                file.write(piece)
        partial.replace(target)
        return target.stat().st_size
    except OSError as error:
        raise InvalidInput(f"'{target}' cannot be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
