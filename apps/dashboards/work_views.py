"""How the people's work goes, for managers; and a reviewer's own desk."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.addresses import row_number
from apps.dashboards.past import past_answers
from apps.dashboards.standing import overview
from apps.dashboards.work import desk_of, work_report
from apps.projects.pages import project_page
from apps.projects.selectors import get_project


@login_required
@require_GET
def project_work(request: SignedInRequest, slug: str) -> HttpResponse:
    """How far, how fast, who, and what waits why?"""
    project = get_project(request.user, slug, Right.MANAGE)
    context = project_page(request, project, "work") | {
        "report": work_report(project),
        "view": overview(project),
    }
    return render(request, "dashboards/work.html", context)


@login_required
@require_GET
def my_work(request: SignedInRequest, slug: str) -> HttpResponse:
    """What have I done, what is for me, what has changed?"""
    project = get_project(request.user, slug, Right.REVIEW)
    before = row_number(request.GET.get("before", ""))
    context = project_page(request, project, "mine") | {
        "desk": desk_of(project, request.user),
        "past": past_answers(project, request.user, before=before),
        "older_than": before,
    }
    return render(request, "dashboards/mine.html", context)
