"""Pages: making a variant of a prompt, and retiring one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.forms import show_refusal
from apps.debates import selectors
from apps.debates.prompt_forms import VariantForm
from apps.debates.services import prompts
from apps.debates.views.prompts.frame import chosen_version, frame
from apps.projects.selectors import get_project
from labelhub.core.errors import LabelhubError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def variant_create(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """Write a variant. A POST with ``check`` keeps nothing: it shows what the draft renders to."""
    project = get_project(request.user, slug, Right.MANAGE)
    present = prompts.prompt_called(key)
    base = chosen_version(request, prompts.versions(project, present))
    form = (
        VariantForm(request.POST) if request.method == "POST" else VariantForm.starting_from(base)
    )
    context: dict[str, Any] = {"key": key, "prompt": present, "base": base, "form": form}
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        try:
            checked = prompts.checked_draft(
                project, present, system=given["system"], user=given["user"]
            )
            if "check" in request.POST:
                context |= {"rendering": checked.rendering, "warnings": checked.warnings}
            else:
                made = prompts.make_variant(
                    project=project, actor=request.user, draft=checked.draft, title=given["title"]
                )
                messages.success(request, f"The variant “{made.title}” is kept. Try it next.")
                address = reverse("prompt_detail", args=[slug, key])
                return redirect(f"{address}?version={made.version.hash[:12]}")
        except LabelhubError as error:
            show_refusal(form, error)
    status = 422 if form.errors else 200
    return render(
        request, "debates/prompt_variant.html", frame(request, project) | context, status=status
    )


@login_required
@require_POST
def variant_retire(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Offer a variant no more."""
    project = get_project(request.user, slug, Right.MANAGE)
    variant = prompts.retire_variant(variant=selectors.get_variant(project, pk))
    messages.success(
        request,
        f"“{variant.title}” is no longer offered. Runs that used it stay as they are; saving the "
        "same text again brings it back.",
    )
    return redirect("prompt_detail", slug, prompts.key_of(variant.name))
