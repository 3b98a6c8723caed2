"""Signs that a text speaks to the model instead of being judged by it.

A flag sends the item to people; it never changes the label. The signs are a hint, not a defence:
an attacker who knows them, or who does not write English, avoids them easily. What protects is
elsewhere: texts stand between delimiters that their authors cannot forge (``prompts.fence``),
answers are parsed strictly, an answer that is not offered is no answer, and models can do nothing
but answer.
"""

import re
from collections.abc import Sequence

from labelhub.core.debate.outcome import DebateItem

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
