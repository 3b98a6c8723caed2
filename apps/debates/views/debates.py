"""Pages of one debate."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.debates import selectors
from apps.debates.conversation import conversation, records_of, summarize_debate
from apps.debates.selectors import DebateFilter
from apps.debates.views.frame import page_frame
from apps.projects.selectors import get_project
from labelhub.core.errors import NotFound


@login_required
@require_safe
def debate_detail(request: SignedInRequest, slug: str, debate_id: int) -> HttpResponse:
    """Who said what, and who changed their mind."""
    project = get_project(request.user, slug, Right.VIEW)
    debate = selectors.debate_with_turns(project, debate_id, request.user)
    filters = DebateFilter(request.GET, selectors.comparable_debates(debate.run, request.user))
    context = {"debate": debate, "run": debate.run, "filters": filters}
    context |= {"talk": conversation(debate), "standing": summarize_debate(debate)}
    context["neighbours"] = selectors.neighbours(debate, filters)
    return render(request, "debates/debate_detail.html", page_frame(request, project) | context)


@login_required
@require_safe
@vary_on_headers("HX-Request")
def debate_calls(request: SignedInRequest, slug: str, debate_id: int) -> HttpResponse:
    """The record of a debate's calls, or of one: prompt as sent, parameters, answer as it came."""
    project = get_project(request.user, slug, Right.VIEW)
    debate = selectors.calls_of(project, debate_id, request.user, _turn(request))
    context = {"debate": debate, "run": debate.run, "records": records_of(debate.turns.all())}
    if "HX-Request" in request.headers:
        return render(request, "debates/debate_calls.html#calls", context)
    return render(request, "debates/debate_calls.html", page_frame(request, project) | context)


def _turn(request: SignedInRequest) -> int | None:
    """Which call is asked for; None for all."""
    wanted = request.GET.get("turn", "")
    if not wanted:
        return None
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < len(str(2**63))):
        raise NotFound("There is no such call in this debate.")
    return int(wanted)
