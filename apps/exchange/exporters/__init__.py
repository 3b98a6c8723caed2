"""The export formats, one module each. A new format is a new module and one word in
``_MODULES``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.text import slugify

from apps.common.feeds import BEGINNING, read_cursor, settled_keys, write_cursor
from apps.exchange.exporters import (
    huggingface,
    json_list,
    jsonl,
    labelstudio,
    long,
    parquet,
    studio_config,
    wide,
)
from apps.exchange.exporters.base import ExportFormat, FileFormat, Row, Source
from apps.exchange.exporters.ledger import gold_chunks, ledger_chunks
from apps.labels.models import Gold, Label
from apps.projects.models import Item, ItemChange, Project
from apps.reviews.search.matching import matching_items
from apps.reviews.search.query import read_query
from apps.reviews.search.saved_filters import get_filter
from labelhub.core.errors import InvalidInput
from labelhub.core.extras import require_extra

_MODULES = (wide, long, jsonl, json_list, parquet, labelstudio, studio_config, huggingface)

#: Every format by its name.
FORMATS: dict[str, ExportFormat] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
ONLY = ("", "gold")


#: What an export depends on; a cursor holds a key of each.
CHANGING = (Item, ItemChange, Label, Gold)
#: Of an export: ``only``, ``filter`` (a saved filter's name), ``query`` (its search) and ``since``
#: (a cursor).
Filters = dict[str, Any]
#: Called with each chunk of rows before it is written.
Watch = Callable[[Sequence[Row]], None]


def export_format(name: str) -> ExportFormat:
    """The format of that name.

    Raises:
        InvalidInput: there is none.
        MissingExtra: this installation cannot write it.
    """
    found = FORMATS.get(name)
    if found is None:
        raise InvalidInput(
            "format: '%(name)s' is not one of %(formats)s.",
            name=name[:40],
            formats=", ".join(FORMATS),
        )
    if found.is_parquet:
        require_extra("pyarrow", "parquet")
    return found


def file_name(
    project: Project, wanted: FileFormat, *, filters: Mapping[str, Any], tag: str = ""
) -> str:
    """The file name of a download; ``tag`` distinguishes files of the same project."""
    parts = [project.slug, slugify(filters.get("filter", ""))[:40], filters.get("only", ""), tag]
    # Two formats are JSON and two CSV: the name tells them apart.
    known = wanted.suffix[1:]
    named = "" if wanted.name == known else f".{wanted.name.removeprefix(f'{known}_')}"
    return f"{'-'.join(part for part in parts if part)}{named}{wanted.suffix}"


def exported_items(project: Project, filters: Mapping[str, Any]) -> "QuerySet[Item]":
    """The items of an export: all, those of a search, or of these the decided ones.

    Raises:
        InvalidInput: another ``only``, or the search has a value that the labels do not offer.
    """
    only = filters.get("only", "")
    if only not in ONLY:
        raise InvalidInput(
            "only: '%(only)s' is not known; leave it out or use 'gold'.", only=only[:40]
        )
    items: QuerySet[Item] = Item.objects.filter(project=project)
    if query := filters.get("query"):
        items = matching_items(project, read_query(query))
    if since := filters.get("since"):
        items = items.filter(_changed_after(project, *read_cursor(since, project.pk, 4)))
    if only:
        items = items.filter(pk__in=Gold.objects.current().order_by().values("item"))
    return items


def _changed_after(project: Project, item: int, change: int, label: int, gold: int) -> Q:
    """Items that came or changed after these keys, or whose ledger grew."""
    changes = ItemChange.objects.filter(project=project, pk__gt=change)
    labels = Label.objects.filter(pk__gt=label, item__project=project).order_by()
    golds = Gold.objects.filter(pk__gt=gold, item__project=project).order_by()
    return (
        Q(pk__gt=item)
        | Q(pk__in=changes.order_by().values("item_id"))
        | Q(pk__in=labels.values("item"))
        | Q(pk__in=golds.values("item"))
    )


def export_filters(
    project: Project, *, only: str = "", filter_id: int | None = None, since: str | None = None
) -> Filters:
    """The filters of an export: ``only``, a cursor, and the name and search of a saved filter.

    Raises:
        InvalidInput: ``since`` is no cursor of this project.
        NotFound: there is no such saved filter.
    """
    filters: Filters = {"only": only} if only else {}
    if since is not None:
        read_cursor(since, project.pk, len(CHANGING))
        filters["since"] = since
    if filter_id is not None:
        saved = get_filter(project, filter_id)
        filters |= {"filter": saved.name, "query": saved.query}
    return filters


def next_cursor(project: Project, filters: Mapping[str, Any]) -> str:
    """The cursor with which a later export has what came or changed after this one; to be asked for
    before the export reads anything."""
    keys = settled_keys(CHANGING)
    if keys is None:
        return str(filters.get("since", BEGINNING))
    return write_cursor(project.pk, keys)


def export_pieces(
    project: Project,
    wanted: ExportFormat,
    *,
    filters: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
) -> Iterator[bytes]:
    """The file in pieces, in the order of the items, in bounded memory.

    Of gold only, the file has no ledger. ``watch`` sees the rows as they go into the file.

    Raises:
        InvalidInput: as :func:`exported_items`.
    """
    filters = filters or {}
    items, only = exported_items(project, filters), filters.get("only", "")
    chunks = gold_chunks(items) if only else ledger_chunks(project, items)

    def watched() -> Iterator[list[Row]]:
        for rows in chunks:
            if watch is not None:
                watch(rows)
            yield rows

    return wanted.write(watched(), Source(project, items, only))
