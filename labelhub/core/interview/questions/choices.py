"""Rules of options: how many, how long, which values, and that they exclude each other."""

import re
from collections.abc import Iterator
from itertools import combinations

from labelhub.core.interview.features import Feature
from labelhub.core.interview.features.numbers import overlapping_ranges
from labelhub.core.interview.questions.draft import Draft, Fault
from labelhub.core.interview.questions.tables import Table, plain
from labelhub.core.interview.questions.text import content, word_count

LONGEST_OPTION = 40
#: Four are asked for; the articles of some languages add up to two more.
MOST_OPTION_WORDS = 6

_PUNCTUATION = re.compile(r"[^\w\s']+")


def option_faults(draft: Draft, feature: Feature, table: Table) -> Iterator[Fault]:
    """What is wrong with the options of a question about ``feature``."""
    yield from _count(draft, feature)
    yield from _values(draft, feature)
    for option in draft.options:
        yield from _one(option, table)
    # The words of fixed values are the site's.
    if not feature.values:
        for first, second in combinations(draft.options, 2):
            yield from _two(first, second, table)


def _count(draft: Draft, feature: Feature) -> Iterator[Fault]:
    if len(draft.options) != feature.option_count:
        problem = f"There are {len(draft.options)} options; there must be {feature.option_count}."
        yield Fault("option_count", problem)
    if not draft.predicted or draft.predicted not in draft.options:
        yield Fault("predicted_missing", "No option says what was predicted.")


def _values(draft: Draft, feature: Feature) -> Iterator[Fault]:
    if not feature.values:
        return
    told = [draft.values.get(option, "") for option in draft.options]
    if not set(told) <= set(feature.values):
        yield Fault("no_value", "An option stands for none of the values that are offered.")
    known = [value for value in told if value]
    if len(set(known)) < len(known):
        yield Fault("same_value", "Two options stand for the same value.")


def _one(option: str, table: Table) -> Iterator[Fault]:
    bare = _bare(option)
    if not bare:
        yield Fault("option_empty", "An option has no words.")
        return
    if len(option) > LONGEST_OPTION or word_count(option) > MOST_OPTION_WORDS:
        most = f"at most {MOST_OPTION_WORDS} words and {LONGEST_OPTION} characters"
        yield Fault("option_too_long", f"An option is too long; {most} fit.")
    if table.catch_all.fullmatch(bare) or table.catch_start.match(bare):
        yield Fault("catch_all", "An option says none, other or skip; these are added elsewhere.")


def _two(first: str, second: str, table: Table) -> Iterator[Fault]:
    if _bare(first) == _bare(second):
        yield Fault("duplicate", "Two options are the same.")
    elif _overlap(content(first, table), content(second, table), table) or overlapping_ranges(
        (first, second)
    ):
        yield Fault("overlap", "Two options do not exclude each other.")


def _overlap(one: frozenset[str], other: frozenset[str], table: Table) -> bool:
    """The same words, or one option's words among the other's.

    A word of degree or denial tells them apart: "urgent" and "not urgent".
    """
    if one == other:
        return True
    if not (one < other or other < one):
        return False
    return not any(table.degree.fullmatch(word) for word in one ^ other)


def _bare(option: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", plain(option)).split())
