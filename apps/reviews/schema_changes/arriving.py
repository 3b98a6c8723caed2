"""Answers from pages that were opened before a change of labels, and items still to be carried."""

from dataclasses import replace
from typing import Any

from apps.labels.models import ItemState
from apps.projects.changes import SchemaChange, Translator, comparable_versions
from apps.projects.models import LabelSchema, Project
from apps.reviews.schema_changes.running import carry_items
from apps.reviews.services.answers import Answer
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import ValueNotOffered, value_words


class LabelsChanged(InvalidInput):
    """The labels have been changed since the page was opened, and what was chosen means something
    else now, or nothing any more. The item has to be looked at again. (No conflict: sending the
    same once more is of no use.)"""

    code = "labels_changed"


def arrive(project: Project, schema: LabelSchema, state: ItemState, answer: Answer) -> Answer:
    """The answer as it is meant under ``schema``, the newest; an item whose turn has not come is
    carried over first.

    Call with the item's state locked, before its labels are read; it is brought up to date.

    Raises:
        LabelsChanged: nothing of today stands for what was chosen.
    """
    if schema.carrying:
        _carry(schema, state)
    version = answer.schema_version
    if version is None or version >= schema.version:
        return answer
    given = LabelSchema.objects.filter(project=project, version=version).first()
    return _translated(given, schema, state, answer) if given else answer


def _carry(schema: LabelSchema, state: ItemState) -> None:
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


def _translated(
    given: LabelSchema, schema: LabelSchema, state: ItemState, answer: Answer
) -> Answer:
    told = Translator.of(schema.project_id)
    names = told.names(given)
    kept = {name: phrases for name, phrases in answer.evidence.items() if names.get(name, name)}
    return replace(
        answer,
        value=_value(given, schema, told, answer.value, state.item.options),
        evidence={names.get(name) or name: phrases for name, phrases in kept.items()},
        spans=[
            span._replace(label=now)
            for span in answer.spans
            if (now := names.get(span.label, span.label))
        ],
    )


def _value(
    given: LabelSchema, schema: LabelSchema, told: Translator, value: Any, options: list[str]
) -> Any:
    try:
        said = None if value is None else given.parsed.normalise(value, options)
    except ValueNotOffered:
        return value  # refused by its name in a moment
    now = told.value(given.version, said)
    if said == [] and given.pk not in comparable_versions(schema):
        raise LabelsChanged(
            "Labels have been added since this page was opened; nobody has looked for them yet. "
            "Look at the item again and choose anew.",
            data={"schema_version": schema.version},
        )
    if said not in (None, []) and now in (None, []):  # nobody chose the empty set
        raise LabelsChanged(
            "The labels have been changed since this page was opened, and nothing of today stands "
            f"for '{value_words(said)}'. Look at the item again and choose anew.",
            data={"schema_version": schema.version},
        )
    return now
