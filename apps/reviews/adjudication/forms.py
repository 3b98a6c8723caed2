"""What the pages of adjudication post, and the filters in their addresses."""

import json

from django.http import QueryDict

from apps.common.addresses import parse_row_id
from apps.reviews.adjudication.docket import AGES, BETWEEN_PEOPLE, WITH_A_MACHINE, CaseFilter
from apps.reviews.adjudication.services import Ruling
from apps.reviews.queue.forms import read_id, read_number, read_value
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType

MOST_QUOTES = 100


def read_ruling(data: QueryDict, task: LabelType) -> Ruling:
    """The ruling in a posted form: ``value`` (repeated for sets), ``none`` for the empty set,
    ``abstain`` in place of a value, ``rationale``, ``quote`` (repeated; a label and a phrase as
    JSON), ``explain``, ``seconds``, ``schema``.

    Raises:
        InvalidInput: a field is malformed.
    """
    abstain = "abstain" in data
    quotes = data.getlist("quote")
    if len(quotes) > MOST_QUOTES:
        raise InvalidInput.at(
            "quote", "at most %(most_quotes)s can be quoted.", most_quotes=MOST_QUOTES
        )
    found: dict[str, list[str]] = {}
    for raw in quotes:
        name, phrase = _quote(raw)
        found.setdefault(name, []).append(phrase)
    return Ruling(
        value=None if abstain else read_value(data, task),
        abstain=abstain,
        rationale=data.get("rationale", ""),
        evidence=found,
        explain=data.get("explain", ""),
        seconds=read_number(data.get("seconds", "")),
        schema_version=read_id(data, "schema") if data.get("schema") else None,
    )


def read_filter(data: QueryDict) -> CaseFilter:
    """The filter in an address; invalid values are ignored."""
    by, age, between = data.get("by", ""), data.get("age", ""), data.get("between", "")
    return CaseFilter(
        against=data.get("against", "")[:200],
        by=parse_row_id(by),
        age=age if age in AGES else "",
        between=between if between in (BETWEEN_PEOPLE, WITH_A_MACHINE) else "",
    )


def _quote(raw: str) -> tuple[str, str]:
    try:
        read = json.loads(raw)
    except ValueError:
        read = None
    match read:
        case [str(name), str(phrase)]:
            return name, phrase
    raise InvalidInput.at("quote", "must be a label and a phrase.")
