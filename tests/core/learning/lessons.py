"""Lessons whose answer is known, made without chance."""

from collections.abc import Sequence

from labelhub.core.learning.lessons import Document, Lesson, Shape

THEMES = (
    ("breakfast", "soup", "waiter", "menu"),
    ("bed", "pillow", "shower", "window"),
    ("train", "taxi", "airport", "bus"),
)


def text(theme: int, number: int) -> str:
    """A text about one theme; no two alike."""
    words = THEMES[theme]
    first, second = words[number % 4], words[(number // 4) % 4]
    return f"The {first} and the {second} of visit {number} were as they were."


def single(count: int = 60, labels: int = 3, wrong: Sequence[int] = ()) -> Lesson:
    """Items of ``labels`` themes in turn; those at ``wrong`` have the next theme's label."""
    return Lesson(
        shape=Shape.SINGLE,
        names=[f"theme {number}" for number in range(labels)],
        documents=[Document(text(number % labels, number)) for number in range(count)],
        targets=[[(number + (number in wrong)) % labels] for number in range(count)],
    )


def ordinal(count: int = 60) -> Lesson:
    """A scale of three points, a theme each."""
    made = single(count)
    return Lesson(
        shape=Shape.ORDINAL, names=["1", "2", "3"], documents=made.documents, targets=made.targets
    )


def multi(count: int = 60, wrong: Sequence[int] = ()) -> Lesson:
    """Items with none, one or two of two labels; those at ``wrong`` lack or have the first."""
    documents, targets = [], []
    for number in range(count):
        present = {label for label in (0, 1) if (number >> label) & 1}
        words = (
            " ".join(text(label, number) for label in sorted(present)) or f"Nothing on {number}."
        )
        documents.append(Document(words))
        targets.append(sorted(present ^ ({0} if number in wrong else set())))
    return Lesson(shape=Shape.MULTI, names=["food", "room"], documents=documents, targets=targets)


def quiet(_step: str, _share: float) -> None:
    """Nobody wants to know how far it is."""
