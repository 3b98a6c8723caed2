"""The list of items as a page shows it: its search, its rows, its saved filters."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.reviews.models import BulkJob
from apps.reviews.queue.forms import read_id
from apps.reviews.search.forms import SearchForm
from apps.reviews.search.grid import read_grid
from apps.reviews.search.query import FIELDS, Query, read_query
from apps.reviews.search.saved_filters import (
    delete_filter,
    filter_rows,
    first_settings,
    get_filter,
    save_filter,
    saved_filters,
    set_first_filter,
)
from labelhub.core.errors import InvalidInput


def asked_of(data: QueryDict) -> dict[str, Any]:
    """The fields of a search in an address; of the ids of items there may be several."""
    found: dict[str, Any] = {name: str(data[name]).strip() for name in FIELDS if data.get(name)}
    if chosen := data.getlist("items"):
        found["items"] = [pk for listed in chosen for pk in listed.split(",") if pk]
    return found


def item_search(request: SignedInRequest, project: Project, *, manages: bool) -> dict[str, Any]:
    """What the list of items shows: its form, its page of rows or what is wrong with the search,
    and for managers the saved filters and the actions."""
    asked = asked_of(request.GET)
    context: dict[str, Any] = {
        "form": SearchForm(project, initial=asked),
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
        found = read_grid(project, query, request.user, sort=sort, page=page)
    except InvalidInput as error:
        return context | {"faults": named_faults(context["form"], error), "query": Query()}
    more = len([name for name in query.to_json() if name not in ("q", "stage")])
    return context | {"query": query, "page": found, "rows": found.object_list, "more": more}


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


@project_view(Right.MANAGE, "GET", "POST")
def filter_list(request: SignedInRequest, project: Project) -> HttpResponse:
    """The saved filters with how many items each holds; POST saves a search under a name."""
    if request.method == "POST":
        try:
            name, query = request.POST.get("name", ""), read_query(asked_of(request.POST))
            saved = save_filter(project=project, actor=request.user, name=name, query=query)
            messages.success(request, gettext("Saved as “%(name)s”.") % {"name": saved.name})
        except InvalidInput as error:
            messages.error(request, error.message)
        return redirect("filter_list", project.slug)
    context = project_page(request, project, "filters") | {
        "rows": filter_rows(project),
        "settings": first_settings(project),
    }
    return render(request, "reviews/bulk_filters.html", context)


@project_view(Right.MANAGE, "POST")
def filter_delete(request: SignedInRequest, project: Project, filter_id: int) -> HttpResponse:
    delete_filter(project=project, filter_id=filter_id)
    messages.success(request, gettext("The filter is deleted; the items stay as they are."))
    return redirect("filter_list", project.slug)


@project_view(Right.MANAGE, "POST")
def filter_first(request: SignedInRequest, project: Project) -> HttpResponse:
    """Choose the filter whose items come first, or none."""
    raw = request.POST.get("filter", "")
    chosen = get_filter(project, read_id(request.POST, "filter")) if raw else None
    set_first_filter(project=project, chosen=chosen)
    if chosen:
        words = gettext("Items of “%(name)s” come first from now on.") % {"name": chosen.name}
    else:
        words = gettext("No filter is first.")
    messages.success(request, words)
    return redirect("filter_list", project.slug)
