"""Adjudication pages: the list of waiting items, and the page of one item."""

import json
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache

from apps.accounts.http import SignedInRequest
from apps.common.addresses import parse_row_id
from apps.common.figures import count_words
from apps.common.lists import requested_page
from apps.common.values import value_words
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import current_guideline, current_schema
from apps.reviews.adjudication.docket import (
    AGES,
    BETWEEN_PEOPLE,
    WITH_A_MACHINE,
    CaseFilter,
    against_words,
    case_rows,
    next_case,
    project_to_adjudicate,
    read_docket,
    undone_decision,
    waiting_states,
)
from apps.reviews.adjudication.opinions import (
    Opinions,
    lease_of_others,
    read_opinions,
    readable_opinions,
)
from apps.reviews.adjudication.services import (
    Adjudicated,
    Ruling,
    adjudicate,
    claim_to_adjudicate,
    last_settled_decision,
    send_back,
    undo_adjudication,
)
from apps.reviews.comments.selectors import thread_on
from apps.reviews.queue.forms import read_id, read_number, read_token, read_value
from apps.reviews.queue.item_context import ended_debates
from apps.reviews.queue.submission import skip_item
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.schema import LabelType

MOST_QUOTES = 100


def read_ruling(data: QueryDict, task: LabelType) -> Ruling:
    """The ruling in a posted form: ``value`` (repeated for sets), ``none`` for the empty set,
    ``abstain`` in place of a value, ``rationale``, ``quote`` (repeated; a label and a phrase as
    JSON), ``explain``, ``seconds``, ``schema``.

    Raises:
        InvalidInput: a field is malformed.
    """
    abstain = "abstain" in data
    quotes = data.getlist("quote")
    if len(quotes) > MOST_QUOTES:
        raise InvalidInput.at(
            "quote", "at most %(most_quotes)s can be quoted.", most_quotes=MOST_QUOTES
        )
    found: dict[str, list[str]] = {}
    for raw in quotes:
        name, phrase = _quote(raw)
        found.setdefault(name, []).append(phrase)
    return Ruling(
        value=None if abstain else read_value(data, task),
        abstain=abstain,
        rationale=data.get("rationale", ""),
        evidence=found,
        explain=data.get("explain", ""),
        seconds=read_number(data.get("seconds", "")),
        schema_version=read_id(data, "schema") if data.get("schema") else None,
    )


def read_filter(data: QueryDict) -> CaseFilter:
    """The filter in an address; invalid values are ignored."""
    by, age, between = data.get("by", ""), data.get("age", ""), data.get("between", "")
    return CaseFilter(
        against=data.get("against", "")[:200],
        by=parse_row_id(by),
        age=age if age in AGES else "",
        between=between if between in (BETWEEN_PEOPLE, WITH_A_MACHINE) else "",
    )


def _quote(raw: str) -> tuple[str, str]:
    try:
        read = json.loads(raw)
    except ValueError:
        read = None
    match read:
        case [str(name), str(phrase)]:
            return name, phrase
    raise InvalidInput.at("quote", "must be a label and a phrase.")


PAGE_SIZE = 25
#: Of the debates of an item, the newest are shown.
DEBATES = 3
TEXTS = ("rationale", "explain", "reason")


@never_cache
@project_view(project_to_adjudicate)
def adjudication(request: SignedInRequest, project: Project) -> HttpResponse:
    """The items that wait for an expert, with their conflicting labels."""
    wanted = read_filter(request.GET)
    found = read_docket(project, wanted)
    cases = sorted(found.cases, key=lambda case: case.has_label_of(request.user))
    page = requested_page(request.GET, cases, PAGE_SIZE)
    context = project_page(request, project, "adjudication") | {
        "docket": found,
        "against": [(key, against_words(key), number) for key, number in found.against],
        "wanted": wanted,
        "query": wanted.query,
        "page": page,
        "rows": case_rows(request.user, list(page)),
        "schema": current_schema(project).parsed,
        "undoable": last_settled_decision(project, request.user),
    }
    return render(request, "reviews/adjudication.html", context)


@project_view(project_to_adjudicate)
def adjudication_next(request: SignedInRequest, project: Project) -> HttpResponse:
    """Go to the next item that waits for this person and passes the filter, else to the list."""
    return _to_next(request, project)


@never_cache
@project_view(project_to_adjudicate)
def adjudication_item(request: SignedInRequest, project: Project, item_id: int) -> HttpResponse:
    """One item with all opinions side by side.

    Showing it locks the item for a few minutes, so that two experts do not decide it at once.
    """
    return _desk(request, project, item_id)


@project_view(project_to_adjudicate, "POST")
def adjudication_decide(request: SignedInRequest, project: Project, item_id: int) -> HttpResponse:
    """Store the decision and go on; an invalid form is shown again as it was sent."""
    case = read_opinions(project, request.user, item_id)
    try:
        done = adjudicate(
            project=project,
            user=request.user,
            item_id=item_id,
            ruling=read_ruling(request.POST, case.task),
            lease_token=read_token(request.POST.get("lease", "")),
        )
    except InvalidInput as error:
        return _desk(request, project, item_id, fault=error.message)
    except Conflict as error:
        return _refused(request, project, error)
    messages.success(request, _words(done))
    return _to_next(request, project, after=item_id)


@project_view(project_to_adjudicate, "POST")
def adjudication_return(request: SignedInRequest, project: Project, item_id: int) -> HttpResponse:
    """Ask the people who labelled the item to check it again."""
    reason = request.POST.get("reason", "")
    try:
        sent = send_back(project=project, user=request.user, item_id=item_id, reason=reason)
    except InvalidInput as error:
        return _desk(request, project, item_id, fault=error.message)
    except Conflict as error:
        return _refused(request, project, error)
    names = ", ".join(person.username for person in sent.people)
    messages.success(request, gettext("Sent back to %(names)s.") % {"names": names})
    return _to_next(request, project, after=item_id)


@project_view(project_to_adjudicate, "POST")
def adjudication_skip(request: SignedInRequest, project: Project, item_id: int) -> HttpResponse:
    """Leave the item to another expert."""
    skip_item(project=project, user=request.user, item_id=item_id)
    messages.info(request, gettext("Skipped. Undo brings the item back."))
    return _to_next(request, project, after=item_id)


@project_view(project_to_adjudicate, "POST")
def adjudication_undo(request: SignedInRequest, project: Project) -> HttpResponse:
    """Undo the last decision, and show its item again."""
    undone = undo_adjudication(project=project, user=request.user)
    if undone is None:
        messages.info(request, gettext("You have no decision to undo here."))
        return redirect("adjudication", project.slug)
    messages.success(request, gettext("Undone."))
    if waiting_states(project).filter(item=undone.item_id).exists():
        address = reverse("adjudication_item", args=[project.slug, undone.item_id])
        return redirect(f"{address}?again={undone.pk}" if undone.label_id else address)
    return redirect("adjudication", project.slug)


@project_view(project_to_adjudicate)
def adjudication_debates(request: SignedInRequest, project: Project, item_id: int) -> HttpResponse:
    """The arguments of the item's debates, by side, as a part of the page; none for audits."""
    case = readable_opinions(project, request.user, item_id)
    debates = [] if case.hides_machines else ended_debates(project, item_id)[:DEBATES]
    schema = case.schema.parsed
    context = {"project": project, "item": case.item, "debates": debates, "schema": schema}
    return render(request, "reviews/adjudication_item.html#debates", context)


def _desk(
    request: SignedInRequest, project: Project, item_id: int, *, fault: str = ""
) -> HttpResponse:
    case = read_opinions(project, request.user, item_id)
    # After an invalid form, people who have labelled the item see it also if it waits for nobody.
    if not case.waits and (not fault or case.own(request.user) is None):
        messages.info(request, gettext("This item no longer waits for a decision."))
        _return_text(request)
        return redirect("item_detail", project.slug, item_id)
    slot = claim_to_adjudicate(project=project, user=request.user, item_id=item_id)
    context = project_page(request, project, "adjudication") | {
        "case": case,
        "item": case.item,
        "slot": slot,
        "holder": None if slot else lease_of_others(item_id, request.user),
        "own": case.own(request.user),
        "guideline": current_guideline(project),
        "thread": thread_on(project, request.user, item_id),
        "waiting": waiting_states(project).count(),
        "query": read_filter(request.GET).query,
        "undoable": last_settled_decision(project, request.user),
        "sent": _sent(request, case) if request.method == "POST" else _again(request, item_id),
        "fault": fault,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK
    return render(request, "reviews/adjudication_item.html", context, status=status)


def _again(request: SignedInRequest, item_id: int) -> dict[str, Any]:
    """The fields of the decision that was just undone, so that nobody has to enter them twice."""
    undone = undone_decision(request.user, item_id, request.GET.get("again", ""))
    if undone is None or undone.label is None:
        return {}
    label = undone.label
    quotes = [
        json.dumps([name, phrase]) for name, phrases in label.evidence.items() for phrase in phrases
    ]
    schema = label.schema.parsed.of_item(label.item.options)
    values = sorted(schema.names_in(label.value))
    return {
        "values": values,
        "none": label.value == [],
        "rationale": label.rationale,
        "quotes": quotes,
    }


def _sent(request: SignedInRequest, case: Opinions) -> dict[str, Any]:
    """The fields of the refused form, without the choice if it was one among other labels."""
    post = request.POST
    words = {name: post.get(name, "") for name in TEXTS}
    if post.get("schema") != str(case.schema.version):
        return words
    chosen = {"values": post.getlist("value"), "none": "none" in post}
    return {**words, **chosen, "quotes": post.getlist("quote")}


def _to_next(request: SignedInRequest, project: Project, *, after: int = 0) -> HttpResponse:
    wanted = read_filter(request.GET)
    item_id = next_case(project, request.user, wanted=wanted, after=after)
    if item_id is None:
        if read_docket(project, wanted).cases:
            words = gettext(
                "You have skipped the waiting items, or others have locked them. Open one here."
            )
            messages.info(request, words)
        return redirect(reverse("adjudication", args=[project.slug]) + wanted.query)
    return redirect(reverse("adjudication_item", args=[project.slug, item_id]) + wanted.query)


def _refused(request: SignedInRequest, project: Project, error: Conflict) -> HttpResponse:
    messages.error(request, error.message)
    _return_text(request)
    return redirect("adjudication", project.slug)


def _return_text(request: SignedInRequest) -> None:
    """Show the text of a form that cannot be shown again."""
    written = " ".join(filter(None, (request.POST.get(name) for name in TEXTS)))
    if written:
        messages.info(request, gettext("Your text, to copy: %(text)s") % {"text": written})


def _words(done: Adjudicated) -> str:
    reached = len(done.overruled) if done.comment else 0
    if done.gold is None and done.label.abstained:
        words = gettext("Decided: unsure.")
    elif done.gold is None or done.gold.value != done.label.value:
        return gettext("Stored. The gold of the author or an import takes precedence.")
    else:
        words = gettext("Decided: %(label)s.") % {"label": value_words(done.gold.value)[:80]}
    if not reached:
        return words
    explained = ngettext(
        "Explained to %(number)s person.", "Explained to %(number)s people.", reached
    )
    return f"{words} {explained % {'number': count_words(reached)}}"
