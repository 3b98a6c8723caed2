"""Which author-labelled messages a model that predicts a feature is shown: near and of some spread.

Nearness is by words (:mod:`labelhub.core.similarity`). What the same person answered in the same
conversation tells most (paper 004, section 5.3), so that it comes first where words are about as
near. What is taken is weighed against what was taken before, so that one value does not fill all
places (maximal marginal relevance, Carbonell and Goldstein 1998, over values instead of words).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from labelhub.core.llm.prices import estimate_tokens
from labelhub.core.similarity import PLACES, TfIdfIndex, same_text_key

#: What being of the same conversation, or of the same author in another one, adds to a likeness of
#: 0 to 1; never both. Bounded, so that a much nearer message still comes first.
SAME_CONVERSATION, SAME_AUTHOR = 0.25, 0.1
#: From this likeness on it is the message itself over again, whose answer would be given away.
NEAR_DUPLICATE = 0.9
#: What an example is worth with each one taken before that has its value.
REPEATED = 0.7
#: Even a message with no word in common shows how a value is used.
LEAST = 0.01
#: Tokens of a message that are shown.
MOST_TEXT_TOKENS = 120
#: Tokens of an example beside its two texts: delimiters, and the words around them.
TOKENS_AROUND = 55
#: Characters of an overlong message that are looked at, half from its beginning.
_READ = 8_000
#: How many that are too long are passed over.
_MOST_PASSED = 20

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A message and what its author answered.

    Args:
        text: the message, already redacted.
        value: the author's answer.
        predicted: what had been guessed before the answer; "" where nothing was.
        conversation: what tells conversations apart; "" where that is not known.
        author: what tells authors apart; "" where that is not known.
        context: what was said before the message, (role, text), already redacted and cut.
    """

    text: str
    value: str
    predicted: str = ""
    conversation: str = ""
    author: str = ""
    context: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """Equal for equal examples, and only for them: 32 hexadecimal digits."""
        fields = json.dumps([getattr(self, name) for name in self.__dataclass_fields__])
        return blake2b(fields.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Wanted:
    """For which message examples are wanted, and how many.

    Examples of its conversation get a bounded bonus, those of its author a smaller one.

    Args:
        text: the message.
        most: of the examples.
        tokens: of all of them together at most, as :func:`tokens_of` counts them.
        conversation: the message's; "" where it is not known.
        author: the message's; "" where it is not known.
    """

    text: str
    most: int
    tokens: int
    conversation: str = ""
    author: str = ""


class ExampleIndex:
    """Examples of one feature, ready to be looked up.

    The order in which they are given does not matter, nor how often one is given.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        distinct = {example.digest: example for example in examples if example.text.strip()}
        self._examples = tuple(distinct[key] for key in sorted(distinct))
        self._keys = _name_array([same_text_key(example.text) for example in self._examples])
        self._conversations = _name_array([example.conversation for example in self._examples])
        self._authors = _name_array([example.author for example in self._examples])
        self._values = _number_names([example.value for example in self._examples])
        pairs = zip(self._keys, self._values, strict=True)
        self._alike = _number_names([f"{value}:{key}" for key, value in pairs])
        self._index = TfIdfIndex([example.text for example in self._examples])

    def __len__(self) -> int:
        return len(self._examples)

    def nearest(self, wanted: Wanted) -> tuple[Example, ...]:
        """The examples to show beside a message, the best first, their texts cut.

        Never the message itself, nor what is so like it that its answer would be given away; only
        one of those that read the same and have the same value.
        """
        if not self._examples or wanted.most < 1:
            return ()
        likeness = np.round(self._index.similarities(wanted.text), PLACES)
        open_ = (self._keys != same_text_key(wanted.text)) & (likeness < NEAR_DUPLICATE)
        worth = np.maximum(likeness, LEAST) + self._bonus(wanted)
        return self._select(worth, open_, wanted)

    def _select(
        self, worth: _Floats, open_: NDArray[np.bool_], wanted: Wanted
    ) -> tuple[Example, ...]:
        taken: list[Example] = []
        left, passed = wanted.tokens, 0
        times = np.zeros(len(worth), np.int64)
        while len(taken) < wanted.most and passed < _MOST_PASSED and open_.any():
            gains = np.where(open_, worth * REPEATED ** times[self._values], -1.0)
            best = int(np.argmax(gains))
            open_[best] = False
            chosen = self._examples[best]
            shown = replace(chosen, text=shorten(chosen.text, MOST_TEXT_TOKENS), context=())
            cost = tokens_of(shown)
            # One that is too long leaves room for a shorter one that is less near.
            if cost > left:
                passed += 1
                continue
            taken.append(shown)
            left -= cost
            times[self._values[best]] += 1
            open_ &= self._alike != self._alike[best]
        return tuple(taken)

    def _bonus(self, wanted: Wanted) -> _Floats:
        """For the same conversation, else for the same author; where these are known."""
        near = (self._conversations == wanted.conversation) & (self._conversations != "")
        own = (self._authors == wanted.author) & (self._authors != "")
        return np.where(near, SAME_CONVERSATION, np.where(own, SAME_AUTHOR, 0.0))


def tokens_of(example: Example) -> int:
    """About how many tokens an example takes in a prompt, on the high side."""
    return estimate_tokens(example.text) + estimate_tokens(example.value) + TOKENS_AROUND


def shorten(text: str, tokens: int) -> str:
    """``text`` within about so many tokens (2 or more): its beginning, and less of its end."""
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
    # Between words, where there are any.
    first = head.rpartition(" ")[0] or head
    last = text[len(text) - tail :].partition(" ")[2] if tail else ""
    return f"{first.rstrip()} … {last.lstrip()}".strip()


def _name_array(names: Sequence[str]) -> NDArray[np.object_]:
    """Names to be compared all at once."""
    return np.array(names, dtype=object)


def _number_names(names: Sequence[str]) -> _Ints:
    """A number for each name, equal for equal ones."""
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], np.int64)
