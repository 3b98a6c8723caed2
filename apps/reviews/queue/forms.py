"""What the review pages post. An answer's fields depend on the task, so no form class fits it."""

import json
import math
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict

from apps.common.addresses import parse_row_id
from apps.projects.models import Project
from apps.reviews.models import ReviewSettings
from apps.reviews.queue.answers import Answer, EvidenceSpan
from apps.reviews.queue.drafts import FIELDS, SCHEMA
from apps.reviews.queue.key_bindings import ACTIONS
from apps.reviews.queue.plan import ReviewPlan
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType

#: What the field ``reject`` says where they leave the right answer to others.
REJECT_ONLY = "only"


def read_answer(data: QueryDict, task: LabelType) -> Answer:
    """The answer in a posted form: fields ``value`` (repeated for sets), ``none`` (the empty set),
    ``reject`` (``only``: with no better answer), ``shown``, ``schema``, ``seconds``, ``comment``,
    ``abstain``, ``rationale``, ``confidence``, and as JSON ``spans`` (of label, start and end) and
    ``order``.

    Raises:
        InvalidInput: a field that no page of ours would send.
    """
    reject, abstain = "reject" in data, "abstain" in data
    only = data.get("reject") == REJECT_ONLY
    value = None if abstain or only else read_value(data, task)
    if reject and value is None and not only:
        raise InvalidInput.at("value", "choose the right answer, or leave it to others.")
    return Answer(
        value=value,
        reject=reject,
        abstain=abstain,
        seconds=read_number(data.get("seconds", "")),
        comment=data.get("comment", ""),
        shown=read_id(data, "shown") if data.get("shown") else None,
        rationale=data.get("rationale", ""),
        confidence=read_number(data.get("confidence", "")),
        spans=_spans(data.get("spans", "")),
        order=[str(name) for name in _json_list(data.get("order", ""))],
        schema_version=read_id(data, "schema") if data.get("schema") else None,
    )


def read_value(data: QueryDict, task: LabelType, prefix: str = "") -> list[str] | str | None:
    """What was chosen or written, None for nothing. The empty set is chosen too, by ``none``: where
    no label is ticked, nobody may have looked yet.

    Raises:
        InvalidInput: labels together with ``none``.
    """
    # Line ends as they were before a textarea sent them.
    values = [raw.replace("\r\n", "\n") for raw in data.getlist(f"{prefix}value") if raw.strip()]
    if not task.several:
        return values[0] if values else None
    none = f"{prefix}none" in data
    if values and none:
        raise InvalidInput.at("value", "both labels and “None of these” are chosen.")
    return values if values or none else None


def read_draft(data: QueryDict) -> dict[str, list[str]]:
    """The fields of a form that was begun."""
    return {name: [str(value) for value in data.getlist(name)] for name in (*FIELDS, SCHEMA)}


def read_id(data: QueryDict, name: str) -> int:
    """A whole number that names something.

    Raises:
        InvalidInput: the field is missing or no number.
    """
    number = parse_row_id(data.get(name, ""))
    if number is None:
        raise InvalidInput(f"{name}: must be the number of a row.")
    return number


def read_token(raw: str) -> UUID | None:
    """A lease token, or None for anything else: a lost lease must not lose the answer."""
    try:
        return UUID(raw)
    except ValueError:
        return None


def read_number(raw: str) -> float | None:
    """A number that is not negative, None for anything else."""
    try:
        number = float(raw)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _json_list(raw: str) -> list[Any]:
    try:
        found = json.loads(raw or "[]")
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _spans(raw: str) -> list[EvidenceSpan]:
    """Marked places; what no page of ours would send is refused, or evidence would be lost.

    Raises:
        InvalidInput: no list of label, start and end.
    """
    try:
        return [
            EvidenceSpan(str(span["label"]), int(span["start"]), int(span["end"]))
            for span in _json_list(raw)
        ]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidInput.at("spans", "each needs label, start and end.") from None


class ReviewPlanForm(forms.ModelForm[Project]):
    """Who labels what, and in which order."""

    class Meta:
        model = Project
        fields = [
            "overlap", "review_scope", "queue_order", "dispute_above", "blind_share",
            "check_share", "qualify_items", "qualify_accuracy",
        ]  # fmt: skip
        labels = {
            "overlap": "Annotators per item",
            "review_scope": "What comes to people",
            "queue_order": "In which order",
            "dispute_above": "An expert looks where a machine contradicts the reviewers and is at "
            "least this sure",
            "blind_share": "Shown without any suggestion",
            "check_share": "Items of known answer among the others",
            "qualify_items": "Items of known answer before real work begins",
            "qualify_accuracy": "Right answers needed to qualify",
        }
        help_texts = {
            "overlap": "With several, more than half of all who answered must agree; "
            "otherwise an expert decides.",
            "review_scope": "Items that reviewers have begun stay with them either way.",
            "dispute_above": "From 0.5 to 1, such as 0.9; empty: never.",
            "blind_share": "A share from 0 to 1, such as 0.1. It tells what suggestions do to "
            "people: both halves are compared under Quality.",
            "check_share": "A share from 0 to 1, such as 0.05. Their answers are known from your "
            "file or from an expert.",
            "qualify_items": "0: everybody may begin at once.",
            "qualify_accuracy": "A share from 0 to 1.",
        }
        widgets = {"review_scope": forms.RadioSelect, "queue_order": forms.RadioSelect}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields.keys() - {"overlap", "review_scope"}:
            self.fields[name].required = False

    @property
    def plan(self) -> ReviewPlan:
        """What was sent, and nothing else: a field that somebody leaves out stays as it is."""
        sent = {name: value for name, value in self.cleaned_data.items() if name in self.data}
        kept = {name: value for name, value in sent.items() if value not in {None, ""}}
        return cast(
            "ReviewPlan", kept | dict.fromkeys(sent.keys() & {"dispute_above"} - kept.keys())
        )


class ReviewScreenForm(forms.ModelForm[ReviewSettings]):
    """What reviewers are shown and asked."""

    class Meta:
        model = ReviewSettings
        fields = [
            "show_opinions", "allow_abstain", "ask_confidence", "ask_rationale", "ask_evidence",
            "shuffle_options",
        ]  # fmt: skip
        labels = {
            "show_opinions": "Show what others said before one's own answer",
            "allow_abstain": "“Cannot tell” is an answer",
            "ask_confidence": "Ask how sure they are",
            "ask_rationale": "The reason for an answer",
            "ask_evidence": "Places in the text can be marked as evidence",
            "shuffle_options": "Items' own options in an order of each person's own",
        }
        help_texts = {
            "show_opinions": "Off, second opinions are blind: agreement then means something.",
            "allow_abstain": "It is kept apart from skipping, which leaves the item to others.",
        }
        widgets = {"ask_rationale": forms.RadioSelect}


class KeyForm(forms.Form):
    """One field for each action; empty: the house's keys. What fits is the service's to say."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in ACTIONS:
            self.fields[action.name] = forms.CharField(
                label=action.words,
                required=False,
                max_length=60,
                help_text=f"At first: {action.keys}",
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )
