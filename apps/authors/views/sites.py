"""The sites of a project, and making one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.forms.sites import SiteForm
from apps.authors.models import Site
from apps.authors.pages import own_origin, sites_page
from apps.authors.pictures import figure_of
from apps.authors.selectors.funnel import funnels_of, start_of
from apps.authors.selectors.sites import sites_of
from apps.authors.services.sites import create_site
from apps.common.forms import show_refusal
from apps.projects.models import Project
from apps.projects.selectors import current_schema, get_project
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.funnel import rates

#: Days that the list counts.
DAYS = 7


@login_required
@require_safe
def site_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """Every site with its state and the last week's funnel in small."""
    project = get_project(request.user, slug, Right.VIEW)
    fits = current_schema(project).task.item_options
    found = list(sites_of(project))
    funnels = funnels_of(project, start_of(DAYS, timezone.now())) if found else {}
    rows = []
    for site in found:
        funnel = funnels[site.pk]
        figures = {name: figure_of(each) for name, each in rates(funnel).items()}
        rows.append({"site": site, "funnel": funnel, "answered": figures["answered"]})
    context = sites_page(request, project) | {"rows": rows, "fits": fits, "days": DAYS}
    return render(request, "authors/site_list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_create(request: SignedInRequest, slug: str) -> HttpResponse:
    """One page of questions; then to the site's snippet."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = SiteForm(request.POST if request.method == "POST" else None)
    site = _created(request, project, form) if request.method == "POST" else None
    if site is not None:
        messages.success(request, f"The site “{site.name}” is ready: put its snippet into a page.")
        return redirect("site_install", slug, site.pk)
    fits = current_schema(project).task.item_options
    context: dict[str, Any] = sites_page(request, project)
    context |= {"form": form, "fits": fits, "origin": own_origin(request)}
    return render(request, "authors/site_create.html", context, status=422 if form.errors else 200)


def _created(request: SignedInRequest, project: Project, form: SiteForm) -> Site | None:
    """The new site, or None with the faults on the form."""
    if not form.is_valid():
        return None
    data = form.cleaned_data
    here = [own_origin(request)] if data["allow_here"] else []
    try:
        return create_site(
            project=project,
            actor=request.user,
            name=data["name"],
            features=form.features(),
            allowed_origins=[*data["allowed_origins"], *here],
            languages=form.languages(),
            identity=data["identity"],
            consent_by=data["consent_by"],
        )
    except LabelhubError as error:
        show_refusal(form, error)
        return None
