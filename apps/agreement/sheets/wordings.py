"""Free texts as they were written, of a few items to be read: no sheet and no report holds them."""

from collections.abc import Collection, Sequence

from apps.agreement.sheets.reading import wanted_labels
from apps.agreement.sheets.slicing import Slice
from apps.projects.models import Project
from labelhub.core.agreement.reports.sheet import KINDS, Sheet
from labelhub.core.schema import fold

MOST_LETTERS = 200
#: Of one kind and item; what more there are is counted.
MOST_TEXTS = 5

#: Kind and what it says, in the order of the kinds.
Answers = list[tuple[str, str]]


def texts_said(
    project: Project, asked: Slice, sheet: Sheet, item_ids: Sequence[int], reader: int | None
) -> dict[int, Answers]:
    """Item → what each kind wrote of it, the most frequent first; ``sheet`` is what was read of
    ``asked``. ``reader``: see ``read_sheet``."""
    kinds = {
        rater.id: rater.kind
        for rater in sheet.raters
        if asked.kind in ("", rater.kind) and asked.annotator in (None, rater.id)
    }
    found: dict[int, dict[str, dict[str, list[str]]]] = {}
    for rows in wanted_labels(project, asked, sheet.raters, reader):
        chosen = rows.filter(item__in=item_ids, annotator__in=kinds, value__isnull=False)
        told = chosen.order_by("pk").values_list("item_id", "annotator_id", "value")
        for item, annotator, value in told:
            of_kind = found.setdefault(item, {}).setdefault(kinds[annotator], {})
            of_kind.setdefault(fold(str(value)), []).append(str(value))
    return {
        item: [(kind, _words(texts[kind].values())) for kind in KINDS if kind in texts]
        for item, texts in found.items()
    }


def _words(same: Collection[list[str]]) -> str:
    """``“red car” (2), “bus”``: every text once, with how many wrote it."""
    order = sorted(same, key=lambda each: -len(each))
    shown = [
        f"“{_cut(each[0])}”{f' ({len(each):,})' if len(each) > 1 else ''}"
        for each in order[:MOST_TEXTS]
    ]
    more = [f"{len(order) - MOST_TEXTS:,} more"] if len(order) > MOST_TEXTS else []
    return ", ".join([*shown, *more])


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1].rstrip()}…"
