"""Words in items' texts, ids and contexts, in any language: parts of words count as well."""

import re
from collections.abc import Iterator

from django.db.models import Func, Q, TextField

_TERMS = re.compile(r'"([^"]+)"|(\S+)')
MOST_TERMS = 12


class Spoken(Func):
    """The texts of a conversation that is stored as JSON, a line each."""

    output_field = TextField()
    template = (
        "(SELECT group_concat(json_extract(value, '$.text'), char(10)) FROM"
        " json_each(%(expressions)s))"
    )

    def as_postgresql(self, compiler: object, connection: object, **context: object) -> object:
        """The same in PostgreSQL's words."""
        template = (
            "(SELECT string_agg(turn ->> 'text', chr(10)) FROM"
            " jsonb_array_elements(%(expressions)s) AS turn)"
        )
        return self.as_sql(compiler, connection, template=template, **context)  # type: ignore[arg-type]


def terms(words: str) -> list[str]:
    """What has to occur: each word by itself, and what stands between quotation marks as it is."""
    found = [phrase.strip() or word for phrase, word in _TERMS.findall(words)]
    return [term for term in found if term][:MOST_TERMS]


def holding(words: str) -> Iterator[Q]:
    """Items in which every term occurs: in the text, the id or what was said before."""
    for term in terms(words) or [words]:
        plain = Q(text__icontains=term) | Q(external_id__icontains=term)
        yield plain | (~Q(context=[]) & Q(spoken_before__icontains=term))
