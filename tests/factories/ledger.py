"""A ledger in a few lines: who says what of which item."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.labels.models import Annotator
from apps.labels.services import annotator_for, import_labels
from apps.projects.models import Item, Project
from tests.factories.labels import draft, queued_items

ABSTAINS = object()


def ledger(
    project: Project, answers: Mapping[str, Sequence[Any]], items: Sequence[Item] | None = None
) -> tuple[Sequence[Item], dict[str, Annotator]]:
    """Labels by annotators called ``kind:name``, one value for each item; None says nothing.

    Items are made anew unless they are given.
    """
    count = max(len(values) for values in answers.values())
    items = items or queued_items(project, count)
    annotators = {}
    drafts = []
    for called, values in answers.items():
        kind, _, name = called.partition(":")
        by = annotators[called] = annotator_for(project, kind=kind, name=name)
        for item, value in zip(items, values, strict=False):
            if value is ABSTAINS:
                drafts.append(draft(item, by, None, abstained=True))
            elif value is not None:
                drafts.append(draft(item, by, value))
    import_labels(project, drafts)
    return items, annotators
