"""Drafts: what somebody has begun to answer is kept, and there again in any browser."""

import json
from collections.abc import Mapping, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.prepared import prepared
from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.reviews.models import Draft
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import unstorable

#: What a draft may hold: the names of the form's fields.
FIELDS = frozenset({"value", "none", "comment", "rationale", "confidence", "spans"})
#: And besides, under which version of the labels the page was opened.
SCHEMA = "schema"
MOST_CHARS = 50_000


def save_draft(
    *, project: Project, user: User, item_id: int, fields: Mapping[str, Sequence[str]]
) -> Draft | None:
    """Keep what ``user`` has begun to say of an item; nothing but empty fields drops it.

    The last one stored stands, whichever page it came from. What comes after the answer itself is
    not kept: it was on its way when that was given.

    Raises:
        NotFound: the project has no such item.
        InvalidInput: it is longer than any answer can be, or holds what cannot be stored.
    """
    kept = {name: list(given) for name, given in fields.items() if name in FIELDS and any(given)}
    answered = Label.objects.standing().filter(item=item_id, annotator__user=user)
    if not kept or answered.exists():
        drop_draft(user=user, item_id=item_id)
        return None
    if any(under := list(fields.get(SCHEMA, ()))):
        kept[SCHEMA] = under
    # In characters: as they are, not as escapes of six signs each.
    if len(json.dumps(kept, ensure_ascii=False)) > MOST_CHARS or any(
        unstorable(value) for given in kept.values() for value in given
    ):
        raise InvalidInput.at("draft", "it is too long to be kept, or holds what cannot be stored.")
    if not Item.objects.filter(project=project, pk=item_id).exists():
        raise NotFound(f"There is no item {item_id} in the project '{project.slug}'.")
    return _keep(project, user, item_id, kept)


def drop_draft(*, user: User, item_id: int) -> None:
    """Forget what was begun."""
    if _begun.first(item_id, user.pk):  # most answers are given without one
        Draft.objects.filter(item=item_id, user=user).delete()


@prepared
def _begun(item: int, user: int) -> QuerySet[Draft, tuple[int]]:
    return Draft.objects.filter(item=item, user=user).values_list("pk")


def draft_again(*, project: Project, user: User, label: Label) -> Draft | None:
    """An answer that is taken back, as a draft: nothing of it is to be given twice.

    None where it said nothing.
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
    # However long it is: that it was stored before is reason enough.
    kept = {name: given for name, given in fields.items() if any(given)}
    under = {SCHEMA: [str(label.schema.version)]}
    return _keep(project, user, label.item_id, kept | under) if kept else None


def _keep(project: Project, user: User, item_id: int, fields: Mapping[str, list[str]]) -> Draft:
    draft, _ = Draft.objects.update_or_create(
        item_id=item_id,
        user=user,
        defaults={"project": project, "fields": fields, "updated_at": timezone.now()},
    )
    return draft
