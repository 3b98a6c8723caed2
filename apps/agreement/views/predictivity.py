"""Do third-party labels tell as much about an author as the author's own? One page, its parts."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right, Role
from apps.agreement import tasks
from apps.agreement.figures.download import CONTENT_TYPES, attachment, content
from apps.agreement.models import Study
from apps.agreement.predictivity.drawing import picture, table
from apps.agreement.predictivity.forms import StudyForm
from apps.agreement.predictivity.planning import begun_words, estimate, plan_study
from apps.agreement.predictivity.reading import Answers, read_answers
from apps.agreement.predictivity.results import result_of
from apps.agreement.predictivity.studies import (
    cancel_study,
    get_study,
    pause_study,
    resume_study,
    start_study,
    studies_of,
)
from apps.common.forms import show_refusal
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from labelhub.core.agreement.predictivity import CHANCE, SOURCES
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError, NotFound

STEERING: dict[str, Callable[..., Study]] = {
    "pause": pause_study,
    "resume": resume_study,
    "cancel": cancel_study,
}
EARLIER = 20


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def predictivity(request: SignedInRequest, slug: str) -> HttpResponse:
    """The newest study or the one asked for; a POST starts one, or continues that of its plan.

    A POST with ``show`` starts nothing: without scripts it is how one sees what a study takes.
    """
    right = Right.MANAGE if request.method == "POST" else Right.VIEW
    project = get_project(request.user, slug, right)
    answers, missing = _answers(project)
    form = _form(answers, request.POST or None)
    showing = "show" in request.POST
    if request.method == "POST" and not showing and form.is_valid():
        try:
            study = start_study(
                project=project, actor=request.user, plan=form.plan(), answers=answers
            )
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            tasks.launch_study(study.pk)
            done = study.status == Study.Status.DONE
            state = "is finished already: nothing is left to ask" if done else "is under way"
            messages.success(request, f"Study {study.pk} {state}.")
            return redirect(f"{reverse('predictivity', args=[slug])}?study={study.pk}")
    context = _page(request, project) | {"form": form, "answers": answers, "missing": missing}
    context |= _shown(get_study(project, _asked(request.GET.get("study"))))
    context["earlier"] = studies_of(project)[:EARLIER]
    if showing:
        context |= {"weighed": True} | _weighed(project, form, answers)
    status = 422 if request.method == "POST" and not showing else 200
    return render(request, "agreement/predictivity_page.html", context, status=status)


@login_required
@require_safe
@never_cache
def predictivity_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the study in the form would take."""
    project = get_project(request.user, slug, Right.MANAGE)
    answers, _ = _answers(project)
    form = _form(answers, request.GET)
    context = {"project": project} | _weighed(project, form, answers)
    return render(request, "agreement/predictivity_preview.html", context)


@login_required
@require_safe
@never_cache
def predictivity_progress(request: SignedInRequest, slug: str) -> HttpResponse:
    """The moving part of the page; when the study has stopped, the whole page anew."""
    project = get_project(request.user, slug, Right.VIEW)
    study = get_study(project, _asked(request.GET.get("study")))
    if study is None or not study.going:
        return HttpResponseClientRefresh()
    context = _page(request, project) | {"study": study}
    return render(request, "agreement/predictivity_progress.html", context)


@login_required
@require_safe
def predictivity_figure(request: SignedInRequest, slug: str, form: str) -> HttpResponse:
    """The picture of a study, the newest by default, as SVG or PNG, or its data as CSV."""
    project = get_project(request.user, slug, Right.VIEW)
    study = get_study(project, _asked(request.GET.get("study")))
    if study is None or form not in CONTENT_TYPES:
        raise NotFound(f"There is no picture of a study as '{form[:10]}'.")
    figure = picture(result_of(study).scores, offline_labels=study.offline_labels)
    if figure is None:
        raise NotFound("There is nothing to draw: nothing was predicted with labels yet.")
    answer = HttpResponse(content(figure, form), content_type=CONTENT_TYPES[form])
    names, part = (slug, "predictivity"), {"study": str(study.pk)}
    answer["Content-Disposition"] = attachment(names, part, form)
    return answer


@login_required
@require_POST
def predictivity_steer(request: SignedInRequest, slug: str) -> HttpResponse:
    """Pause, resume or cancel the study that the form names."""
    project = get_project(request.user, slug, Right.MANAGE)
    change = STEERING.get(request.POST.get("do", ""))
    asked = _asked(request.POST.get("study"))
    if change is None or asked is None:
        raise InvalidInput(f"do: must be one of {', '.join(STEERING)}, of a study by its number.")
    study = get_study(project, asked)
    if study is None:
        raise NotFound(f"There is no study {asked}.")
    try:
        change(study=study)
    except Conflict as error:
        messages.warning(request, error.message)
    if change is resume_study:
        tasks.launch_study(study.pk)
    return redirect(f"{reverse('predictivity', args=[slug])}?study={study.pk}")


def _answers(project: Project) -> tuple[Answers | None, list[str]]:
    """What the project has for a study, and what is missing, in words."""
    try:
        answers = read_answers(project)
    except InvalidInput as error:
        return None, [error.message]
    missing = []
    if not answers.rows:
        missing.append("Answers of authors: put a question to them, or import their labels.")
    elif not answers.users_with_two:
        where = " in one conversation" if answers.conversations else ""
        missing.append(
            f"Authors with at least two answers{where}: one is predicted from the others."
            f" So far {answers.users:,} have answered."
        )
    if answers.rows and not answers.labelled:
        missing.append("Labels of the same items by an LLM, the crowd or experts.")
    return answers, missing


def _form(answers: Answers | None, data: Any) -> StudyForm:
    ensure_builtin()
    usual = answers.usual_sources if answers else ()
    there = (*answers.labelled, "author", CHANCE) if answers else SOURCES
    return StudyForm([source for source in SOURCES if source in there], usual, data)


def _weighed(project: Project, form: StudyForm, answers: Answers | None) -> dict[str, Any]:
    """What the study in the form would take, or why there is no telling."""
    if not form.is_valid():
        return {"faults": form.errors.items()}
    try:
        planned = plan_study(project, form.plan(), answers)
        expected = estimate(planned)
        begun = begun_words(planned, expected)
        return {"expected": expected, "planned": planned, "begun": begun}
    except LabelhubError as error:
        return {"refusal": error.message}


def _shown(study: Study | None) -> dict[str, Any]:
    if study is None:
        return {"study": None}
    result = result_of(study)
    heads, rows = table(result.scores)
    return {
        "study": study,
        "result": result,
        "study_number": str(study.pk),
        "picture": picture(result.scores, offline_labels=study.offline_labels),
        "heads": heads,
        "rows": rows,
    }


def _page(request: SignedInRequest, project: Project) -> dict[str, Any]:
    page = project_page(request, project, "agreement")
    return page | {"manages": page["role"] == Role.MANAGER}


def _asked(raw: str | None) -> int | None:
    if not raw:
        return None
    if not (raw.isascii() and raw.isdecimal()) or len(raw) > 18:
        raise InvalidInput(f"study: must be a number, not '{raw[:40]}'.")
    return int(raw)
