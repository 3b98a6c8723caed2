"""The call that asks a language model to predict one feature of one message.

The prompt holds the most similar messages with authors' answers; messages, context and free answers
are text of strangers and delimited (paper 004, sections 3.1 and 3.4).

Similarity is by words (:mod:`labelhub.core.similarity`). Answers of the same author in the same
conversation tell most (paper 004, section 5.3) and come first among equally similar ones. Each
choice takes the former ones into account, so that one value does not fill all places (maximal
marginal relevance, Carbonell and Goldstein 1998, over values instead of words).
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelhub.core.llm.prices import estimate_tokens
from labelhub.core.llm.types import Call
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema import Schema
from labelhub.core.schema.menu import label_block
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

    text: the message, already redacted. value: the answer. conversation, author: their ids; "" if
    unknown.
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
        rows = [(same_text_key(e.text), e.value, e.conversation, e.author) for e in self._examples]
        columns = np.array(rows, object).reshape(-1, 4).T
        self._keys, self._values, self._conversations, self._authors = columns
        self._index = TfIdfIndex([example.text for example in self._examples])

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
            best = int(np.argmax(np.where(open_, worth * REPEATED**times, -1.0)))
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
            same = self._values == chosen.value
            times[same] += 1
            open_ &= ~same | (self._keys != self._keys[best])
        return taken


def tokens_of(example: Example) -> int:
    """The approximate tokens of an example in a prompt, rather too many."""
    return estimate_tokens(example.text) + estimate_tokens(example.value) + TOKENS_AROUND


def shorten(text: str, tokens: int) -> str:
    """``text`` cut to about ``tokens`` (2 or more): its beginning, and less of its end."""
    if len(text) <= _READ and estimate_tokens(text) <= tokens:
        return text
    text = text if len(text) <= _READ else text[: _READ // 2] + text[-_READ // 2 :]
    lengths = range(1, len(text))
    return _ends(
        text, bisect_right(lengths, tokens, key=lambda kept: estimate_tokens(_ends(text, kept)))
    )


def _ends(text: str, kept: int) -> str:
    tail = kept // 3
    head = text[: kept - tail]
    # Cut between words if there are any.
    first = head.rpartition(" ")[0] or head
    last = text[len(text) - tail :].partition(" ")[2] if tail else ""
    return f"{first.rstrip()} … {last.lstrip()}".strip()


ROLE = "predict"
#: The probability that all values share: endpoints report only some alternatives of a token.
KEPT_OPEN = 0.01
#: ``top_logprobs`` makes endpoints report alternatives to the chosen token.
_PARAMS: Mapping[str, Any] = {"temperature": 0, "logprobs": True, "top_logprobs": 5}


@dataclass(frozen=True, slots=True)
class MessageContext:
    """A message in the form for models.

    text: already redacted. context: the messages before, (role, text), already redacted and cut.
    conversation, author: their ids; "" if unknown.
    """

    text: str
    context: tuple[tuple[str, str], ...] = ()
    conversation: str = ""
    author: str = ""


def predict_call(
    key: str,
    schema: Schema,
    moment: MessageContext,
    prompt: Prompt,
    salt: str,
    *,
    signs: Mapping[str, Any] | None = None,
    examples: Sequence[Example] = (),
) -> Call:
    """The call that predicts a feature's value for a message.

    Args:
        key: of the feature.
        schema: of its question: one of its values, or free text.
        moment: the message.
        prompt: of the role "predict".
        salt: unknown to authors and constant for a site; makes delimiters that cannot be forged.
        signs: words for models that match text; passed on unchanged.
        examples: the best first, as :class:`ExampleIndex` gives them, and shown last; examples of
            values that the feature no longer has are left out.
    """
    values = schema.names
    known = [example for example in examples if not values or example.value in values]
    before = "\n".join(f"{role}: {text}" for role, text in moment.context)
    earlier = f"What was said before:\n{fence(before, salt)}\n\n" if before else ""
    answers = [{"text": example.text, "answer": example.value} for example in known]
    return Call(
        step=f"{ROLE}/{key}",
        role=ROLE,
        messages=prompt.render(
            examples=[
                {
                    "whose": _example_source(example, moment),
                    "text": fence(example.text, salt),
                    # Free answers are words of strangers.
                    "answer": example.value if values else fence(example.value, salt),
                }
                for example in reversed(known)
            ],
            item=f"{earlier}The message:\n{fence(moment.text, salt)}",
            task=schema.task.prompt_task,
            question=schema.question,
            labels=label_block(schema),
        ),
        prompt_hash=prompt.hash,
        schema=schema,
        text=moment.text,
        inputs={**(signs or {}), "answers": answers},
        params=dict(_PARAMS),
        output=prompt.output,
    )


def _example_source(example: Example, moment: MessageContext) -> str:
    if moment.conversation and example.conversation == moment.conversation:
        return "of the same author in the same conversation"
    if moment.author and example.author == moment.author:
        return "of the same author in another conversation"
    return "of another author" if moment.author and example.author else "from elsewhere"


def normalise_shares(values: Sequence[str], likely: Mapping[str, float]) -> dict[str, float] | None:
    """A model's probabilities of the ``values``, summing to 1 and none of them 0; None without any.

    Args:
        values: all values of the feature.
        likely: the ``probabilities`` of a reply.
    """
    shares = {value: likely.get(value, 0.0) for value in values}
    total = sum(shares.values())
    if not total:
        return None
    open_ = KEPT_OPEN / len(shares)
    return {value: (1 - KEPT_OPEN) * share / total + open_ for value, share in shares.items()}
