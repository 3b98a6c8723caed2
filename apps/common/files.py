"""Files that are there whole or not at all."""

from collections.abc import Iterable
from pathlib import Path

from labelhub.core.errors import InvalidInput


def write_whole(target: Path, pieces: Iterable[bytes]) -> int:
    """Write beside the target first, so that a half-written file never bears its name; its bytes.

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
