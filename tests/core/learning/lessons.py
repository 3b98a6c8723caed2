"""Lessons whose answer is known, made without chance."""

from collections.abc import Sequence

from labelhub.core.learning.lessons import Document, Lesson, Shape

THEMES = (
    ("breakfast", "soup", "waiter", "menu"),
    ("bed", "pillow", "shower", "window"),
    ("train", "taxi", "airport", "bus"),
)


def text(theme: int, at: int) -> str:
    """A text about one theme; no two alike."""
    words = THEMES[theme]
    return f"The {words[at % 4]} and the {words[(at // 4) % 4]} of visit {at} were as they were."


def single(count: int = 60, labels: int = 3, wrong: Sequence[int] = ()) -> Lesson:
    """Items of ``labels`` themes in turn; those at ``wrong`` have the next theme's label."""
    return Lesson(
        shape=Shape.SINGLE,
        names=[f"theme {at}" for at in range(labels)],
        documents=[Document(text(at % labels, at)) for at in range(count)],
        targets=[[(at + (at in wrong)) % labels] for at in range(count)],
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
    for at in range(count):
        present = {label for label in (0, 1) if (at >> label) & 1}
        said = " ".join(text(label, at) for label in sorted(present)) or f"Nothing on {at}."
        documents.append(Document(said))
        targets.append(sorted(present ^ ({0} if at in wrong else set())))
    return Lesson(shape=Shape.MULTI, names=["food", "room"], documents=documents, targets=targets)


def quiet(_step: str, _share: float) -> None:
    """Nobody wants to know how far it is."""
