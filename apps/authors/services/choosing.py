"""Who decides what authors are asked about, where a site learns that.

What learns it stands above this app and is made known here once, when the server starts.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from apps.authors.models import Feature, Message
from apps.authors.services.throttling import Asked
from labelhub.core.interview.calls import Chooser
from labelhub.core.interview.pipeline import AuthorMessage


class MessageChooser(Chooser, Protocol):
    """A chooser for one message, which keeps what it chose."""

    def store(self) -> None:
        """Write down what was chosen and why; in the transaction that stores the questions."""
        ...


ChooserFor: TypeAlias = Callable[
    [Message, AuthorMessage, Sequence[Feature], Sequence[Asked]], MessageChooser | None
]
_known: list[ChooserFor] = []


def decide_by(chooser_for: ChooserFor) -> None:
    """Let ``chooser_for`` decide at the sites for whose messages it has a chooser."""
    if chooser_for not in _known:
        _known.append(chooser_for)


def chooser_for(
    message: Message, shown: AuthorMessage, features: Sequence[Feature], asked: Sequence[Asked]
) -> MessageChooser | None:
    """Who decides for this message, ``shown`` to models; None: what its author was asked about
    least."""
    for known in _known:
        chooser = known(message, shown, features, asked)
        if chooser is not None:
            return chooser
    return None
