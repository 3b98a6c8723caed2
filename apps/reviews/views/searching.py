"""The list of items as a page shows it: its search, its rows, what managers can do with them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from apps.accounts.http import SignedInRequest
from apps.projects.models import Project
from apps.reviews.models import BulkJob
from apps.reviews.search_form import SearchForm
from apps.reviews.selectors.filters import saved_filters
from apps.reviews.selectors.searching import FIELDS, Query, read_grid, read_query
from labelhub.core.errors import InvalidInput

VIEWS = ("table", "cards")


def asked_of(data: QueryDict) -> dict[str, Any]:
    """The fields of a search in an address; of the ids of items there may be several."""
    found: dict[str, Any] = {name: str(data[name]).strip() for name in FIELDS if data.get(name)}
    if chosen := data.getlist("items"):
        found["items"] = [pk for one in chosen for pk in one.split(",") if pk]
    return found


def item_search(request: SignedInRequest, project: Project, *, manages: bool) -> dict[str, Any]:
    """What the list of items shows: its form, its page of rows or what is wrong with the search,
    and for managers the saved filters and the actions."""
    asked = asked_of(request.GET)
    context: dict[str, Any] = {
        "form": SearchForm(project, initial=asked),
        "view": request.GET.get("view") if request.GET.get("view") in VIEWS else VIEWS[0],
        "asked": asked,
        "faults": [],
        "page": None,
    }
    if manages:
        context["filters"] = saved_filters(project)
        context["actions"] = BulkJob.Action.choices
    sort, page = request.GET.get("sort", ""), request.GET.get("page", 1)
    try:
        query = read_query(asked)
        grid = read_grid(project, query, request.user, sort=sort, page=page)
    except InvalidInput as error:
        return context | {"faults": named_faults(context["form"], error), "query": Query()}
    more = len([name for name in query.to_json() if name not in ("q", "stage")])
    return context | {"query": query, "page": grid.page, "rows": grid.rows, "more": more}


def named_faults(form: SearchForm, error: InvalidInput) -> list[str]:
    """What is wrong with a search, each by the words of its field."""
    faults: list[Mapping[str, str]] = error.data.get("errors", [])
    return [
        f"{form[fault['field']].label}: {fault['message']}"
        if fault["field"] in form.fields
        else f"{fault['field']}: {fault['message']}"
        for fault in faults
    ] or [error.message]


def query_string(query: Query) -> str:
    """The search as it stands in an address."""
    return urlencode(query.pairs)
