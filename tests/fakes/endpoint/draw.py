"""Chance that is no chance: numbers out of a hash, the same for the same request."""

import hashlib
import re

# The ids of delimiters differ between runs; what a rerun asks is the same all the same.
_FENCE_ID = re.compile(rb'text id=\\"[0-9a-f]{8}\\"')


def digest_of(body: bytes) -> str:
    """What tells two request bodies apart."""
    return hashlib.blake2b(_FENCE_ID.sub(b"text", body), digest_size=12).hexdigest()


class Draw:
    """Numbers in [0, 1), by the seed, the body and how often this body has come; one a name."""

    __slots__ = ("_key", "_seed")

    def __init__(self, seed: str, digest: str, arrival: int) -> None:
        self._seed = seed
        self._key = f"{seed}:{digest}:{arrival}"

    def __call__(self, name: str) -> float:
        """The number of that name."""
        return _number(f"{self._key}:{name}")

    def of_text(self, text: str) -> float:
        """A number that depends on the seed and ``text`` alone."""
        return _number(f"{self._seed}:{text}")


def _number(key: str) -> float:
    drawn = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(drawn) / 2**64
