"""The texts that models debate in the benchmark, and the labels they choose from."""

import random

LABELS = ("Food", "Service", "Price", "Rooms", "Place")
SEED = 7


def texts_of_words(count: int, words: int = 30) -> list[str]:
    """``count`` different texts of so many words; the same every time."""
    rng = random.Random(SEED)  # noqa: S311 - data, not secrets
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(2000)]
    return [" ".join(rng.choices(known, k=words)).capitalize() + "." for _ in range(count)]
