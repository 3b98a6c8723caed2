"""The review screen and its settings. The page holds the current item and the next one; each answer
is sent by itself.
"""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.addresses import parse_row_id
from apps.common.figures import count_words
from apps.common.forms import show_refusal
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import current_guideline, current_schema
from apps.reviews.models import Decision, Slot
from apps.reviews.queue.drafts import save_draft
from apps.reviews.queue.forms import (
    KeyForm,
    ReviewPlanForm,
    ReviewScreenForm,
    read_answer,
    read_draft,
    read_id,
    read_token,
)
from apps.reviews.queue.item_context import (
    debate_behind,
    is_debate_hidden,
    may_open_debate,
    review_task,
)
from apps.reviews.queue.key_bindings import change_keys, keys_of
from apps.reviews.queue.leases import (
    ReviewerPaused,
    claim_drafted_item,
    claim_next_item,
    note_shown,
    release_leases,
    renew_leases,
    revoke_leases,
)
from apps.reviews.queue.plan import change_review_plan, save_screen
from apps.reviews.queue.selectors import live_leases, review_settings
from apps.reviews.queue.status import queue_progress, queue_status
from apps.reviews.queue.submission import postpone_item, skip_item, submit_label
from apps.reviews.queue.undo import NothingToUndo, Undone, reoffer_skipped, undo_decision, undo_last
from labelhub.core.errors import InvalidInput, LabelhubError


@never_cache
@project_view(Right.REVIEW)
def review(request: SignedInRequest, project: Project) -> HttpResponse:
    """The screen with its first item.

    Showing it leases an item for a few minutes, so that two people do not see the same text.
    ``?item=``: the item to prefer among those that the user holds or has a draft for.
    """
    slot = _claim(request, project, anew=True, first=parse_row_id(request.GET.get("item", "")))
    tell = queue_progress if slot else queue_status
    context = project_page(request, project, "review") | {
        "guideline": current_guideline(project),
        "status": tell(project, request.user),
        **_on_screen(request, project, slot),
    }
    return render(request, "reviews/review.html", context)


@project_view(Right.REVIEW, "POST")
def review_next(request: SignedInRequest, project: Project) -> HttpResponse:
    """One more item as a part of the page; 204 when there is none."""
    slot = _claim(request, project, besides=_tokens(request))
    if slot is None:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, "reviews/task.html", _on_screen(request, project, slot))


@project_view(Right.REVIEW, "POST")
def review_submit(request: SignedInRequest, project: Project) -> HttpResponse:
    """Store an answer: JSON for the page's own script, a redirect for a plain form."""
    try:
        done = submit_label(
            project=project,
            user=request.user,
            item_id=read_id(request.POST, "item"),
            answer=read_answer(request.POST, current_schema(project).task),
            lease_token=read_token(request.POST.get("lease", "")),
        )
    except LabelhubError as error:
        return _refused(request, project, error)
    earlier = done.label.supersedes
    replaced = done.created and earlier is not None and not earlier.rejected
    words = gettext("Stored. Your lease had expired.") if done.decision.late else gettext("Stored.")
    words = gettext("Stored in place of your earlier answer to this item.") if replaced else words
    if done.label.rejected:
        words = gettext("Rejected: somebody else gives the right label.")
    details = {"action": done.label.action, "late": done.decision.late, "replaced": replaced}
    return _done(request, project, words, **details)


@project_view(Right.REVIEW, "POST")
def review_skip(request: SignedInRequest, project: Project) -> HttpResponse:
    return _leave(request, project, skip_item, gettext("Skipped."))


@project_view(Right.REVIEW, "POST")
def review_postpone(request: SignedInRequest, project: Project) -> HttpResponse:
    """Postpone an item; it comes back when nothing else is left."""
    return _leave(
        request, project, postpone_item, gettext("Postponed: the item comes back at the end.")
    )


@project_view(Right.REVIEW, "POST")
def review_draft(request: SignedInRequest, project: Project) -> HttpResponse:
    item_id, fields = read_id(request.POST, "item"), read_draft(request.POST)
    save_draft(project=project, user=request.user, item_id=item_id, fields=fields)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@project_view(Right.REVIEW, "POST")
def review_undo(request: SignedInRequest, project: Project) -> HttpResponse:
    """Undo the last decision; the item comes back if it is still available."""
    undone = undo_last(project=project, user=request.user)
    if undone is None:
        return _done(request, project, gettext("There is nothing left to undo."), undone=False)
    html = ""
    if undone.slot and _wants_json(request):
        context = _on_screen(request, project, undone.slot)
        html = render_to_string("reviews/task.html", context, request=request)
    rejected = bool(undone.decision.label and undone.decision.label.rejected)
    details = {"undone": True, "action": undone.decision.action, "rejected": rejected, "html": html}
    return _done(request, project, _undone_words(undone), **details)


@project_view(Right.REVIEW, "POST")
def review_take_back(request: SignedInRequest, project: Project) -> HttpResponse:
    """Undo one decision in the list of past answers; its item comes first."""
    try:
        undone = undo_decision(
            project=project, user=request.user, decision_id=read_id(request.POST, "decision")
        )
    except (NothingToUndo, ReviewerPaused) as error:
        messages.error(request, error.message)
        return redirect("my_work", project.slug)
    messages.success(request, _undone_words(undone))
    if undone.slot is None:
        return redirect("my_work", project.slug)
    return redirect(f"{reverse('review', args=[project.slug])}?item={undone.decision.item_id}")


@project_view(Right.REVIEW, "POST")
def review_renew(request: SignedInRequest, project: Project) -> JsonResponse:
    """Renew the leases of an open page; returns those that it holds."""
    kept = renew_leases(project=project, user=request.user, tokens=_tokens(request))
    return JsonResponse({"kept": [str(token) for token in kept]})


@project_view(Right.REVIEW, "POST")
def review_release(request: SignedInRequest, project: Project) -> HttpResponse:
    """Give back the leases of a page that is being left."""
    release_leases(project=project, user=request.user, tokens=_tokens(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@project_view(Right.REVIEW, "POST")
def review_unskip(request: SignedInRequest, project: Project) -> HttpResponse:
    """Offer the items again that this person skipped."""
    reoffer_skipped(project=project, user=request.user)
    return redirect("review", project.slug)


@never_cache
@project_view(Right.REVIEW)
def review_status(request: SignedInRequest, project: Project) -> HttpResponse:
    """The state of the queue, as a part of the page."""
    context = project_page(request, project, "review")
    context |= {"status": queue_status(project, request.user), "keys": keys_of(request.user)}
    return render(request, "reviews/review.html#status", context)


@project_view(Right.REVIEW)
def review_debate(request: SignedInRequest, project: Project, item_id: int) -> HttpResponse:
    """The debate behind an item's suggestion, as a part of the page; none before an audit."""
    wait = is_debate_hidden(request.user, project, item_id)
    debate = None if wait else debate_behind(project, item_id)
    context = {
        "project": project,
        "debate": debate,
        "schema": current_schema(project).parsed,
        "wait": wait,
        "whole": may_open_debate(request.user, project, item_id),
    }
    return render(request, "reviews/review.html#debate", context)


def _leave(
    request: SignedInRequest, project: Project, leave: Callable[..., Decision], words: str
) -> HttpResponse:
    try:
        decision = leave(
            project=project,
            user=request.user,
            item_id=read_id(request.POST, "item"),
            lease_token=read_token(request.POST.get("lease", "")),
            reason=request.POST.get("comment", ""),
        )
    except LabelhubError as error:
        return _refused(request, project, error)
    return _done(request, project, words, action=decision.action)


def _undone_words(undone: Undone) -> str:
    if undone.restored:
        return gettext(
            "Undone. The item waits for a decision again; your earlier answer is active."
        )
    return (
        gettext("Undone.")
        if undone.slot
        else gettext("Undone. Others have the item, or it is decided.")
    )


def _claim(request: SignedInRequest, project: Project, **options: Any) -> Slot | None:
    """The next item; None also for a paused reviewer, who reads the reason in the status."""
    try:
        if first := options.get("first"):
            claim_drafted_item(project=project, user=request.user, item_id=first)
        return claim_next_item(project=project, user=request.user, **options)
    except ReviewerPaused:
        return None


def _on_screen(request: SignedInRequest, project: Project, slot: Slot | None) -> dict[str, Any]:
    """What the templates of an item need."""
    keys = keys_of(request.user)
    taken = {key for given in keys.values() for key in given.split()}
    task = review_task(project, slot=slot, taken_keys=taken) if slot else None
    if slot and task:
        note_shown(slot, task.suggestion)
    return {"project": project, "task": task, "keys": keys}


def _tokens(request: HttpRequest) -> list[UUID]:
    """The lease tokens that a page sent; malformed ones are ignored."""
    read = (read_token(raw) for raw in request.POST.getlist("lease"))
    return [token for token in read if token is not None]


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _done(request: HttpRequest, project: Project, words: str, **details: Any) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"message": words, **details})
    messages.success(request, words)
    return redirect("review", project.slug)


def _refused(request: HttpRequest, project: Project, error: LabelhubError) -> HttpResponse:
    """The page's script shows the answer again with this message; a plain form gets a toast."""
    if _wants_json(request):
        body = json.dumps({"message": str(error.message), "code": error.code})
        return HttpResponse(body, status=error.http_status, content_type="application/json")
    messages.error(request, error.message)
    return redirect("review", project.slug)


@project_view(Right.MANAGE, "GET", "POST")
def review_plan(request: SignedInRequest, project: Project) -> HttpResponse:
    form = ReviewPlanForm(request.POST or None, instance=project)
    if request.method == "POST" and form.is_valid():
        project.refresh_from_db()  # the form has set its values on the instance
        change_review_plan(project=project, by=request.user, **form.plan)
        messages.success(request, gettext("The review plan is changed, and all items follow it."))
        return redirect("review_plan", slug=project.slug)
    screen = ReviewScreenForm(instance=review_settings(project))
    context = project_page(request, project, "plan") | {"form": form, "screen": screen}
    return render(request, "reviews/plan.html", context)


@project_view(Right.MANAGE, "POST")
def review_screen(request: SignedInRequest, project: Project) -> HttpResponse:
    screen = ReviewScreenForm(request.POST, instance=review_settings(project))
    if screen.is_valid():
        save_screen(project, screen.save)
        messages.success(
            request, gettext("The review screen is changed, starting with the next item.")
        )
        return redirect("review_plan", slug=project.slug)
    form = ReviewPlanForm(instance=project)
    context = project_page(request, project, "plan") | {"form": form, "screen": screen}
    return render(request, "reviews/plan.html", context)


@project_view(Right.MANAGE)
def review_leases(request: SignedInRequest, project: Project) -> HttpResponse:
    context = project_page(request, project, "plan") | {"leases": live_leases(project)[:500]}
    return render(request, "reviews/leases.html", context)


@project_view(Right.MANAGE, "POST")
def review_revoke(request: SignedInRequest, project: Project) -> HttpResponse:
    sent = request.POST.getlist("slot")
    wanted = [number for raw in sent if (number := parse_row_id(raw)) is not None]
    reason = request.POST.get("reason", "")
    count = revoke_leases(project=project, slot_ids=wanted[:500], by=request.user, reason=reason)
    messages.success(
        request,
        ngettext(
            "%(number)s item returned to the queue; late answers are still stored.",
            "%(number)s items returned to the queue; late answers are still stored.",
            count,
        )
        % {"number": count_words(count)},
    )
    return redirect("review_leases", slug=project.slug)


@login_required
@require_http_methods(["GET", "POST"])
def review_keys(request: SignedInRequest) -> HttpResponse:
    form = KeyForm(request.POST or None, initial=keys_of(request.user))
    if request.method == "POST":
        if "reset" in request.POST:
            change_keys(user=request.user, keys={})
            messages.success(request, gettext("Your keys are the defaults again."))
            return redirect("review_keys")
        if form.is_valid():
            try:
                change_keys(user=request.user, keys=form.cleaned_data)
            except InvalidInput as error:
                show_refusal(form, error)
            else:
                messages.success(request, gettext("Your keys are changed in all projects."))
                return redirect("review_keys")
    return render(request, "reviews/keys.html", {"form": form})
