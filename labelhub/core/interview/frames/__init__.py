"""Frames of the widget's protocol ``al.v1``: what a browser sends is read, what we send is written.

A frame is one JSON object of at most 16 KB: ``{"v":1,"t":…,"id":…,"ts":…,"d":{…}}``. Everything in
it is a stranger's word: each field of each kind of frame has its shape (:mod:`.kinds`), and what
does not have it is refused with a code that the widget knows. Kinds and fields that are not known
are passed over, so that newer widgets may send them.
"""

from labelhub.core.interview.frames.errors import (
    BadField,
    BadFrame,
    NotAFrame,
    TooBig,
    TooLong,
    UnsupportedVersion,
)
from labelhub.core.interview.frames.kinds import (
    KINDS,
    Agreed,
    Answer,
    Body,
    Consent,
    Dismiss,
    Early,
    Erase,
    Export,
    Hello,
    Ident,
    Msg,
    Offered,
    Optout,
    Ping,
    Retry,
    Shown,
    Undo,
)
from labelhub.core.interview.frames.reading import MOST_BYTES, Frame, read_frame
from labelhub.core.interview.frames.writing import frame, frame_in_pieces

__all__ = [
    "KINDS",
    "MOST_BYTES",
    "Agreed",
    "Answer",
    "BadField",
    "BadFrame",
    "Body",
    "Consent",
    "Dismiss",
    "Early",
    "Erase",
    "Export",
    "Frame",
    "Hello",
    "Ident",
    "Msg",
    "NotAFrame",
    "Offered",
    "Optout",
    "Ping",
    "Retry",
    "Shown",
    "TooBig",
    "TooLong",
    "Undo",
    "UnsupportedVersion",
    "frame",
    "frame_in_pieces",
    "read_frame",
]
