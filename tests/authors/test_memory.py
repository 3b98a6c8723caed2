"""What an author has written is in no cache of the process once it was dealt with: who deletes it
could not reach it there."""

import functools
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from apps.authors.services.questions import ask_now
from labelhub.core.interview.redaction import redact
from tests.factories.authors import author_of, message_of, site_with_features

#: A sentence and numbers that occur nowhere else.
SENTENCE = "I need a zyzzyva lamp for my tent next week, and it must not cost too much"
NUMBERS = ["0171 2345678", "+49 171 2345678", "(415) 555-2671", "4711 0815 2342"]
TEXT = f"{SENTENCE}; call me at {', '.join(NUMBERS)}."
OURS = ("labelhub", "apps")
_KEPT = (dict, list, tuple, set, frozenset, str)


def remembered() -> Iterator[str]:
    """All text that a cache of ours holds, as part of its keys and values."""
    for cache in gc.get_objects():
        # By its type: an object may stand for another one that is no more, and say so by an error.
        if type(cache) is functools._lru_cache_wrapper and cache.__module__.startswith(OURS):
            yield from _texts(cache)


def _texts(root: Any) -> Iterator[str]:
    seen, open_ = {id(root)}, [root]
    while open_:
        for referent in gc.get_referents(open_.pop()):
            ours = type(referent).__module__.startswith(OURS)
            link = type(referent).__name__ in {"_lru_list_elem", "_HashedSeq"}
            if id(referent) in seen or not (issubclass(type(referent), _KEPT) or ours or link):
                continue
            seen.add(id(referent))
            if issubclass(type(referent), str):
                yield referent
            elif not issubclass(type(referent), type):
                open_.append(referent)


def holds(words: str) -> list[str]:
    """What of the caches holds these words."""
    return [text for text in remembered() if words in text]


@functools.lru_cache(maxsize=4)
def _leaking(text: str) -> tuple[str, int]:
    return text, len(text)


@pytest.mark.thorough
def test_a_cache_that_remembers_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_leaking, "__module__", "labelhub.core.somewhere")
    _leaking("what somebody wrote")
    assert holds("what somebody wrote")
    _leaking.cache_clear()
    assert not holds("what somebody wrote")


@pytest.mark.thorough
@pytest.mark.parametrize("number", NUMBERS)
def test_no_number_of_anybody_stays_when_it_was_taken_out(number: str) -> None:
    redact(TEXT, region="DE")
    assert not holds(number)


@pytest.mark.thorough
@pytest.mark.django_db(transaction=True)
def test_no_message_stays_when_it_was_asked_about() -> None:
    message = message_of(author_of(site_with_features()), TEXT)
    assert ask_now(message.pk)
    assert not holds("zyzzyva lamp")
    assert not [number for number in NUMBERS if holds(number)]
