"""Saved filters of a project, and the one whose items come first."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from apps.reviews.forms import read_id
from apps.reviews.selectors.filters import filter_rows, first_settings
from apps.reviews.selectors.searching import read_query
from apps.reviews.services.filters import delete_filter, get_filter, put_first, save_filter
from apps.reviews.views.searching import asked_of
from labelhub.core.errors import InvalidInput


@login_required
@require_http_methods(["GET", "POST"])
def filter_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """The saved filters with how many items each holds; POST saves a search under a name."""
    project = get_project(request.user, slug, Right.MANAGE)
    if request.method == "POST":
        try:
            name, query = request.POST.get("name", ""), read_query(asked_of(request.POST))
            saved = save_filter(project=project, actor=request.user, name=name, query=query)
            messages.success(request, f"Saved as “{saved.name}”.")
        except InvalidInput as error:
            messages.error(request, error.message)
        return redirect("filter_list", slug)
    context = project_page(request, project, "items") | {
        "rows": filter_rows(project),
        "settings": first_settings(project),
    }
    return render(request, "reviews/bulk_filters.html", context)


@login_required
@require_POST
def filter_delete(request: SignedInRequest, slug: str, filter_id: int) -> HttpResponse:
    """Forget a filter."""
    project = get_project(request.user, slug, Right.MANAGE)
    delete_filter(project=project, filter_id=filter_id)
    messages.success(request, "The filter is deleted; the items stay as they are.")
    return redirect("filter_list", slug)


@login_required
@require_POST
def filter_first(request: SignedInRequest, slug: str) -> HttpResponse:
    """Choose the filter whose items come first, or none."""
    project = get_project(request.user, slug, Right.MANAGE)
    raw = request.POST.get("filter", "")
    chosen = get_filter(project, read_id(request.POST, "filter")) if raw else None
    put_first(project=project, chosen=chosen)
    words = f"Items of “{chosen.name}” come first from now on." if chosen else "No filter is first."
    messages.success(request, words)
    return redirect("filter_list", slug)
