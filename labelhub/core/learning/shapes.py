"""What an answer looks like, and when to learn anew; nothing here needs scikit-learn."""

from enum import StrEnum

#: So many more labels, or this share of those there are, whichever is more.
MORE, SHARE = 20, 10


class Shape(StrEnum):
    """What an answer looks like; labels of a scale stand in its order."""

    SINGLE = "single"
    ORDINAL = "ordinal"
    MULTI = "multi"


def growth(known: int) -> int:
    """How many more labels are wanted before the learner learns anew."""
    return max(MORE, known // SHARE)
