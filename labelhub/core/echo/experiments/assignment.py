"""The design of an experiment, and the arm of an author.

The assignment is fixed before the first message and depends only on the design and a secret key: it
can be computed at any time, needs no table, and no event can change it.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate

from labelhub.core.errors import InvalidInput

#: BLAKE2b takes no longer key; a shorter one can be guessed from assignments.
KEY_BYTES = range(16, 65)
EXACT = 1e-9
_NAME = re.compile(r"[a-z][a-z0-9_.:-]{0,63}")


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm.

    Args:
        name: for programs: a small letter, then small letters, digits and ``_.:-``.
        share: of the authors, above 0, at most 1.
        policy: one of ``recommending.policies.POLICIES``; any other offers nothing.
    """

    name: str
    share: float
    policy: str


def check_design(arms: Sequence[Arm], control: str) -> None:
    """Check a design before it is stored.

    Args:
        arms: two or more; their shares sum to 1.
        control: the name of the arm the others are compared with.

    Raises:
        InvalidInput: names, shares or control cannot be used.
    """
    names = [arm.name for arm in arms]
    if len(arms) < 2 or len(set(names)) < len(names):
        raise InvalidInput.at("arms", "An experiment has two arms or more, each with its own name.")
    for arm in arms:
        for field, text in (("name", arm.name), ("policy", arm.policy)):
            if not _NAME.fullmatch(text):
                raise InvalidInput.at(field, f"“{text}” is not a name of small letters and digits.")
        if not 0 < arm.share <= 1:
            raise InvalidInput.at("share", f"The share of “{arm.name}” lies above 0 and up to 1.")
    if abs(math.fsum(arm.share for arm in arms) - 1) > EXACT:
        raise InvalidInput.at("arms", "The shares of the arms sum to 1.")
    if control not in names:
        raise InvalidInput.at("control", f"None of the arms is called “{control}”.")


def position(key: bytes, name: str) -> float:
    """The place of ``name`` in [0, 1), by keyed hash (BLAKE2b, RFC 7693).

    Raises ``InvalidInput`` for a key too short or too long.
    """
    if len(key) not in KEY_BYTES:
        raise InvalidInput.at("key", f"A key has {KEY_BYTES[0]} to {KEY_BYTES[-1]} bytes.")
    plain = name.encode("utf-8", "surrogatepass")
    digest = blake2b(plain, digest_size=8, key=key, person=b"author").digest()
    # The 53 bits a float holds: all 64 might round up to 1.
    return (int.from_bytes(digest, "big") >> 11) / 2**53


def arm_of_author(arms: Sequence[Arm], key: bytes, author: str) -> Arm:
    """The arm of an author, the same for ever."""
    ends = list(accumulate(arm.share for arm in arms))[:-1]
    return arms[bisect_right(ends, position(key, author))]
