"""Signs that a text speaks to the model instead of being judged by it.

A flag sends the item to people; it never changes the label. This is mitigation, not a defence: what
keeps an attack small is that labels come from a closed list and models have no other power.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from labelhub.core.debate.outcome import DebateItem
from labelhub.core.debate.signs import LABELLED_SIGNS, SIGNS, Reading, Sign
from labelhub.core.debate.signs.forms import ENCODED, HIDDEN
from labelhub.core.debate.signs.hidden import decoded
from labelhub.core.debate.signs.plain import NAME, SURE_NAME, readings, with_labels_marked


def injection_flags(text: str, labels: Sequence[str] = ()) -> tuple[str, ...]:
    """The codes of the signs found in ``text``, sorted.

    ``answer``: states an answer; ``chat_token``: tokens of chat formats; ``comment``: words that a
    page would not show; ``encoded``: a long base64 run, or orders encoded or turned round;
    ``hidden_character``: zero-width, bidirectional or tag characters; ``instruction``: commands;
    ``role_marker``: a line begun as if a role of a chat or a debate spoke.

    Args:
        text: what strangers wrote.
        labels: what an answer may be; without them, orders to answer one of them are not known.
    """
    return _flags(text, tuple(labels))


def item_flags(item: DebateItem, labels: Sequence[str] = ()) -> tuple[str, ...]:
    """The flags of everything in ``item`` that strangers wrote; its options count as labels."""
    names = (*labels, *item.options)
    parts: Iterable[str] = (
        item.text,
        item.question,
        *item.options,
        *(value for _, value in item.context),
    )
    return tuple(sorted({code for part in parts for code in injection_flags(part, names)}))


# The signals and the flags of an outcome both ask, one right after the other.
@lru_cache(maxsize=64)
def _flags(text: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    found = set(_open_flags(text, labels))
    if HIDDEN.search(text):
        found.add("hidden_character")
    if ENCODED.search(text) or any(any(_open_flags(said, labels)) for said in decoded(text)):
        found.add("encoded")
    return tuple(sorted(found))


def _open_flags(text: str, labels: tuple[str, ...]) -> Iterator[str]:
    """The codes of the signs in ``text`` however its letters are disguised."""
    for each in readings(text):
        reading = Reading(each)
        yield from _codes(SIGNS, reading, each)
        marked = with_labels_marked(each, labels)
        if SURE_NAME in marked or NAME in marked:
            yield from _codes(LABELLED_SIGNS, reading, marked)


def _codes(
    signs_by_code: Mapping[str, tuple[Sign, ...]], reading: Reading, searched: str
) -> Iterator[str]:
    for code, signs in signs_by_code.items():
        if any(sign.may_be_in(reading) and sign.pattern.search(searched) for sign in signs):
            yield code
