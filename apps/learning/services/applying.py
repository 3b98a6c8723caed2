"""What a model says, written down: of gold that it had not seen, and of what is not decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.labels.blindness import is_audit
from apps.labels.models import Annotator, ItemState, Kind, Label
from apps.labels.services import NewLabel, annotator_for, rank_items, record_learned
from apps.learning.models import Score, TrainedModel
from apps.learning.selectors.answers import Answers
from apps.learning.selectors.lesson import Reading, documents_of
from apps.learning.services.learner import Judged, Said
from apps.projects.models import Item
from labelhub.core.learning import Document

#: So called in agreement, exports and the ledger.
NAME = "trained on gold"
ITEMS_AT_ONCE = 1000
_SCORED = [
    "project", "model", "value", "probability", "margin", "gold", "gold_probability", "suspicion",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chunk:
    """Undecided items that the classifier can answer, up to ``last``; ``beside``: what stands on
    each as a suggestion, by its labels' numbers."""

    last: int
    items: Sequence[int]
    options: Sequence[Sequence[str]]
    documents: Sequence[Document]
    beside: Sequence[Sequence[int] | None]


def next_chunk(model: TrainedModel, answers: Answers) -> Chunk | None:
    """The next items behind those that were looked at; None at the end."""
    looked = Item.objects.filter(project=model.project_id, pk__gt=model.applied_to).order_by("pk")
    ids = list(looked.values_list("pk", flat=True)[:ITEMS_AT_ONCE])
    if not ids:
        return None
    rows = ItemState.objects.filter(item__in=ids, gold=None)
    states = rows.select_related("suggestion").order_by("item_id")
    options = dict(Item.objects.filter(pk__in=ids).values_list("pk", "options"))
    open_states = [state for state in states if answers.fits(options[state.item_id])]
    found = [state.item_id for state in open_states]
    documents = dict(documents_of(Item.objects.filter(pk__in=found)))
    return Chunk(
        last=ids[-1],
        items=found,
        options=[options[item] for item in found],
        documents=[documents.get(item, Document("")) for item in found],
        beside=[_suggested(state, answers) for state in open_states],
    )


def _suggested(state: ItemState, answers: Answers) -> Sequence[int] | None:
    """Not of what is audited blind: its place in the queue must not tell what a debate said."""
    if is_audit(state) or state.suggestion is None:
        return None
    return answers.number(state.suggestion.value)


def write_chunk(
    model: TrainedModel, answers: Answers, chunk: Chunk, said: Sequence[Said]
) -> tuple[int, int]:
    """Labels that are news, scores and the queue's order, in the caller's transaction; of how many
    items, and how many labels were news. What was decided meanwhile is left alone."""
    by = annotator_for(model.project, kind=Kind.MODEL, name=NAME)
    values = [
        answers.value(each.labels, options)
        for each, options in zip(said, chunk.options, strict=True)
    ]
    drafts = [
        _draft(model, by, item, value, each.probability)
        for item, value, each in zip(chunk.items, values, said, strict=True)
    ]
    open_ids, written = record_learned(drafts)
    scores = [
        Score(
            item_id=item,
            project_id=model.project_id,
            model=model,
            value=value,
            probability=each.probability,
            margin=each.margin,
        )
        for item, value, each in zip(chunk.items, values, said, strict=True)
        if item in open_ids
    ]
    _store(scores)
    doubts: dict[int, float | None] = {
        item: doubt_of(each) for item, each in zip(chunk.items, said, strict=True)
    }
    rank_items(model.project, {item: doubts[item] for item in doubts if item in open_ids})
    return len(scores), written


def doubt_of(said: Said) -> float:
    """How likely the label that stands on the item is wrong, 0 to 1: the debate's where there is
    one, else the model's own."""
    likely = said.probability if said.beside is None else said.beside
    return min(max(1.0 - likely, 0.0), 1.0)


def write_judged(model: TrainedModel, reading: Reading, judged: Sequence[Judged]) -> None:
    """Scores of the gold that was learnt, in the caller's transaction; erased items have none."""
    options = _options_of(reading)
    _store(
        [
            Score(
                item_id=item,
                project_id=model.project_id,
                model=model,
                value=reading.answers.value(each.labels, options[item]),
                probability=each.probability,
                margin=each.margin,
                gold_id=gold,
                gold_probability=each.gold,
                suspicion=each.suspicion,
            )
            for item, gold, each in zip(reading.items, reading.golds, judged, strict=True)
            if item in options
        ]
    )


def _options_of(reading: Reading) -> dict[int, Sequence[str]]:
    """The options of those items of gold that are still there."""
    found: dict[int, Sequence[str]] = {}
    for at in range(0, len(reading.items), ITEMS_AT_ONCE):
        rows = Item.objects.filter(pk__in=reading.items[at : at + ITEMS_AT_ONCE])
        found.update(rows.values_list("pk", "options"))
    return found


def _draft(
    model: TrainedModel, by: Annotator, item: int, value: Any, probability: float
) -> NewLabel:
    return NewLabel(
        item_id=item,
        annotator=by,
        schema=model.schema,
        value=value,
        action=Label.Action.PROPOSED,
        confidence=probability,
        role=Label.Role.TRAINED,
        provenance={"model_version": model.version, "examples": model.examples},
    )


def _store(scores: Sequence[Score]) -> None:
    Score.objects.bulk_create(
        scores,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=_SCORED,
        batch_size=ITEMS_AT_ONCE,
    )
