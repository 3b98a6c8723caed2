"""Drafts: unfinished answers are stored, and come back in any browser."""

import json
from collections.abc import Mapping, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.labels.models import Label
from apps.labels.selectors import no_item
from apps.projects.models import Item, Project
from apps.reviews.models import Draft
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import unstorable

#: What a draft may hold: the names of the form's fields.
FIELDS = frozenset({"value", "none", "comment", "rationale", "confidence", "spans"})
#: Also stored: the version of the labels when the page was opened.
SCHEMA = "schema"
MOST_CHARS = 50_000


def save_draft(
    *, project: Project, user: User, item_id: int, fields: Mapping[str, Sequence[str]]
) -> Draft | None:
    """Store the unfinished answer of ``user``; empty fields drop it.

    The last one stored wins, from any page. A draft that comes after the answer is dropped.

    Raises:
        NotFound: the project has no such item.
        InvalidInput: it is too long, or holds characters that cannot be stored.
    """
    kept = {name: list(given) for name, given in fields.items() if name in FIELDS and any(given)}
    answered = Label.objects.standing().filter(item=item_id, annotator__user=user)
    if not kept or answered.exists():
        drop_draft(user=user, item_id=item_id)
        return None
    if any(under := list(fields.get(SCHEMA, ()))):
        kept[SCHEMA] = under
    # In characters, not in escapes of six characters each.
    if len(json.dumps(kept, ensure_ascii=False)) > MOST_CHARS or any(
        unstorable(value) for given in kept.values() for value in given
    ):
        raise InvalidInput.at("draft", "is too long, or has characters that cannot be stored.")
    if not Item.objects.filter(project=project, pk=item_id).exists():
        raise no_item(project, item_id)
    return _store_draft(project, user, item_id, kept)


def drop_draft(*, user: User, item_id: int) -> None:
    if _draft_ids.first(item_id, user.pk):  # most answers have no draft
        Draft.objects.filter(item=item_id, user=user).delete()


@prepared
def _draft_ids(item: int, user: int) -> QuerySet[Draft, tuple[int]]:
    return Draft.objects.filter(item=item, user=user).values_list("pk")


def restore_draft(*, project: Project, user: User, label: Label) -> Draft | None:
    """Store an undone answer as a draft, so that nothing has to be entered twice; None if it is
    empty.
    """
    schema = label.schema.parsed.of_item(label.item.options)
    spans, remark = label.provenance.get("spans"), label.provenance.get("comment", "")
    fields = {
        "value": sorted(schema.names_in(label.value)),
        "none": ["1"] if label.value == [] else [],
        "rationale": [label.rationale],
        "comment": [str(remark)],
        "confidence": [] if label.confidence is None else [f"{label.confidence:g}"],
        "spans": [json.dumps(spans)] if spans else [],
    }
    # Of any length: it was stored before.
    kept = {name: given for name, given in fields.items() if any(given)}
    under = {SCHEMA: [str(label.schema.version)]}
    return _store_draft(project, user, label.item_id, kept | under) if kept else None


def _store_draft(
    project: Project, user: User, item_id: int, fields: Mapping[str, list[str]]
) -> Draft:
    draft, _ = Draft.objects.update_or_create(
        item_id=item_id,
        user=user,
        defaults={"project": project, "fields": fields, "updated_at": timezone.now()},
    )
    return draft
