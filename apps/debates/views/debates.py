"""Pages: the debates of a run, and one debate."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.debates import selectors
from apps.debates.conversation import conversation, records_of, standing_of
from apps.debates.models import Debate, Run
from apps.debates.reasons import reason_words
from apps.debates.selectors import DebateFilters
from apps.debates.views.frame import page_frame
from apps.projects.selectors import get_project
from labelhub.core.errors import NotFound

DEBATES_A_PAGE = 50


@login_required
@require_safe
def run_debate_list(request: SignedInRequest, slug: str, run_id: int) -> HttpResponse:
    """The debates of a run, narrowed down by how they went."""
    project = get_project(request.user, slug, Right.VIEW)
    run = selectors.get_run(project, run_id)
    filters = DebateFilters.of(request.GET)
    found = selectors.find_debates(run, filters, request.user)
    page = Paginator(found, DEBATES_A_PAGE).get_page(request.GET.get("page"))
    context = {"run": run, "going": run.going, "page": page, "filters": filters}
    context |= _choices(run)
    return render(request, "debates/debate_list.html", page_frame(request, project) | context)


@login_required
@require_safe
def debate_detail(request: SignedInRequest, slug: str, debate_id: int) -> HttpResponse:
    """Who said what, and who changed their mind."""
    project = get_project(request.user, slug, Right.VIEW)
    debate = selectors.debate_with_turns(project, debate_id, request.user)
    filters = DebateFilters.of(request.GET)
    context = {"debate": debate, "run": debate.run, "filters": filters}
    context |= {"talk": conversation(debate), "standing": standing_of(debate)}
    context["beside"] = selectors.beside(debate, filters, request.user)
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
        return render(request, "debates/_debate_calls.html", context)
    return render(request, "debates/debate_calls.html", page_frame(request, project) | context)


def _turn(request: SignedInRequest) -> int | None:
    """Which call is asked for; None for all."""
    wanted = request.GET.get("turn", "")
    if not wanted:
        return None
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < len(str(2**63))):
        raise NotFound("There is no such call in this debate.")
    return int(wanted)


def _choices(run: Run) -> dict[str, Any]:
    counted = selectors.choices_of(run)
    return {
        "statuses": [
            (status, words, counted.statuses[status])
            for status, words in Debate.Status.choices
            if counted.statuses[status]
        ],
        "total": counted.statuses.total(),
        "reason_choices": _in_words(counted.reasons.most_common()),
        "flag_choices": _in_words(counted.flags.most_common()),
        "gold_choices": selectors.GOLD.items(),
        "changed_choices": selectors.CHANGED.items(),
        "has_critic": "critic"
        in {role.role.rpartition("_")[2] for role in selectors.roles_of(run)},
    }


def _in_words(counts: list[tuple[str, int]]) -> list[tuple[str, str, int]]:
    return [(code, reason_words(code), count) for code, count in counts]
