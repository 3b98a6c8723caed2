"""Finding in a comment whom it is meant for: ``@name``."""

import re
from collections.abc import Collection, Iterable, Mapping

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

#: What Django takes for a user name, behind a sign that belongs to no address.
_CALLED = re.compile(r"(?<![\w.@+-])@([\w.@+-]{1,150})")
#: Of what a name may hold, what also ends a sentence.
_PUNCTUATION = ".@+-"
#: More people than this nobody calls by name at once.
MOST = 50


def called(text: str) -> dict[str, list[str]]:
    """What stands behind each ``@``, with the names it may be, the longest first.

    >>> called("Ask @ana.")
    {'ana.': ['ana.', 'ana']}
    """
    found = dict.fromkeys(match[1] for match in _CALLED.finditer(text))
    return {said: _names(said) for said in list(found)[:MOST]}


def _names(said: str) -> list[str]:
    names = [said]
    while names[-1][-1] in _PUNCTUATION and len(names[-1]) > 1:
        names.append(names[-1][:-1])
    return names


def meant(said: Mapping[str, Iterable[str]], known: Collection[str]) -> dict[str, str]:
    """For what was said behind an ``@``, the longest of its names that is ``known``."""
    found = {}
    for words, names in said.items():
        name = next((name for name in names if name in known), None)
        if name is not None:
            found[words] = name
    return found


def mark_mentions(text: str, known: Collection[str]) -> SafeString:
    """``text`` as escaped HTML in which every ``@name`` that is ``known`` stands out."""
    names = meant(called(text), known)
    parts, at = [], 0
    for match in _CALLED.finditer(text):
        name = names.get(match[1])
        if name is None:
            continue
        end = match.start(1) + len(name)
        parts += [escape(text[at : match.start()]), f'<b class="mention">@{escape(name)}</b>']
        at = end
    return mark_safe("".join([*parts, escape(text[at:])]))  # noqa: S308 - every part is escaped
