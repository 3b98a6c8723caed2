"""The design of an experiment: the arm of an author, or of a window of time.

The assignment is fixed before the first message and depends only on the design and a secret key: it
can be computed at any time, needs no table, and no event can change it.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import accumulate, pairwise

from labelhub.core.errors import InvalidInput

#: BLAKE2b takes no longer key; a shorter one can be guessed from assignments.
KEY_BYTES = range(16, 65)
#: The most windows of a block, in which the shares must be exact.
LARGEST_BLOCK = 100
EXACT = 1e-9
_NAME = re.compile(r"[a-z][a-z0-9_.:-]{0,63}")


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm.

    Args:
        name: for programs: a small letter, then small letters, digits and ``_.:-``.
        share: of the authors or windows, above 0, at most 1.
        policy: one of ``recommending.policies.POLICIES``; any other offers nothing.
    """

    name: str
    share: float
    policy: str


@dataclass(frozen=True, slots=True)
class Window:
    """A window of time: [``start``, ``end``), both with their time zone."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Design:
    """An experiment as fixed before it starts; made and checked by :func:`design`.

    Without windows it assigns by author, else by window.
    """

    arms: tuple[Arm, ...]
    control: str
    windows: tuple[Window, ...] = ()


def design(arms: Sequence[Arm], control: str, windows: Sequence[Window] = ()) -> Design:
    """A design, checked.

    Args:
        arms: two or more; their shares sum to 1.
        control: the name of the arm the others are compared with.
        windows: to assign by time: in order, none overlapping; empty to assign by author.

    Raises:
        InvalidInput: names, shares, control or windows cannot be used.
    """
    names = [arm.name for arm in arms]
    if len(arms) < 2 or len(set(names)) < len(names):
        raise InvalidInput.at("arms", "An experiment has two arms or more, each with its own name.")
    for arm in arms:
        _check(arm)
    if abs(math.fsum(arm.share for arm in arms) - 1) > EXACT:
        raise InvalidInput.at("arms", "The shares of the arms sum to 1.")
    if control not in names:
        raise InvalidInput.at("control", f"None of the arms is called “{control}”.")
    found = Design(tuple(arms), control, tuple(windows))
    if windows:
        _check_windows(windows)
        _block(found)
    return found


def grid(start: datetime, length: float, count: int) -> tuple[Window, ...]:
    """``count`` windows of ``length`` seconds, one after the other.

    Raises:
        InvalidInput: ``start`` has no time zone, or length or count are not positive.
    """
    if start.tzinfo is None or not (math.isfinite(length) and length > 0 and count > 0):
        raise InvalidInput.at("windows", "Windows start in a time zone and have a positive length.")
    begin = start.timestamp()
    # By elapsed time: windows have the same length on days when the clocks change.
    ends = [datetime.fromtimestamp(begin + length * i, tz=start.tzinfo) for i in range(count + 1)]
    return tuple(Window(*pair) for pair in pairwise(ends))


def fingerprint(found: Design, key: bytes) -> str:
    """A keyed hash of the design, 64 hexadecimal digits, that reveals nothing of the key.

    Stored before the start, it proves later that nothing was changed. Raises ``InvalidInput`` for a
    key too short or too long.
    """
    windows = [[w.start.timestamp(), w.end.timestamp()] for w in found.windows]
    arms = [asdict(arm) for arm in found.arms]
    designed = {"arms": arms, "control": found.control, "windows": windows}
    plain = json.dumps(designed, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return blake2b(
        plain.encode(), digest_size=32, key=_check_key(key), person=b"design"
    ).hexdigest()


def position(key: bytes, name: str, purpose: bytes = b"author") -> float:
    """The place of ``name`` in [0, 1), by keyed hash (BLAKE2b, RFC 7693).

    Raises ``InvalidInput`` for a key too short or too long.
    """
    plain = name.encode("utf-8", "surrogatepass")
    digest = blake2b(plain, digest_size=8, key=_check_key(key), person=purpose).digest()
    # The 53 bits a float holds: all 64 might round up to 1.
    return (int.from_bytes(digest, "big") >> 11) / 2**53


def arm_of_author(found: Design, key: bytes, author: str) -> Arm:
    """The arm of an author, the same for ever.

    Raises:
        InvalidInput: the design assigns by time, or the key is too short or too long.
    """
    if found.windows:
        raise InvalidInput.at("design", "This experiment assigns by time, not by author.")
    ends = list(accumulate(arm.share for arm in found.arms))[:-1]
    return found.arms[bisect_right(ends, position(key, author))]


def window_of(found: Design, time: datetime) -> int | None:
    """The index of the window with ``time``; None between and outside windows.

    Raises ``InvalidInput`` for a time without time zone.
    """
    if time.tzinfo is None:
        raise InvalidInput.at("at", "A time needs its time zone.")
    # By seconds: Python compares times of one zone by local clocks, which go back once a year.
    now = time.timestamp()
    index = bisect_right(found.windows, now, key=lambda window: window.start.timestamp()) - 1
    return index if index >= 0 and now < found.windows[index].end.timestamp() else None


def arm_of_window(found: Design, key: bytes, index: int) -> Arm:
    """The arm of the window ``index``, drawn within its block, where shares are exact.

    A block is the smallest number of windows in which every share is a whole number; within it the
    keyed hash of the indices puts windows in the order in which the arms take them.

    Raises:
        InvalidInput: there is no such window, or the key is too short or too long.
    """
    if not 0 <= index < len(found.windows):
        raise InvalidInput.at("window", f"There is no window {index}.")
    counts = _block(found)
    size = sum(counts)
    first = index - index % size
    drawn = sorted(range(first, first + size), key=lambda i: (position(key, str(i), b"window"), i))
    return found.arms[bisect_right(list(accumulate(counts)), drawn.index(index))]


def _check(arm: Arm) -> None:
    for field, text in (("name", arm.name), ("policy", arm.policy)):
        if not _NAME.fullmatch(text):
            raise InvalidInput.at(field, f"“{text}” is not a name of small letters and digits.")
    if not 0 < arm.share <= 1:
        raise InvalidInput.at("share", f"The share of “{arm.name}” lies above 0 and up to 1.")


def _check_windows(windows: Sequence[Window]) -> None:
    if any(end.tzinfo is None for window in windows for end in (window.start, window.end)):
        raise InvalidInput.at("windows", "Windows start and end in a time zone.")
    ends = [(window.start.timestamp(), window.end.timestamp()) for window in windows]
    if any(end <= start for start, end in ends) or any(
        after[0] < before[1] for before, after in pairwise(ends)
    ):
        raise InvalidInput.at("windows", "Windows follow each other and end after they start.")


def _block(found: Design) -> tuple[int, ...]:
    """How many windows of a block each arm has."""
    for size in range(len(found.arms), LARGEST_BLOCK + 1):
        counts = [arm.share * size for arm in found.arms]
        if all(abs(count - round(count)) < EXACT * size for count in counts):
            return tuple(round(count) for count in counts)
    raise InvalidInput.at(
        "arms", f"The shares are not exact in blocks of up to {LARGEST_BLOCK} windows."
    )


def _check_key(key: bytes) -> bytes:
    if len(key) not in KEY_BYTES:
        raise InvalidInput.at("key", f"A key has {KEY_BYTES[0]} to {KEY_BYTES[-1]} bytes.")
    return key
