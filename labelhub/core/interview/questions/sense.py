"""Whether a model's question asks what the feature asks, and leaves the answer open.

The answers of a feature with fixed values are its own; a question that turns its sense round would
make every one of them stand for its opposite, and one that names a value pushes it. Where this
cannot be told, the feature's own question is taken.
"""

import re
from collections.abc import Iterator

from labelhub.core.interview.features import NUMBER, WORD, Feature
from labelhub.core.interview.questions.draft import Draft, Fault
from labelhub.core.interview.questions.tables import Table, is_known, plain
from labelhub.core.interview.questions.text import content
from labelhub.core.interview.tokens import folded, is_dense

#: Letters from which on a word says what a question is about.
_LEAST_LETTERS = 4
_WORD = re.compile(r"\w+")
#: How it is asked what somebody felt, where that is all that is asked.
_FEELING = re.compile(
    r"\b(?:feel(?:ing)?|felt|ge?fuhl\w*|fuhl\w*|sent\w+|sient\w+|sint\w+|ressent\w+)\b"
    "|気持ち|感じ|شعور|شعرت|تشعر"
)


def sense_faults(draft: Draft, feature: Feature, table: Table) -> Iterator[Fault]:
    """What speaks against a model's question: it denies, names an answer, asks something else."""
    ready = feature.template(draft.language)
    if feature.answer == WORD or (ready is not None and draft.text == ready.question):
        return
    own = _own_words(feature, draft.language)
    if feature.values:
        yield from _turned(draft.text, own, table)
        yield from _unrelated(draft, feature, own, table)
    yield from _pushed(draft, feature, own, table)


def _own_words(feature: Feature, language: str) -> str:
    template = feature.template(language)
    asked = template.question if template else ""
    return plain(f"{asked} {feature.name} {feature.definition}")


def _turned(text: str, own: str, table: Table) -> Iterator[Fault]:
    said = {found[0] for found in table.turning.finditer(plain(text))}
    for word in sorted(said - {found[0] for found in table.turning.finditer(own)}):
        yield Fault("turned", f'"{word}" may turn the sense of the question round.')


def _unrelated(draft: Draft, feature: Feature, own: str, table: Table) -> Iterator[Fault]:
    ready = feature.template(draft.language)
    if not is_known(draft.language) or ready is None:
        return
    if not (
        _subject(draft.text, table) & _subject(own, table)
        or (
            _asks_for_feeling_alone(draft.text, table)
            and _asks_for_feeling_alone(ready.question, table)
        )
    ):
        yield Fault("unrelated", f"It does not ask what '{feature.name}' asks.")


def _asks_for_feeling_alone(text: str, table: Table) -> bool:
    return not _subject(text, table) and _FEELING.search(folded(text)) is not None


def _subject(text: str, table: Table) -> frozenset[str]:
    """What a text is about, as stems; of Japanese its Chinese characters."""
    told = plain(text)
    stems = content(" ".join(_WORD.findall(table.asking.sub(" ", told))), table)
    dense = {char for char in told if is_dense(char) and char > "\u3100"}
    return frozenset({each[:5] for each in stems if len(each) >= _LEAST_LETTERS} | dense)


def _pushed(draft: Draft, feature: Feature, own: str, table: Table) -> Iterator[Fault]:
    """Of answers that a question names, all or none may be in it."""
    asked = content(draft.text, table) - content(own, table)
    signs = {words: _signs(words, feature, draft, table) for words in draft.options}
    named = [words for words, told in signs.items() if any(each <= asked for each in told)]
    counted = feature.answer == NUMBER and any(map(str.isdecimal, draft.text))
    if counted or (named and len(named) < len(draft.options)):
        yield Fault("pushes", "It names one of the answers.")


def _signs(words: str, feature: Feature, draft: Draft, table: Table) -> list[frozenset[str]]:
    """What names an answer: its words, and those that its value is known by."""
    value = draft.values.get(words, "")
    names = [words, value.replace("_", " "), *feature.meanings.get(value, "").split(",")]
    return [told for name in names if name.strip() and (told := content(name, table))]
