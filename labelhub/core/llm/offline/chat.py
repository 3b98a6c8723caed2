"""The offline model as a shop's assistant: it says what it is, and asks one thing at a time."""

import re
from collections.abc import Sequence

from labelhub.core.llm.offline.matcher import lexicon

_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")
#: Characters of a text that are read, and from how many words on somebody has told their wish.
_READ, _WISH = 2000, 4


def chat_reply(history: Sequence[tuple[str, str]], instructions: str) -> str:
    """The next reply in a conversation; a few sentences that repeat nobody's words.

    Args:
        history: (role, text), oldest first; all roles but ``assistant`` are the author's.
        instructions: those of the site; they tell the language where the author's words do not.
    """
    texts = [text[:_READ] for role, text in history if role != "assistant"] or [""]
    replies = [text.strip() for role, text in history if role == "assistant"]
    told, says = " ".join(texts), lexicon()["chat"][_language(texts, instructions)]
    first = not any(reply.endswith(tuple(says["questions"])) for reply in replies)
    parts: list[str] = [says["what_i_am"]] if first else []
    asks = "?" in texts[-1].replace("？", "?")
    if asks or not first:
        parts.append(says["cannot" if asks else "noted"])
    wish, price, *others = says["questions"]
    open_ = others if re.search(r"\d", told) else [price, *others]
    open_ = open_ if len(told.split()) >= _WISH or _KANA.search(told) else [wish, *open_]
    asked = "\n".join(replies)
    parts.append(next((question for question in open_ if question not in asked), others[-1]))
    return " ".join(parts)


def _language(texts: Sequence[str], instructions: str) -> str:
    """That of the last text, of all of them, or of the instructions: the first that tells one."""
    chat: dict[str, dict[str, str]] = lexicon()["chat"]
    marks = {language: says["marks"].split() for language, says in chat.items()}
    for text, least in ((texts[-1], 2), (" ".join(texts), 1), (instructions, 2)):
        if _KANA.search(text):
            return "ja"
        words = _WORD.findall(text.casefold())
        hits = {language: sum(word in known for word in words) for language, known in marks.items()}
        best = max(hits, key=lambda language: hits[language])
        if hits[best] >= least:
            return best
    return "en"
