"""What a debate says about its own certainty. Protocols gather signals; they route nothing.

Every outcome has, under ``signals``:

=============== ================================================================================
values          step → the value read there, None where there is none
statuses        step → how the call ended
off_menu        step → the answer given there that is not offered, where one was
injection       codes of the signs of orders in what strangers wrote
rung            the highest rung of the parsing ladder that was needed
margin          of the deciding answer: probability of the first label over the second, of a set
                that of its least sure label's being in or out over the contrary; or None
margin_unknown  why the margin is None, a key of ``NO_MARGIN``; "" where it is known
first           the first opinion, before anybody heard anybody else
=============== ================================================================================

and where there was a vote ``d_rate``, ``entropy``, ``votes``; after a discussion ``rounds``,
``rounds_needed``, ``first_d_rate``; after a trial ``candidates``, ``second_by``, ``heard_first``,
``lengths`` of both arguments in characters and ``lengths_read`` once they were made alike,
``precedents``, ``verdicts``, ``judge_changes``; after ECJ ``flips``; after a cascade ``stage`` and
``doubts``. Flags are codes of what asks for a look whatever the numbers say.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelhub.core.debate.ballots import Tally
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm import parsing
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Value

#: The highest rung at which an answer keeps to the form that was asked for.
LAST_STRICT_RUNG = 3


NO_MARGIN: Mapping[str, str] = {
    "several": "several answers decided together, none by itself",
    "no_answer": "there is no answer that could be read",
    "no_probabilities": "the endpoint told no probabilities from which the label's could be read",
}


def debate_signals(
    item: DebateItem,
    replies: Mapping[str, Reply],
    *,
    first: Value | None,
    decided: Reply | None,
    labels: Sequence[str] = (),
) -> dict[str, Any]:
    """The signals that every debate has.

    Args:
        item: what was debated.
        replies: step to reply, in the order of the calls.
        first: the first opinion.
        decided: the reply that decided; None where several did.
        labels: the names that an answer may use.
    """
    return {
        "values": {step: reply.value for step, reply in replies.items()},
        "statuses": {step: str(reply.status) for step, reply in replies.items()},
        "off_menu": {step: reply.off_menu for step, reply in replies.items() if reply.off_menu},
        "injection": list(item_flags(item, labels)),
        "rung": max((reply.rung for reply in replies.values()), default=0),
        **_margin_of(decided),
        "first": first,
    }


def _margin_of(decided: Reply | None) -> dict[str, Any]:
    lead = margin(decided) if decided else None
    return {"margin": lead, "margin_unknown": _no_margin(decided) if lead is None else ""}


def _no_margin(decided: Reply | None) -> str:
    if decided is None:
        return "several"
    if not decided.ok:
        return "no_answer"
    return "no_probabilities"


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
    """The codes of what asks for a look, each once: how answers ended, ``more``, injection."""
    replies = list(replies)
    found = [str(reply.status) for reply in replies if not reply.ok]
    found += ["lenient" for reply in replies if reply.ok and reply.rung > LAST_STRICT_RUNG]
    found += ["cut_off" for reply in replies if reply.ok and reply.cut_off]
    found += more
    found += ["injection"] if item_flags(item, labels) else []
    return tuple(dict.fromkeys(found))


def margin(reply: Reply) -> float | None:
    """Probability of the likeliest label less that of the next, or how far the least sure label of
    a set is from even; None where it is not known."""
    measure = parsing.set_margin if isinstance(reply.value, list) else parsing.margin
    lead = measure(reply.probabilities)
    return None if lead is None else round(lead, 4)


#: Longer options are sentences, which nobody tells a model to repeat.
MAX_NAME = 80

_ROLE = r"(?:system|assistant|user|human)"
# Bounded, as everything that a pattern skips, so that the time grows with the length of a text.
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
#: Signs only where a label on offer follows.
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
        text: what strangers wrote.
        labels: what an answer may be; without them, orders to answer one of them are not known.
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
    """The flags of everything in ``item`` that strangers wrote; its options count as labels."""
    names = (*labels, *item.options)
    context = (text for _, text in item.context)
    parts = (item.text, item.question, *item.options, *context)
    return tuple(sorted({code for part in parts for code in injection_flags(part, names)}))


def _has_name_at(text: str, start: int, name: str) -> bool:
    end = start + len(name)
    return text.startswith(name, start) and not text[end : end + 1].isalnum()
