"""What can be wrong with a frame: some faults are told by a ``nack``, some end the connection."""

from typing import ClassVar

from labelhub.core.errors import LabelhubError


class BadFrame(LabelhubError):
    """A frame that cannot be used.

    ``close``: the code to close the connection with, or None when a ``nack`` with the error's code
    and message is enough. ``id``: the frame's id for that ``nack``, "" when it cannot be read.
    """

    code = "bad_frame"
    close: ClassVar[int | None] = None

    def __init__(self, message: str, *, id: str = "") -> None:  # noqa: A002 - as the frame calls it
        super().__init__(message)
        self.id = id


class NotAFrame(BadFrame):
    """No JSON object with a kind ``t``."""

    close = 4400


class TooBig(BadFrame):
    """More bytes than a frame may have."""

    code = "too_big"
    close = 4413


class UnsupportedVersion(BadFrame):
    """``v`` is not 1."""

    code = "unsupported_version"


class BadField(BadFrame):
    """A field is missing, or not of the shape it must have."""

    code = "bad_field"


class TooLong(BadField):
    """A message has more characters than are read."""

    code = "too_long"
