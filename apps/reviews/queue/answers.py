"""A reviewer's answer, and its checks before anything is written."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from apps.labels.models import ItemState
from apps.projects.changes import Translator, comparable_versions
from apps.projects.models import Item, LabelSchema, SchemaChange
from apps.reviews.comments.services import validate_words
from apps.reviews.models import ReviewSettings
from apps.reviews.queue.selectors import ReviewSetup
from apps.reviews.schema_changes.services import carry_items
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Value, ValueNotOffered, value_words

MOST_SPANS = 200


class EvidenceSpan(NamedTuple):
    """A part of the item's text that speaks for a label; ``start`` and ``end`` count code points,
    as Python's slices do."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reviewer sent.

    ``value`` is raw; the empty set is not None. None with ``reject`` says only that the suggestion
    is wrong and leaves the item to others; None with ``abstain`` says that the reviewer is unsure.
    ``shown``: id of the suggestion that the reviewer saw, 0 for none. None: the suggestion that was
    handed out with the item, or for a rejection the present one; without either it is not known.
    ``evidence``: quotes by label, ``spans`` the same by position. ``order`` in which the options
    were shown. ``adjudicates``: an expert settles the item. ``schema_version`` of the labels to
    choose from; None: the newest.
    """

    value: Any = None
    reject: bool = False
    abstain: bool = False
    seconds: float | None = None
    comment: str = ""
    shown: int | None = None
    rationale: str = ""
    confidence: float | None = None
    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict)
    spans: Sequence[EvidenceSpan] = ()
    order: Sequence[str] = ()
    adjudicates: bool = False
    schema_version: int | None = None

    @property
    def only_rejects(self) -> bool:
        return self.reject and self.value is None


def validate_value(schema: LabelSchema, state: ItemState, answer: Answer) -> Value | None:
    """The canonical value; None for an abstention or a rejection without a better label.

    Raises:
        ValueNotOffered, InvalidInput: it cannot be used.
    """
    if answer.reject and answer.abstain:
        raise InvalidInput.at("reject", "either the suggestion is wrong, or you are unsure.")
    if answer.value is None:
        if answer.abstain or answer.reject:
            return None
        raise InvalidInput.at(
            "value",
            "%(answer_instruction)s, or skip the item.",
            answer_instruction=schema.task.answer_instruction,
        )
    if answer.abstain:
        raise InvalidInput.at("value", "give either a label or an abstention.")
    try:
        return schema.parsed.normalise(answer.value, state.item.options)
    except InvalidInput as error:
        error.data["errors"] = [{"field": "value", "message": error.message}]
        raise


def validate_extras(setup: ReviewSetup, item: Item, answer: Answer) -> dict[str, Any]:
    """Rationale, confidence and evidence of an answer, as the ledger's columns.

    Raises:
        InvalidInput: one of them cannot be, or the rationale that the project requires is missing.
    """
    rationale = validate_words("rationale", answer.rationale)
    needed = setup.settings.ask_rationale == ReviewSettings.Rationale.REQUIRED
    if needed and not rationale and answer.value is not None:
        raise InvalidInput.at("rationale", "give a reason: this project requires one.")
    sure = answer.confidence
    if sure is not None and not (math.isfinite(sure) and 0 <= sure <= 1):
        raise InvalidInput.at("confidence", "must be a number from 0 to 1.")
    return {
        "rationale": rationale,
        "confidence": sure,
        "evidence": _evidence(setup.schema, item, answer),
    }


def _evidence(schema: LabelSchema, item: Item, answer: Answer) -> dict[str, list[str]]:
    """Quotes by label, from the answer's quotes and spans."""
    offered = schema.parsed.offered(item.options)
    quoted = {label: list(phrases) for label, phrases in answer.evidence.items()}
    if len(answer.spans) > MOST_SPANS:
        raise InvalidInput.at(
            "spans", "mark at most %(most_spans)s passages.", most_spans=MOST_SPANS
        )
    for span in answer.spans:
        if not 0 <= span.start < span.end <= len(item.text):
            raise InvalidInput.at(
                "spans",
                "%(start)s to %(end)s is not in the item's text.",
                start=span.start,
                end=span.end,
            )
        quoted.setdefault(span.label, []).append(item.text[span.start : span.end])
    for label, phrases in quoted.items():
        if offered and label not in offered:
            raise InvalidInput.at("evidence", "'%(label)s' is not one of the labels.", label=label)
        for phrase in phrases:
            if not phrase.strip() or phrase not in item.text:
                raise InvalidInput.at(
                    "evidence", "“%(phrase)s” is not in the text.", phrase=phrase[:80]
                )
    return {label: list(dict.fromkeys(phrases)) for label, phrases in quoted.items() if phrases}


class LabelsChanged(InvalidInput):
    """The labels have changed since the page was opened, and the chosen ones mean something else or
    are gone. The reviewer has to look at the item again. (No conflict: a retry is of no use.)"""

    code = "labels_changed"


def translate_answer(schema: LabelSchema, state: ItemState, answer: Answer) -> Answer:
    """The answer under ``schema``, the newest; an item that still has old labels is migrated first.

    Call with the item's state locked, before its labels are read; the state is brought up to date.

    Raises:
        LabelsChanged: the chosen value has no counterpart today.
    """
    if schema.carrying:
        _migrate_item(schema, state)
    version = answer.schema_version
    if version is None or version >= schema.version:
        return answer
    given = LabelSchema.objects.filter(project=schema.project_id, version=version).first()
    if given is None:
        return answer
    translator = Translator.of(schema.project_id)
    names = translator.names(given)
    evidence: dict[str, list[str]] = defaultdict(list)  # labels may have been merged
    for name, phrases in answer.evidence.items():
        if (now := names.get(name, name)) is not None:
            evidence[now] += phrases
    return replace(
        answer,
        value=_translate_value(given, schema, translator, answer.value, state.item.options),
        evidence=evidence,
        spans=[
            span._replace(label=now)
            for span in answer.spans
            if (now := names.get(span.label, span.label))
        ],
    )


def _migrate_item(schema: LabelSchema, state: ItemState) -> None:
    rows = SchemaChange.objects.select_related(
        "project", "from_schema", "to_schema", "reverts__from_schema"
    )
    change = rows.get(to_schema=schema)
    if state.item_id <= change.cursor:
        return
    if carry_items(change, [state.item_id]).counts["items"]:
        project, item = state.project, state.item
        state.refresh_from_db()
        state.project, state.item = project, item


def _translate_value(
    given: LabelSchema, schema: LabelSchema, translator: Translator, value: Any, options: list[str]
) -> Any:
    try:
        chosen = None if value is None else given.parsed.normalise(value, options)
    except ValueNotOffered:
        return value  # validate_value refuses it
    now = translator.value(given.version, chosen)
    if chosen == [] and given.pk not in comparable_versions(schema):
        raise LabelsChanged(
            "Labels have been added since you opened this page, and you have not seen them "
            "yet. Look at the item and choose again.",
            data={"schema_version": schema.version},
        )
    if chosen not in (None, []) and now in (None, []):  # the reviewer did not choose an empty set
        raise LabelsChanged(
            "The labels have changed since you opened this page, and no current label "
            "replaces '%(chosen)s'. Look at the item and choose again.",
            chosen=value_words(chosen),
            data={"schema_version": schema.version},
        )
    return now
