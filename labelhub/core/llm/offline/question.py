"""Questions to authors, worded by filling a template; and answers in a few words of the text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from labelhub.core.llm.offline.answers import one_line
from labelhub.core.llm.offline.lexicon import Term
from labelhub.core.llm.offline.look import Look
from labelhub.core.llm.offline.phrase import ranked_phrases
from labelhub.core.llm.offline.words import Token, stems
from labelhub.core.llm.types import Call


def wording(call: Call) -> str:
    """The question that ``call`` asks for, in the form of its prompt.

    ``call.inputs["template"]`` has its words: ``{"question": …, "options": [words]}``. Without a
    template the feature's name has to do.
    """
    template: Mapping[str, Any] = call.inputs.get("template") or _makeshift(call)
    lines = [f"Question: {one_line(str(template['question']))}"]
    options = template.get("options") or {}
    if options:
        lines += ["Options:", *(f"- {one_line(words)}" for words in options)]
    return "\n".join(lines)


def few_words(look: Look, cues: Iterable[str], most: int) -> str:
    """At most ``most`` words of the text: the first of ``cues`` in it, else its longest word."""
    told = [token for token in look.reading.tokens if not look.book.is_in("stop", token.stem)]
    wanted = filter(None, (stems(cue, look.book.irregular) for cue in cues))
    start, end = next(_spans(look.reading.tokens, wanted), None) or _longest(told) or (0, 0)
    said = look.reading.text[start:end] or ranked_phrases(look)[0]
    return " ".join(said.split()[:most])


def _makeshift(call: Call) -> dict[str, Any]:
    name = one_line(str(call.inputs.get("name", "answer"))).lower()
    return {"question": f"What was your {name} when you wrote this?"}


def _spans(tokens: tuple[Token, ...], wanted: Iterable[Term]) -> Iterator[tuple[int, int]]:
    """Where the wanted terms stand in the text, in the order in which they are wanted."""
    for term in wanted:
        for at in range(len(tokens) - len(term) + 1):
            if tuple(token.stem for token in tokens[at : at + len(term)]) == term:
                yield tokens[at].start, tokens[at + len(term) - 1].end


def _longest(told: list[Token]) -> tuple[int, int] | None:
    if not told:
        return None
    token = max(told, key=lambda token: token.end - token.start)
    return token.start, token.end
