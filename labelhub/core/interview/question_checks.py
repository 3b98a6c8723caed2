"""Check a question before it is shown: rules of form, of wording, and of the options.

Source: author-widget.md, sections 3.4 (lengths, closed values, no markup) and 7, point 8 (the
author's own state, no second question, nothing presupposed, options that exclude each other).

A model's question must also ask what the feature asks and leave the answer open. A feature with
fixed values has its own answers: a question with the reversed sense would make each of them mean
its opposite, and a question that names a value pushes it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations

from labelhub.core.interview.features import CHOICE, NUMBER, WORD, Feature
from labelhub.core.interview.language import detect_language, is_dense
from labelhub.core.interview.number_ranges import overlapping_ranges
from labelhub.core.interview.questions import Draft, Fault
from labelhub.core.interview.wording import (
    Table,
    bad_character,
    content,
    is_known,
    is_written_in,
    known_languages,
    plain,
    table_of,
    word_count,
)
from labelhub.core.leaks import Leaks, no_leaks
from labelhub.core.safety import names_danger

LONGEST_OPTION = 40
#: The prompt asks for four; articles of some languages add up to two more.
MOST_OPTION_WORDS = 6

_PUNCTUATION = re.compile(r"[^\w\s']+")


def option_faults(draft: Draft, feature: Feature, table: Table) -> Iterator[Fault]:
    """The faults of the options of a question about ``feature``."""
    if len(draft.options) != feature.option_count:
        problem = f"There are {len(draft.options)} options; there must be {feature.option_count}."
        yield Fault("option_count", problem)
    if not draft.predicted or draft.predicted not in draft.options:
        yield Fault("predicted_missing", "No option says what was predicted.")
    yield from _value_faults(draft, feature)
    for option in draft.options:
        yield from _single_option_faults(option, table)
    # The words of fixed values are the site's.
    if not feature.values:
        for first, second in combinations(draft.options, 2):
            yield from _pair_faults(first, second, table)


def _value_faults(draft: Draft, feature: Feature) -> Iterator[Fault]:
    if not feature.values:
        return
    values = [draft.values.get(option, "") for option in draft.options]
    if not set(values) <= set(feature.values):
        yield Fault("no_value", "An option stands for none of the values that are offered.")
    known = [value for value in values if value]
    if len(set(known)) < len(known):
        yield Fault("same_value", "Two options stand for the same value.")


def _single_option_faults(option: str, table: Table) -> Iterator[Fault]:
    bare = _bare(option)
    if not bare:
        yield Fault("option_empty", "An option has no words.")
        return
    if len(option) > LONGEST_OPTION or word_count(option) > MOST_OPTION_WORDS:
        most = f"at most {MOST_OPTION_WORDS} words and {LONGEST_OPTION} characters"
        yield Fault("option_too_long", f"An option is too long; {most} fit.")
    if table.catch_all.fullmatch(bare) or table.catch_start.match(bare):
        yield Fault("catch_all", "An option says none, other or skip; these are added elsewhere.")


def _pair_faults(first: str, second: str, table: Table) -> Iterator[Fault]:
    if _bare(first) == _bare(second):
        yield Fault("duplicate", "Two options are the same.")
    elif _overlap(content(first, table), content(second, table), table) or overlapping_ranges(
        (first, second)
    ):
        yield Fault("overlap", "Two options do not exclude each other.")


def _overlap(first: frozenset[str], second: frozenset[str], table: Table) -> bool:
    """Whether both have the same words, or one has all words of the other.

    A word of degree or negation makes them different: "urgent" and "not urgent".
    """
    if first == second:
        return True
    if not (first < second or second < first):
        return False
    return not any(table.degree.fullmatch(word) for word in first ^ second)


def _bare(option: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", plain(option)).split())


LONGEST_QUESTION, MOST_WORDS = 140, 14
#: The most characters of a message that a question may repeat in one piece.
LONGEST_QUOTE = 80


_ENDS = ("?", "？", "؟", "か。", "か")
_ASKED = re.compile(r"[?？؟]+")
_MARKUP = re.compile(r"[<>{}\[\]\\`|]|\*\*|__|&#?\w{1,10};|^\s*#")
_ADDRESS = re.compile(
    r"\w+://|\bwww\.|\S@\S|@\w{2,}|\b[a-z0-9-]{2,}\.(?:com|net|org|io|info|biz|co|de|fr|es|jp|ru|cn|xyz|top|ly|me|app|shop)\b",
    re.IGNORECASE,
)
#: Six digits or more, grouped or not, identify somebody; fewer may be a year or a model.
_NUMBER = re.compile(r"\d(?:[ .\-/]?\d){5,}")
_ABOUT: tuple[tuple[str, str], ...] = (
    ("leading", "it suggests an answer, or takes something for granted"),
    ("reward", "it speaks of a reward"),
    ("others", "it speaks of the author as of somebody else"),
    ("private", "it asks for something private"),
    ("joined", "it asks a second question"),
    ("paired", "it asks about two things at once"),
)
_CODES: Mapping[str, str] = {
    "others": "not_the_author",
    "joined": "several_questions",
    "paired": "several_questions",
}
#: The fewest letters of a word for the subject of a question.
_LEAST_LETTERS = 4
_WORD = re.compile(r"\w+")


def faults(
    draft: Draft,
    message_text: str,
    feature: Feature,
    *,
    leaks: Leaks = no_leaks,
) -> tuple[Fault, ...]:
    """The faults of ``draft``; empty if it may be shown.

    Args:
        draft: the question; untrusted if a model wrote it.
        message_text: the author's message.
        feature: the subject of the question.
        leaks: whether words hold personal data; the same function for the same rules, because its
            results are cached.
    """
    check = _cached_draft_faults if _is_template(draft, feature) else _draft_faults
    problems = check(draft, feature, leaks)
    # Longer questions are refused for their length.
    asked, written = plain(draft.text[:LONGEST_QUESTION]), plain(message_text)
    size = LONGEST_QUOTE + 1
    if any(asked[start : start + size] in written for start in range(len(asked) - size + 1)):
        quote = f"It repeats more than {LONGEST_QUOTE} characters of the message."
        return (*problems, Fault("quote", quote))
    return problems


def _is_template(draft: Draft, feature: Feature) -> bool:
    """Whether all words are the template's, which hold nothing of an author and may be cached."""
    template = feature.template(draft.language)
    if template is None or draft.text != template.question:
        return False
    return set(draft.options) <= set(template.options.values())


def _draft_faults(draft: Draft, feature: Feature, leaks: Leaks) -> tuple[Fault, ...]:
    """The faults of a draft, whatever the message was."""
    table = table_of(draft.language)
    return (
        *_kind_faults(draft, feature),
        *_form_faults(draft.text),
        *_wording_faults(draft, table),
        *_harm_faults(draft, leaks),
        *(_sense_faults(draft, feature, table) if draft.source == "model" else ()),
        *(option_faults(draft, feature, table) if feature.kind == CHOICE else ()),
        *(fault for option in draft.options for fault in _option_wording_faults(option, table)),
    )


_cached_draft_faults = lru_cache(maxsize=1024)(_draft_faults)


def _kind_faults(draft: Draft, feature: Feature) -> Iterator[Fault]:
    if draft.feature != feature.key or draft.kind != feature.kind:
        yield Fault("wrong_feature", f"It is not a question about '{feature.key}'.")
    if feature.kind != CHOICE and draft.options:
        yield Fault("option_count", "A question for one word has no options.")


def _form_faults(text: str) -> Iterator[Fault]:
    if not text.strip():
        yield Fault("empty", "There is no question.")
        return
    words = word_count(text)
    if len(text) > LONGEST_QUESTION or words > MOST_WORDS:
        most = f"at most {MOST_WORDS} words and {LONGEST_QUESTION} characters"
        yield Fault("too_long", f"The question has {words} words; {most} fit.")
    if not text.rstrip(" \"'”’」").endswith(_ENDS):
        yield Fault("no_question", "It does not end as a question does.")
    if len(_ASKED.findall(text)) > 1:
        yield Fault("several_questions", "There is more than one question mark.")
    yield from _characters(text, "The question")


def _characters(text: str, part: str) -> Iterator[Fault]:
    if bad := bad_character(text):
        yield Fault("control_character", f"{part} holds the character {bad}.")
    if _MARKUP.search(text):
        yield Fault("markup", f"{part} holds markup or a placeholder.")
    if _ADDRESS.search(text):
        yield Fault("address", f"{part} holds an address or a link.")


def _wording_faults(draft: Draft, table: Table) -> Iterator[Fault]:
    text = plain(draft.text)
    for name, problem in _ABOUT:
        found = getattr(table, name).search(text)
        if found:
            yield Fault(_CODES.get(name, name), f'"{found[0]}": {problem}.')
    spoken_to = table.author if is_known(draft.language) else None
    if spoken_to is not None and not spoken_to.search(text):
        yield Fault("not_the_author", "It does not ask about the author.")
    if draft.language and not is_written_in(draft.text, draft.language):
        yield Fault("language", f"It is not written in the language '{draft.language}'.")


def _harm_faults(draft: Draft, leaks: Leaks) -> Iterator[Fault]:
    parts = (draft.text, *draft.options)
    if any(leaks(part) for part in parts) or _NUMBER.search(draft.text):
        yield Fault("personal_data", "It holds something that looks like personal data.")

    # Nobody is asked about a danger, not even with the words of a template.
    if any(map(names_danger, (*parts, " ".join(parts)))):
        yield Fault("sensitive", "It speaks of something that hurts people.")


def _sense_faults(draft: Draft, feature: Feature, table: Table) -> Iterator[Fault]:
    """The faults of a model's question that denies, names an answer or asks something else."""
    ready = feature.template(draft.language)
    if feature.answer == WORD or (ready is not None and draft.text == ready.question):
        return
    asked = ready.question if ready else ""
    own = plain(f"{asked} {feature.name} {feature.definition}")
    if feature.values:
        words = {found[0] for found in table.turning.finditer(plain(draft.text))}
        for word in sorted(words - {found[0] for found in table.turning.finditer(own)}):
            yield Fault("turned", f'"{word}" may turn the sense of the question round.')
        yield from _check_related(draft, feature, own, table)
    yield from _check_not_pushed(draft, feature, own, table)


def _check_related(draft: Draft, feature: Feature, own: str, table: Table) -> Iterator[Fault]:
    """A question in the language of the feature's definition must share a word with it."""
    defined, language = f"{feature.name}. {feature.definition}", draft.language
    defined_in = detect_language(defined, known_languages(), language)
    comparable = is_known(language) and defined_in.partition("-")[0] == language.partition("-")[0]
    if comparable and not _subject(draft.text, table) & _subject(own, table):
        yield Fault("unrelated", f"It does not ask what '{feature.name}' asks.")


def _subject(text: str, table: Table) -> frozenset[str]:
    """The subject of a text as stems; of Japanese its Chinese characters."""
    words = plain(text)
    stems = content(" ".join(_WORD.findall(table.asking.sub(" ", words))), table)
    dense = {char for char in words if is_dense(char) and char > "\u3100"}
    return frozenset({stem[:5] for stem in stems if len(stem) >= _LEAST_LETTERS} | dense)


def _check_not_pushed(draft: Draft, feature: Feature, own: str, table: Table) -> Iterator[Fault]:
    """A question must name all answers or none."""
    asked = content(draft.text, table) - content(own, table)
    signs = {words: _signs(words, feature, draft, table) for words in draft.options}
    named = [words for words, naming in signs.items() if any(sign <= asked for sign in naming)]
    counted = feature.answer == NUMBER and any(map(str.isdecimal, draft.text))
    if counted or (named and len(named) < len(draft.options)):
        yield Fault("pushes", "It names one of the answers.")


def _signs(words: str, feature: Feature, draft: Draft, table: Table) -> list[frozenset[str]]:
    """The word sets that name an answer: its words, its value and its meanings."""
    value = draft.values.get(words, "")
    names = [words, value.replace("_", " "), *feature.meanings.get(value, "").split(",")]
    return [sign for name in names if name.strip() and (sign := content(name, table))]


def _option_wording_faults(option: str, table: Table) -> Iterator[Fault]:
    yield from _characters(option, "An option")
    text = plain(option)
    for name in ("reward", "private"):
        found = getattr(table, name).search(text)
        if found:
            yield Fault(name, f'The option "{found[0]}" has no place here.')
    if _ASKED.search(option):
        yield Fault("option_question", "An option asks a question.")
