"""Change and delete single items."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.exchange.columns import ColumnMap
from apps.exchange.readers.base import RawRow
from apps.exchange.rows import RowError, read_row
from apps.exchange.services.chunks import COMPARED, FILLED
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import Item, ItemChange, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict, InvalidInput, NotFound


class ItemInUse(Conflict):
    """Somebody has judged the item, or is about to."""

    code = "item_in_use"


@transaction.atomic
def change_item(*, item: Item, actor: User | None, **changes: Any) -> Item:
    """Replace parts of an item, read as an import reads them: ``meta`` at any time, ``text``,
    ``context``, ``question`` and ``options`` while nobody has judged it.

    Raises:
        ItemInUse: it is labelled or held, and another part than ``meta`` would change.
        InvalidInput: a value cannot be used.
        NotFound: it was deleted meanwhile.
    """
    item = _locked(item)
    content = {name: getattr(item, name) for name in COMPARED} | changes
    raw = RawRow(1, {"id": item.external_id, **content})
    read = read_row(raw, ColumnMap(), current_schema(item.project).parsed)
    if isinstance(read, RowError):
        raise InvalidInput.at(read.field, read.message)
    changed = [name for name in COMPARED if getattr(item, name) != getattr(read, name)]
    if not changed:
        return item
    if changed != ["meta"] and (reason := _use_of(item)):
        raise ItemInUse(reason)
    for name in FILLED:
        setattr(item, name, getattr(read, name))
    item.save(update_fields=FILLED)
    _note(item, deleted=False)
    fields = dict.fromkeys(changed, (None, None))
    record(Action.ITEM_CHANGED, item, actor=actor, name=item.external_id, changes=fields)
    return item


@transaction.atomic
def delete_item(*, item: Item, actor: User | None, with_labels: bool = False) -> None:
    """Delete an item; ``with_labels``: also its labels, decisions, debates and comments.

    Raises:
        ItemInUse: it has labels, or somebody or a model is at it now.
        NotFound: it was deleted meanwhile.
    """
    item = _locked(item)
    if _is_held(item):
        raise ItemInUse("Somebody or a model is at this item now: try again later.")
    if not with_labels and _is_judged(item):
        raise ItemInUse(
            "This item has labels or debates: send labels=delete to delete them with it."
        )
    _note(item, deleted=True)
    kept = {"labels": (None, "deleted")} if with_labels else {}
    record(Action.ITEM_DELETED, item, actor=actor, name=item.external_id, changes=kept)
    item.delete()


def _locked(item: Item) -> Item:
    """The item as it is now, locked after its project and its state, as imports do."""
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    list(ItemState.objects.select_for_update().filter(item=item))
    found = Item.objects.select_for_update(of=("self",)).select_related("project")
    locked = found.filter(pk=item.pk).first()
    if locked is None:
        raise NotFound("There is no such item.")
    return locked


def _use_of(item: Item) -> str:
    """Why its text must stay; empty if it need not."""
    if _is_judged(item):
        return (
            "Labels and debates refer to what this item says: only its meta can change. Import the "
            "new text as another item."
        )
    if _is_held(item):
        return "Somebody or a model is at this item now: try again later."
    return ""


def _is_judged(item: Item) -> bool:
    """Whether anything was said of it. Debates and decisions by their names, which belong to apps
    of their own."""
    related: Any = item
    return (
        Label.objects.filter(item=item).exists()
        or Gold.objects.filter(item=item).exists()
        or related.debates.exists()
        or related.decisions.exists()
    )


def _is_held(item: Item) -> bool:
    related: Any = item
    now = timezone.now()
    return bool(
        related.slots.filter(lease_until__gt=now).exists()
        or related.debates.filter(lease_until__gt=now).exists()
    )


def _note(item: Item, *, deleted: bool) -> None:
    ItemChange.objects.create(
        project=item.project, item_id=item.pk, external_id=item.external_id, deleted=deleted
    )
