"""One page of the list of what waits for an expert, with everything a row shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.db.models.functions import Substr

from apps.accounts.models import User
from apps.projects.models import Item
from apps.reviews.models import Comment, Slot
from apps.reviews.selectors.adjudication import Case, holders, left_to_others

#: So much of a text a row shows.
BEGINNING = 280


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One item that waits: its beginning, who is against whom, who has it, how much was said."""

    case: Case
    external_id: str
    text: str
    holder: Slot | None
    skipped: bool
    comments: int


def case_rows(user: User, cases: Sequence[Case]) -> list[CaseRow]:
    """The rows of a page of cases. Four queries."""
    ids = [case.item_id for case in cases]
    items = Item.objects.filter(pk__in=ids).annotate(beginning=Substr("text", 1, BEGINNING))
    texts = {pk: rest for pk, *rest in items.values_list("pk", "external_id", "beginning")}
    held, left = holders(ids), left_to_others(user, ids)
    said = dict(
        Comment.objects.filter(item__in=ids, resolved_at__isnull=True)
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
        .values_list("item", "n")
    )
    return [
        CaseRow(
            case=case,
            external_id=texts[case.item_id][0],
            text=texts[case.item_id][1],
            holder=held.get(case.item_id),
            skipped=case.item_id in left,
            comments=said.get(case.item_id, 0),
        )
        for case in cases
        if case.item_id in texts
    ]
