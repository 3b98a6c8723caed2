"""Signs that a text speaks to the model instead of being judged by it.

A flag sends the item to people; it never changes the label. This is mitigation, not a defence: what
keeps an attack small is that labels come from a closed list and models have no other power.
"""

from collections.abc import Iterable
from functools import lru_cache

from labelhub.core.debate.outcome import DebateItem
from labelhub.core.debate.signs import SIGNS, Sign


# The signals and the flags of an outcome both ask, one right after the other.
@lru_cache(maxsize=64)
def injection_flags(text: str) -> tuple[str, ...]:
    """The codes of the signs found in ``text``, sorted.

    ``answer``: states an answer; ``chat_token``: tokens of chat formats; ``comment``: words that a
    page would not show; ``encoded``: a long base64 run; ``hidden_character``: zero-width,
    bidirectional or tag characters; ``instruction``: commands; ``role_marker``: a line begun as if
    a role of a chat or a debate spoke.
    """
    folded = " ".join(text.casefold().split())
    return tuple(
        sorted(
            code
            for code, signs in SIGNS.items()
            if any(_found(sign, text, folded) for sign in signs)
        )
    )


def item_flags(item: DebateItem) -> tuple[str, ...]:
    """The flags of everything in ``item`` that strangers wrote."""
    parts: Iterable[str] = (
        item.text,
        item.question,
        *item.options,
        *(value for _, value in item.context),
    )
    return tuple(sorted({code for part in parts for code in injection_flags(part)}))


def _found(sign: Sign, text: str, folded: str) -> bool:
    words, pattern = sign
    return any(word in folded for word in words) and bool(pattern.search(text))
