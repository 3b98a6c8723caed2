"""Few-shot examples: similar and varied author-labelled messages for the prompt of a feature.

Similarity is by words (:mod:`labelhub.core.similarity`). Answers of the same author in the same
conversation tell most (paper 004, section 5.3) and come first among equally similar ones. Each
choice takes the former ones into account, so that one value does not fill all places (maximal
marginal relevance, Carbonell and Goldstein 1998, over values instead of words).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelhub.core.llm.prices import estimate_tokens
from labelhub.core.similarity import PLACES, TfIdfIndex, same_text_key

#: The bonus of the same conversation, or else of the same author, on a similarity of 0 to 1. A much
#: more similar message still comes first.
SAME_CONVERSATION, SAME_AUTHOR = 0.25, 0.1
#: From this similarity on a message is a copy, whose answer would be given away.
NEAR_DUPLICATE = 0.9
#: The factor on an example's worth for each chosen one with the same value.
REPEATED = 0.7
#: The least similarity: even a message without a common word shows how a value is used.
LEAST = 0.01
#: The most tokens of a message in a prompt.
MOST_TEXT_TOKENS = 120
#: Tokens of an example besides its two texts: delimiters and words around them.
TOKENS_AROUND = 55
#: Characters of a long message that are read, half of them from its beginning.
_READ = 8_000
#: How many examples may be skipped because they are too long.
_MOST_PASSED = 20


@dataclass(frozen=True, order=True, slots=True)
class Example:
    """A message and its author's answer.

    Args:
        text: the message, already redacted.
        value: the author's answer.
        conversation: an id of the conversation; "" if unknown.
        author: an id of the author; "" if unknown.
    """

    text: str
    value: str
    conversation: str = ""
    author: str = ""


class ExampleIndex:
    """An index of the examples of one feature.

    Order and repetitions of the given examples do not matter.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        self._examples = sorted({example for example in examples if example.text.strip()})
        texts = [example.text for example in self._examples]
        values = [example.value for example in self._examples]
        keys = [same_text_key(text) for text in texts]
        self._keys = np.array(keys, object)
        self._conversations = np.array([example.conversation for example in self._examples], object)
        self._authors = np.array([example.author for example in self._examples], object)
        self._values = _number_names(values)
        self._alike = _number_names(list(zip(values, keys, strict=True)))
        self._index = TfIdfIndex(texts)

    def nearest(
        self, text: str, *, most: int, tokens: int, conversation: str = "", author: str = ""
    ) -> list[Example]:
        """The examples for a message, the best first, with cut texts.

        Never the message itself or a near copy, which would give its answer away; only one of
        equal texts with the same value.

        Args:
            text: the message.
            most: the most examples.
            tokens: the most tokens of all examples, as :func:`tokens_of` counts them.
            conversation: of the message; its examples get a bonus.
            author: of the message; examples of theirs get a smaller bonus.
        """
        if not self._examples:
            return []
        likeness = np.round(self._index.similarities(text), PLACES)
        open_ = (self._keys != same_text_key(text)) & (likeness < NEAR_DUPLICATE)
        near = (self._conversations == conversation) & (conversation != "")
        own = (self._authors == author) & (author != "")
        bonus = np.where(near, SAME_CONVERSATION, np.where(own, SAME_AUTHOR, 0.0))
        worth = np.maximum(likeness, LEAST) + bonus
        taken: list[Example] = []
        passed, times = 0, np.zeros(len(worth), np.int64)
        while len(taken) < most and passed < _MOST_PASSED and open_.any():
            best = int(np.argmax(np.where(open_, worth * REPEATED ** times[self._values], -1.0)))
            open_[best] = False
            chosen = self._examples[best]
            shown = replace(chosen, text=shorten(chosen.text, MOST_TEXT_TOKENS))
            cost = tokens_of(shown)
            # A shorter, less similar one may still fit.
            if cost > tokens:
                passed += 1
                continue
            taken.append(shown)
            tokens -= cost
            times[self._values[best]] += 1
            open_ &= self._alike != self._alike[best]
        return taken


def tokens_of(example: Example) -> int:
    """The approximate tokens of an example in a prompt, rather too many."""
    return estimate_tokens(example.text) + estimate_tokens(example.value) + TOKENS_AROUND


def shorten(text: str, tokens: int) -> str:
    """``text`` cut to about ``tokens`` (2 or more): its beginning, and less of its end."""
    if len(text) <= _READ and estimate_tokens(text) <= tokens:
        return text
    text = text if len(text) <= _READ else text[: _READ // 2] + text[-_READ // 2 :]
    low, high = 0, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        fits = estimate_tokens(_ends(text, middle)) <= tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return _ends(text, low)


def _ends(text: str, kept: int) -> str:
    tail = kept // 3
    head = text[: kept - tail]
    # Cut between words if there are any.
    first = head.rpartition(" ")[0] or head
    last = text[len(text) - tail :].partition(" ")[2] if tail else ""
    return f"{first.rstrip()} … {last.lstrip()}".strip()


def _number_names(names: Sequence[Hashable]) -> NDArray[np.int64]:
    """A number for each name, equal for equal names: (names,)."""
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], np.int64)
