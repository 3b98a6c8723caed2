"""Signs that a text speaks to the model instead of being judged by it.

A flag sends the item to people; it never changes the label. This is mitigation, not a defence: what
keeps an attack small is that labels come from a closed list and models have no other power.
"""

import re
from collections.abc import Iterable

from labelhub.core.debate.outcome import DebateItem

_VERB = r"(?:ignore|disregard|forget|override|skip|bypass)"
_WHAT = r"(?:instruction|prompt|rule|guideline|direction|context|command)s?"

_SIGNS: dict[str, re.Pattern[str]] = {
    "instruction": re.compile(
        rf"\b{_VERB}\b[^.!?\n]{{0,60}}\b{_WHAT}\b"
        rf"|\b{_VERB}\s+(?:all|any|everything|anything)\b[^.!?\n]{{0,40}}"
        r"\b(?:above|before|previous|prior|earlier)\b"
        r"|\b(?:new|updated|real|actual)\s+(?:system\s+)?instructions?\s*:"
        r"|\b(?:system|developer)\s+prompt\b"
        r"|\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\b|the\b|in\b)"
        r"|\b(?:as\s+an?|dear|attention|note\s+to(?:\s+the)?)\s+"
        r"(?:ai|llm|language\s+model|annotator|assistant|chatbot)\b"
        # Bounded: over a long run of line breaks an open one takes quadratic time.
        r"|(?:^|[.!?:,;\n]|\b(?:please|must|should|and|then))\s{0,20}"
        r"\b(?:respond|reply|answer|output|print|write|say)\s+(?:only|exactly|just)\b"
        r"|\b(?:label|classify|annotate|tag|mark|rate|code)\s+"
        r"(?:this|the|every|all)\b[^.!?\n]{0,40}\bas\b",
        re.IGNORECASE,
    ),
    "role_marker": re.compile(
        r"^[ \t*#>\[(]*(?:system|assistant|user|developer|human|ai|instructions?|extractor|critic"
        r"|judge)[\])*]*[ \t]*:",
        re.IGNORECASE | re.MULTILINE,
    ),
    "chat_token": re.compile(
        r"<\|[\w ]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|</?think(?:ing)?>"
        r"|</?(?:system|assistant|instructions?|text)\b[^>\n]{0,40}>",
        re.IGNORECASE,
    ),
    # A joiner between emoji and the marks of right-to-left scripts are ordinary writing.
    "hidden_character": re.compile(
        "[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
    ),
    "answer": re.compile(
        r"\bthe\s+(?:correct\s+|right\s+|final\s+|best\s+|true\s+)?(?:label|answer)s?\s+"
        r"(?:is|are|should\s+be|must\s+be)\b"
        r"|\bfinal\s+(?:decision|answer)\b"
        r"|\bthe\s+present\s+aspects\b|\baspects\s+present\b"
        r"|[\"'](?:labels?|answer|decision|value)[\"']\s*:",
        re.IGNORECASE,
    ),
    "encoded": re.compile(
        r"(?<![\w/+-])(?=[A-Za-z0-9+/]*\d)(?=[A-Za-z0-9+/]*[A-Z])[A-Za-z0-9+/]{60,}={0,2}"
    ),
}


def injection_flags(text: str) -> tuple[str, ...]:
    """The codes of the signs found in ``text``, sorted.

    ``answer``: states an answer; ``chat_token``: tokens of chat formats; ``encoded``: a long
    base64 run; ``hidden_character``: zero-width, bidirectional or tag characters;
    ``instruction``: commands; ``role_marker``: a line begun as if a role of a chat spoke.
    """
    return tuple(sorted(code for code, sign in _SIGNS.items() if sign.search(text)))


def item_flags(item: DebateItem) -> tuple[str, ...]:
    """The flags of everything in ``item`` that strangers wrote."""
    parts: Iterable[str] = (
        item.text,
        item.question,
        *item.options,
        *(value for _, value in item.context),
    )
    return tuple(sorted({code for part in parts for code in injection_flags(part)}))
