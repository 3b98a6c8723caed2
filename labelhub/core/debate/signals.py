"""Signals: a debate's measures of its own certainty. Protocols collect them; the rule routes.

Every outcome has, under ``signals``:

=============== ================================================================================
values          step → its value, or None
statuses        step → how the call ended
off_menu        step → its answer that is not offered, for steps with one
injection       codes of the signs of orders in texts of strangers
rung            the highest rung of the parsing ladder of all replies
margin          of the deciding answer: probability of the first label minus the second; of a set
                the distance of its least certain label from even odds; or None
margin_unknown  why the margin is None, a key of ``NO_MARGIN``; "" if it is known
first           the first opinion, before any role read another
=============== ================================================================================

and after a vote ``d_rate``, ``entropy``, ``votes``; after a discussion ``rounds``,
``rounds_needed``, ``first_d_rate``; after a trial ``candidates``, ``second_by``, ``heard_first``,
``lengths`` of both arguments in characters and ``lengths_read`` after they were equalized,
``precedents``, ``verdicts``, ``judge_changes``; after ECJ ``flips``; after a cascade ``stage`` and
``doubts``. Flags are codes of what people should look at, whatever the numbers are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelhub.core.debate.ballots import Tally
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm import parsing
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Value
from labelhub.core.texts import gettext_noop

#: The highest rung at which an answer has the requested form.
LAST_STRICT_RUNG = 3


NO_MARGIN: Mapping[str, str] = {
    "several": gettext_noop(
        "several answers decided together, and none has a probability margin of its own"
    ),
    "no_answer": gettext_noop("no answer could be read"),
    "no_probabilities": gettext_noop("the endpoint returned no usable probabilities for the label"),
}


def debate_signals(
    item: DebateItem,
    replies: Mapping[str, Reply],
    *,
    first: Value | None,
    decided: Reply | None,
    labels: Sequence[str] = (),
) -> dict[str, Any]:
    """The signals of every debate.

    Args:
        item: the debated item.
        replies: step → reply, in the order of the calls.
        first: the first opinion.
        decided: the reply that decided; None if several decided together.
        labels: the names that an answer may use.
    """
    lead = margin(decided) if decided else None
    unknown = ""
    if decided is None:
        unknown = "several"
    elif lead is None:
        unknown = "no_probabilities" if decided.ok else "no_answer"
    return {
        "values": {step: reply.value for step, reply in replies.items()},
        "statuses": {step: str(reply.status) for step, reply in replies.items()},
        "off_menu": {step: reply.off_menu for step, reply in replies.items() if reply.off_menu},
        "injection": list(item_flags(item, labels)),
        "rung": max((reply.rung for reply in replies.values()), default=0),
        "margin": lead,
        "margin_unknown": unknown,
        "first": first,
    }


def vote_signals(count: Tally) -> dict[str, Any]:
    """The signals of a vote."""
    return {
        "d_rate": count.d_rate,
        "entropy": count.entropy,
        "votes": [[value, n] for value, n in count.votes],
    }


def flags(
    item: DebateItem,
    replies: Iterable[Reply],
    more: Iterable[str] = (),
    *,
    labels: Sequence[str] = (),
) -> tuple[str, ...]:
    """The flags of a debate, each once: the failures of replies, ``more``, injection."""
    replies = list(replies)
    found = [str(reply.status) for reply in replies if not reply.ok]
    found += ["lenient" for reply in replies if reply.ok and reply.rung > LAST_STRICT_RUNG]
    found += ["cut_off" for reply in replies if reply.ok and reply.cut_off]
    found += more
    found += ["injection"] if item_flags(item, labels) else []
    return tuple(dict.fromkeys(found))


def margin(reply: Reply) -> float | None:
    """The probability of the likeliest label minus the next, or the distance of the least certain
    label of a set from even odds; None if unknown."""
    measure = parsing.set_margin if isinstance(reply.value, list) else parsing.margin
    lead = measure(reply.probabilities)
    return None if lead is None else round(lead, 4)


#: Longer options are sentences, which no order to a model repeats.
MAX_NAME = 80

_ROLE = r"(?:system|assistant|user|human)"
# Bounded like every gap in a pattern, so that time grows linearly with the text.
_GAP = r"[^.!?]{0,40}"
_IGNORE = (
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|(?<!not\s)(?<!n['’]t\s)forget|override|bypass"
    r"|(?:do\s+not|don['’]t|stop)\s+(?:follow|obey)(?:ing)?)\b"
)
_EARLIER = r"\b(?:previous|prior|earlier|preceding|above|original|system|your|all|any|every)\b"
_RULES = r"\b(?:instruction|prompt|rule|guideline|direction|directive|definition|command)s?\b"
_SIGNS: dict[str, re.Pattern[str]] = {
    code: re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)
    for code, patterns in {
        "answer": (r"\bfinal\s(?:decision|answer)[*_]{0,3}\s?:",),
        "chat_token": (
            r"<\|[\w ]{1,40}\|>",
            r"\[/?inst\]",
            r"<</?sys>>",
            r"</?s>",
            r"<(?:start|end)_of_turn>",
            r"</?think(?:ing)?>",
            rf"</?{_ROLE}>",
            r"^###[ \t]?(?:system|instruction|input|response)s?:",
            # The delimiters of our own prompts.
            r"<\s{0,5}/?\s{0,5}text\b",
        ),
        "comment": (r"<!--", r"display\s?:\s?none"),
        "encoded": (
            (
                r"(?-i:(?<![\w/+.-])(?=[A-Za-z0-9+/]{0,200}\d)(?=[A-Za-z0-9+/]{0,200}[A-Z])"
                r"[A-Za-z0-9+/]{40,}+={0,2}(?![\w/+-]))"
            ),
        ),
        # Not the joiners that Persian and emoji are written with.
        "hidden_character": (
            "[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]",
        ),
        "instruction": (
            rf"{_IGNORE}{_GAP}{_EARLIER}{_GAP}{_RULES}",
            (
                rf"{_IGNORE}\s+(?:all|everything|anything|the)\s+(?:of\s+the\s+|{_RULES}\s+)?"
                r"(?:above|before)\b"
            ),
            r"\byou\s+are\s+(?:now|no\s+longer)\s+an?\b",
            r"\bnew\s+(?:system\s+)?(?:instructions?|task)\s?:",
            (
                r"\b(?:reveal|repeat|print|quote|show|output)\b"
                rf"{_GAP}\b(?:your|system)\s+(?:prompt|instructions)\b"
            ),
        ),
        "role_marker": (rf"^[ \t>*#\[(-]{{0,9}}{_ROLE}[\])*]{{0,4}}[ \t]?:",),
    }.items()
}
_QUOTES = r"[\"'“‘«*`(\[ ]{0,4}"
#: Signs only if an offered label follows.
_SIGNS_BEFORE_LABELS: dict[str, re.Pattern[str]] = {
    "answer": re.compile(
        r"(?:^[ \t>*#-]{0,9}|[\"'])(?:labels?|answer|decision|verdict)[\"'*_]{0,3}\s?[:=]"
        rf"\s?{_QUOTES}",
        re.MULTILINE,
    ),
    "instruction": re.compile(
        r"\b(?:(?:label|classify|annotate|categori[sz]e|mark|rate|tag)"
        rf"\s+(?:this|these|it|the|every|each|all)\b{_GAP}?\sas"
        rf"|(?:answer|reply|respond|output)\s+(?:only|just|exactly|with)(?:\s+with)?):?\s{_QUOTES}"
    ),
}


def injection_flags(text: str, labels: Sequence[str] = ()) -> tuple[str, ...]:
    """The codes of the signs found in ``text``, sorted.

    ``answer``: a line that states an answer; ``chat_token``: tokens of chat formats and forms of
    our own delimiters; ``comment``: words that a page would not show; ``encoded``: a long base64
    run; ``hidden_character``: zero-width, bidirectional or tag characters; ``instruction``: usual
    commands in English; ``role_marker``: a line that begins as if a role of a chat spoke.

    Args:
        text: a text of strangers.
        labels: the possible answers; without them, orders to give one of them are not found.
    """
    found = {code for code, pattern in _SIGNS.items() if pattern.search(text)}
    folded = text.casefold()
    names = [label.strip().casefold() for label in labels if 0 < len(label.strip()) <= MAX_NAME]
    for code, pattern in _SIGNS_BEFORE_LABELS.items():
        ends = (match.end() for match in pattern.finditer(folded))
        if any(_has_name_at(folded, end, name) for end in ends for name in names):
            found.add(code)
    return tuple(sorted(found))


def item_flags(item: DebateItem, labels: Sequence[str] = ()) -> tuple[str, ...]:
    """The signs in all texts of ``item``; its options count as labels."""
    names = (*labels, *item.options)
    context = (text for _, text in item.context)
    parts = (item.text, item.question, *item.options, *context)
    return tuple(sorted({code for part in parts for code in injection_flags(part, names)}))


def _has_name_at(text: str, start: int, name: str) -> bool:
    end = start + len(name)
    return text.startswith(name, start) and not text[end : end + 1].isalnum()
