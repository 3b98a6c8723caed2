"""List pages: a page of rows with columns and filters, shown by ``components/list.html``."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, StreamingHttpResponse
from django_filters import FilterSet
from django_stubs_ext import StrOrPromise

from apps.common.spreadsheets import csv_text

#: Rows of a file that are read together.
ROWS_AT_ONCE = 1000


class SearchFilter(FilterSet):
    """Filters that a page and REST share.

    REST refuses invalid values; a page ignores them and shows the error at the field.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.form.fields.values():
            if isinstance(field.widget, forms.TextInput) and field.widget.input_type == "text":
                field.widget.input_type = "search"

    @property
    def given(self) -> dict[str, Any]:
        """The filters that are set, by name."""
        self.form.is_valid()
        cleaned = self.form.cleaned_data.items()
        return {name: value for name, value in cleaned if value not in (None, "")}

    @property
    def narrowed(self) -> bool:
        """Whether any filter is set, apart from the order."""
        return bool(self.given.keys() - {"sort"})

    @property
    def query(self) -> str:
        """The filters as a query string with question mark, or ``""``."""
        return f"?{urlencode(self.given)}" if self.given else ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading; ``sort`` is the key by which ``?sort=`` orders the list, ``cell`` gives
    a row's text or number for files."""

    title: StrOrPromise
    numeric: bool = False
    sort: str = ""
    cell: Callable[[Any], object] | None = None


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list; its row's template reads each of ``rows`` as ``row``."""

    caption: StrOrPromise
    columns: Sequence[Column]
    page: Page[Any]
    rows: Sequence[Any]
    filters: SearchFilter | None = None
    file_url: str = ""


def requested_page(query: Mapping[str, str], found: Any, size: int) -> Page[Any]:
    """The page of ``found`` that ``query`` asks for, or the nearest one."""
    return Paginator(found, size).get_page(query.get("page"))


def list_page(
    request: HttpRequest,
    found: Any,
    columns: Sequence[Column],
    *,
    caption: StrOrPromise,
    size: int = 25,
    rows: Callable[[Sequence[Any]], Sequence[Any]] = list,
    filters: SearchFilter | None = None,
    file_url: str = "",
) -> ListPage:
    """The page of ``found`` (a queryset or a sequence) that the request asks for.

    A page number out of range gives the nearest page. ``rows`` turns the objects of the page into
    rows for the template, in a fixed number of queries. ``file_url`` is the address of the same
    rows as a file.
    """
    page = requested_page(request.GET, found, size)
    return ListPage(caption, columns, page, rows(list(page)), filters, file_url)


def list_file(rows: Iterable[Any], columns: Sequence[Column], name: str) -> StreamingHttpResponse:
    """All ``rows`` as CSV, streamed: the columns that have a ``cell``."""
    shown = [(str(column.title), column.cell) for column in columns if column.cell is not None]
    names = [title for title, _ in shown]

    def pieces() -> Iterator[str]:
        yield csv_text(names, ())
        source = iter(rows)
        while chunk := list(islice(source, ROWS_AT_ONCE)):
            cells = [[cell(row) for _, cell in shown] for row in chunk]
            yield csv_text(names, cells, header=False)

    response = StreamingHttpResponse(pieces(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
