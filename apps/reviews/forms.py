"""What the review pages post. An answer's fields depend on the task, so no form class fits it."""

import json
import math
from uuid import UUID

from django import forms
from django.http import QueryDict

from apps.projects.models import Project
from apps.reviews.services import Answer
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Task


def read_answer(data: QueryDict, task: Task) -> Answer:
    """The answer in a posted form: fields ``value`` (repeated for sets), ``reject``, ``original``,
    ``shown``, ``seconds``, ``comment``.

    Raises:
        InvalidInput: a field that no page of ours would send.
    """
    values = [
        raw.replace("\r\n", "\n") for raw in data.getlist("value")
    ]  # as a textarea sends them
    reject = "reject" in data
    value: str | list[str] | None = values if task is Task.MULTI else next(iter(values), None)
    if reject and _unchanged(values, data.get("original", "")):
        value = None  # they say only that the suggestion is wrong
    return Answer(
        value=value or ([] if task is Task.MULTI and value is not None else None),
        reject=reject,
        seconds=_seconds(data.get("seconds", "")),
        comment=data.get("comment", ""),
        shown=read_id(data, "shown") if data.get("shown") else None,
    )


def read_id(data: QueryDict, name: str) -> int:
    """A whole number that names something.

    Raises:
        InvalidInput: the field is missing or no number.
    """
    raw = data.get(name, "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 19):
        raise InvalidInput(f"{name}: must be the number of a row.")
    return int(raw)


def read_token(raw: str) -> UUID | None:
    """A lease token, or None for anything else: a lost lease must not lose the answer."""
    try:
        return UUID(raw)
    except ValueError:
        return None


def _seconds(raw: str) -> float | None:
    try:
        seconds = float(raw)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _unchanged(values: list[str], original: str) -> bool:
    try:
        suggested = json.loads(original)
    except ValueError:
        return False
    return isinstance(suggested, list) and sorted(values) == sorted(map(str, suggested))


class ReviewPlanForm(forms.ModelForm[Project]):
    """How many people, and which items."""

    class Meta:
        model = Project
        fields = ["overlap", "review_scope"]
        labels = {"overlap": "People per item", "review_scope": "What comes to people"}
        help_texts = {
            "overlap": "With several, more than half of all who answered must agree; "
            "otherwise an expert decides.",
            "review_scope": "Items that reviewers have begun stay with them either way.",
        }
        widgets = {"review_scope": forms.RadioSelect}
