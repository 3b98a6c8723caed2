"""The forms of the review pages. An answer's fields depend on the task, so it has no form class."""

import json
import math
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from apps.common.addresses import parse_row_id
from apps.projects.models import Project
from apps.reviews.models import ReviewSettings
from apps.reviews.queue.answers import Answer, EvidenceSpan
from apps.reviews.queue.drafts import FIELDS, SCHEMA
from apps.reviews.queue.key_bindings import ACTIONS
from apps.reviews.queue.plan import PLAN_FIELDS, SCREEN_FIELDS, ReviewPlan
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType

#: Value of the field ``reject`` if the reviewer leaves the right answer to others.
REJECT_ONLY = "only"


def read_answer(data: QueryDict, task: LabelType) -> Answer:
    """The answer in a posted form: fields ``value`` (repeated for sets), ``none`` (the empty set),
    ``reject`` (``only``: without a better answer), ``shown``, ``schema``, ``seconds``, ``comment``,
    ``abstain``, ``rationale``, ``confidence``, and as JSON ``spans`` (of label, start and end) and
    ``order``.

    Raises:
        InvalidInput: a field is malformed.
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
    """The chosen or written value, None for nothing. The empty set has to be chosen, by ``none``:
    if no label is ticked, perhaps nobody has looked yet.

    Raises:
        InvalidInput: labels together with ``none``.
    """
    # A textarea sends other line ends than the text has.
    values = [raw.replace("\r\n", "\n") for raw in data.getlist(f"{prefix}value") if raw.strip()]
    if not task.several:
        return values[0] if values else None
    none = f"{prefix}none" in data
    if values and none:
        raise InvalidInput.at("value", "choose either labels or “None of these”.")
    return values if values or none else None


def read_draft(data: QueryDict) -> dict[str, list[str]]:
    return {name: [str(value) for value in data.getlist(name)] for name in (*FIELDS, SCHEMA)}


def read_id(data: QueryDict, name: str) -> int:
    """The id in a field.

    Raises:
        InvalidInput: the field is missing or no id.
    """
    number = parse_row_id(data.get(name, ""))
    if number is None:
        raise InvalidInput("%(name)s: must be the number of a row.", name=name)
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
    """Marked passages. Malformed ones are refused, because ignoring them would lose evidence.

    Raises:
        InvalidInput: a passage lacks label, start or end.
    """
    try:
        return [
            EvidenceSpan(str(span["label"]), int(span["start"]), int(span["end"]))
            for span in _json_list(raw)
        ]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidInput.at("spans", "each needs label, start and end.") from None


class ReviewPlanForm(forms.ModelForm[Project]):
    class Meta:
        model = Project
        fields = PLAN_FIELDS
        labels = {
            "overlap": _("Annotators per item"),
            "review_scope": _("Items for review"),
            "queue_order": _("Order of the queue"),
            "dispute_above": _(
                "Ask an expert if a model contradicts the reviewers with at least this confidence"
            ),
            "blind_share": _("Share of items without a suggestion"),
            "check_share": _("Share of gold questions"),
            "qualify_items": _("Gold questions to qualify"),
            "qualify_accuracy": _("Accuracy needed to qualify"),
        }
        help_texts = {
            "overlap": _(
                "With several annotators, more than half of them must agree; "
                "otherwise an expert decides."
            ),
            "review_scope": _("Items that already have a label by a reviewer stay in the queue."),
            "dispute_above": _("From 0.5 to 1, such as 0.9. Leave it empty to ask no expert."),
            "blind_share": _(
                "From 0 to 1, such as 0.1. The Annotators page compares answers with and "
                "without suggestion."
            ),
            "check_share": _(
                "From 0 to 1, such as 0.05. Gold questions are items whose gold comes "
                "from your file or an expert."
            ),
            "qualify_items": _("0: everybody can start at once."),
            "qualify_accuracy": _("From 0 to 1."),
        }
        widgets = {"review_scope": forms.RadioSelect, "queue_order": forms.RadioSelect}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields.keys() - {"overlap", "review_scope"}:
            self.fields[name].required = False

    @property
    def plan(self) -> ReviewPlan:
        """The fields that were sent; a missing field stays as it is."""
        sent = {name: value for name, value in self.cleaned_data.items() if name in self.data}
        kept = {name: value for name, value in sent.items() if value not in {None, ""}}
        return cast(
            "ReviewPlan", kept | dict.fromkeys(sent.keys() & {"dispute_above"} - kept.keys())
        )


class ReviewScreenForm(forms.ModelForm[ReviewSettings]):
    class Meta:
        model = ReviewSettings
        fields = SCREEN_FIELDS
        labels = {
            "show_opinions": _("Show the labels of others before a reviewer answers"),
            "allow_abstain": _("Allow “Unsure” as an answer"),
            "ask_confidence": _("Ask for confidence"),
            "ask_rationale": _("Reason for an answer"),
            "ask_evidence": _("Allow evidence to be marked in the text"),
            "shuffle_options": _("Shuffle the items' own options for each reviewer"),
        }
        help_texts = {
            "show_opinions": _(
                "If off, reviewers label independently, so their agreement is meaningful."
            ),
            "allow_abstain": _("An unsure answer counts; skipping leaves the item to others."),
        }
        widgets = {"ask_rationale": forms.RadioSelect}


class KeyForm(forms.Form):
    """One field for each action; empty: the default keys. The service validates them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in ACTIONS:
            self.fields[action.name] = forms.CharField(
                label=action.words,
                required=False,
                max_length=60,
                widget=forms.TextInput(
                    attrs={
                        "autocomplete": "off",
                        "spellcheck": "false",
                        "placeholder": action.keys,
                    }
                ),
            )
