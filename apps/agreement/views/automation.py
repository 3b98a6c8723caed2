"""Which share of items may be accepted without a person, under which promise?"""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.agreement.automation.guarantee import (
    State,
    live_guarantee,
    settle_if_small,
    switch_off,
    switch_on,
)
from apps.agreement.automation.page import (
    AutomationState,
    PromiseForm,
    automation_state,
    ended_promises,
    ending_words,
    failure_of,
    labels_by_target,
    short_ending_words,
)
from apps.agreement.automation.promise import certainty_of
from apps.agreement.automation.sample import draw_sample
from apps.agreement.models import Guarantee
from apps.common.figures import count_words
from apps.common.forms import show_refusal
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from labelhub.core.errors import Conflict, LabelhubError

Ending = Guarantee.Ending
GONE = _("There is nothing to switch: the promise has ended meanwhile.")

#: Of the callout about a promise that has ended.
TONES = {Ending.BROKEN: "bad", Ending.SWITCHED_OFF: "info", Ending.ABANDONED: "info"}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def automation(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the costs of a promise, its sample, its proof, and the blind audit since.

    A promise in the query is shown, not made.
    """
    right = Right.MANAGE if request.method == "POST" else Right.VIEW
    project = get_project(request.user, slug, right)
    drawing = request.POST.get("do") == "draw"
    form = PromiseForm(
        request.POST if drawing else request.GET if "target" in request.GET else None
    )
    if request.method == "POST" and (not drawing or form.is_valid()):
        try:
            messages.success(request, _do_step(project, request.user, request.POST.get("do"), form))
        except LabelhubError as error:
            # While there is a promise, the page has no form.
            asks = drawing and live_guarantee(project) is None
            show_refusal(form, error) if asks else messages.error(request, error.message)
        if not form.errors:
            return redirect("automation", slug)
    asked = form.asked() if form.is_bound and form.is_valid() else None
    context = project_page(request, project, "automation") | {"form": form}
    context |= _context(automation_state(project, asked), project)
    context["manages"] = context["role"] == Role.MANAGER
    # The part that follows the fields shows their faults itself.
    status = 422 if form.errors and "HX-Request" not in request.headers else 200
    return render(request, "agreement/automation.html", context, status=status)


def _do_step(project: Project, actor: User, step: str | None, form: PromiseForm) -> str:
    if step == "draw":
        made = draw_sample(project, actor=actor, terms=form.asked())
        settle_if_small(made)
        words = ngettext(
            "The sample is drawn: %(number)s item.",
            "The sample is drawn: %(number)s items.",
            len(made.sample),
        )
        return words % {"number": count_words(len(made.sample))}
    live = live_guarantee(project)
    if live is None or step not in ("on", "off"):
        raise Conflict(str(GONE))
    if step == "on":
        settle_if_small(switch_on(live, actor=actor))
        return gettext("Switched on: certain items are accepted, the others go to people.")
    drawn = live.state == State.DRAWN
    if not switch_off(live, actor=actor):
        raise Conflict(str(GONE))
    settle_if_small(live)
    if drawn:
        return gettext("The sample is discarded.")
    if live.ending != Ending.SWITCHED_OFF:
        return ending_words(live)
    return gettext("Switched off: rule and plan are as before.")


def _context(found: AutomationState, project: Project) -> dict[str, Any]:
    live, last = found.guarantee, found.last
    failed = bool(last and failure_of(last))
    tone = "warn" if last is None or failed else TONES.get(Ending(last.ending), "warn")
    # With a live promise the costs of another one are neither shown nor counted.
    plan = {}
    if live is None:
        plan = {"plan": found.plan, "pool": found.pool, "needed": labels_by_target(found.plan)}
    return plan | {
        "found": found,
        "live": live,
        "on": live is not None and live.state == State.ON,
        "certainty": certainty_of(live.bound) if live and live.bound is not None else None,
        "last": last,
        "last_words": ending_words(last) if last else "",
        "last_failed": failed,
        "last_tone": tone,
        "before": [
            (guarantee, short_ending_words(guarantee)) for guarantee in ended_promises(project)
        ],
    }
