"""Arguments of like length: the longer one would win by its length alone (paper 002, 3.2)."""

import re

#: By how much one side may be longer than the other before whole sentences of it are left out.
TOLERANCE = 1.25
_CLOSING = r"[\"”’»)\]]*+"
#: A stop ends a sentence before a blank; those of Chinese and Japanese need none.
_SENTENCE = re.compile(
    rf".+?(?:[.!?…]++{_CLOSING}(?=\s|$)|[。！？]++{_CLOSING}|\n|$)",
    re.DOTALL,
)


def equalised(one: str, other: str, longest: int) -> tuple[str, str]:
    """Both texts, neither longer than ``longest`` characters, and as like in length as leaving out
    whole sentences at the end of the longer one can make them."""
    one, other = within(one, longest), within(other, longest)
    return _like(one, len(other)), _like(other, len(one))


def within(text: str, longest: int) -> str:
    """As many whole sentences of ``text`` as fit into ``longest`` characters; at least the first,
    cut to size."""
    text = text.strip()
    if len(text) <= longest:
        return text
    fitting = [end for end in _ends(text[: longest + 1]) if end <= longest]
    return text[: fitting[-1] if fitting else longest].strip()


def _like(text: str, length: int) -> str:
    """``text`` up to the end of that sentence which brings it nearest to ``length``."""
    if not length or len(text) <= length * TOLERANCE:
        return text
    return text[: min(_ends(text), key=lambda end: abs(end - length))].strip()


def _ends(text: str) -> list[int]:
    """Where the sentences of ``text`` end."""
    return [sentence.end() for sentence in _SENTENCE.finditer(text)]
