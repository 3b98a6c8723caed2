"""A file that is sent while it is written."""

import io


class Sink(io.RawIOBase):
    """A file that only grows and forgets what was taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: object) -> int:
        """Append; as many bytes as were given."""
        piece = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        """How much was written, taken or not."""
        return self._size

    def taken(self) -> bytes:
        """What was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
