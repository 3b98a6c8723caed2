"""The pages: what is to change, what that will do, how far it has come."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, override
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.forms import show_refusal
from apps.projects.models import Project, SchemaChange
from apps.projects.pages import project_page
from apps.projects.selectors import current_schema, get_project
from apps.reviews.schema_changes.forms import ChangeForm
from apps.reviews.schema_changes.preview import preview_change
from apps.reviews.schema_changes.services import (
    begin_change,
    changes_of,
    draft_change,
    get_change,
    is_newest,
    resume_change,
)
from labelhub.core.errors import LabelhubError

Status = SchemaChange.Status


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def labels_change(request: SignedInRequest, slug: str) -> HttpResponse:
    """What is to become of each label; posting it leads to the preview."""
    project = get_project(request.user, slug, Right.MANAGE)
    editing = request.method == "POST"
    current = current_schema(project)
    form = ChangeForm(current.parsed, request.POST if editing else None)
    if editing and form.is_valid():
        try:
            reason = form.whole.cleaned_data["reason"]
            draft = draft_change(project, form.operations(), actor=request.user, reason=reason)
            change = _stored(draft)
        except LabelhubError as error:
            show_refusal(form.whole, error)
        else:
            return redirect("labels_change_detail", slug, change.pk)
    context = project_page(request, project, "labels") | {
        "form": form,
        "current": current,
        "changes": changes_of(project)[:20],
    }
    return render(request, "reviews/labels_change.html", context, status=422 if editing else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def labels_change_detail(request: SignedInRequest, slug: str, change_id: int) -> HttpResponse:
    """One change: its preview, its progress, what it did; posting begins it, lets it go on, or
    works out how to take it back."""
    project = get_project(request.user, slug, Right.MANAGE)
    change = get_change(project, change_id)
    if request.method == "POST":
        try:
            return redirect("labels_change_detail", slug, _done(request, project, change).pk)
        except LabelhubError as error:
            messages.error(request, error.message)
            return redirect("labels_change_detail", slug, change.pk)
    context = project_page(request, project, "labels") | {
        "change": change,
        "newest": is_newest(change),
    }
    return render(request, "reviews/labels_change_detail.html", context)


def _done(request: SignedInRequest, project: Project, change: SchemaChange) -> SchemaChange:
    match request.POST.get("do"):
        case "begin" if change.status == Status.PREVIEWED:
            begin_change(change)
        case "revert" if is_newest(change):
            return _stored(draft_change(project, [], actor=request.user, reverts=change))
        case "resume" if resume_change(change):
            pass  # a worker goes on
        case _:
            messages.info(request, gettext("That has been done already."))
    return change


def _stored(draft: SchemaChange) -> SchemaChange:
    """The change with its preview; earlier ones of the same person that were not begun go."""
    with override("en"):  # it is stored
        draft.preview = preview_change(draft)
    kept: dict[str, Any] = {"project": draft.project, "created_by": draft.created_by}
    with transaction.atomic():
        # One that begins at this moment must not go: all that it carries over would go with it.
        Project.objects.select_for_update().get(pk=draft.project_id)
        SchemaChange.objects.filter(**kept, status=Status.PREVIEWED).delete()
        draft.save()
    return draft
