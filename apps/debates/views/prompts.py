"""Pages: prompts, their variants in a project, and trials of variants."""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right, Role
from apps.common.forms import show_refusal
from apps.debates import selectors, tasks
from apps.debates.forms import TrialForm, VariantForm
from apps.debates.models import Debate, PromptVariant
from apps.debates.naming import role_name
from apps.debates.selectors.prompts import (
    Trial,
    get_trial,
    latest_debate,
    prompt_items,
    trial_rows,
    trial_sides,
    trials_of,
)
from apps.debates.services import prompts
from apps.llm.services import ensure_builtin
from apps.projects.models import Item, Project
from apps.projects.pages import project_page, project_view
from labelhub.core import textdiff
from labelhub.core.errors import Conflict, LabelhubError
from labelhub.core.prompts import Prompt

LONGEST_QUERY = 200
#: Inputs from the project and the item; all others are earlier replies.
_OWN = {"task", "question", "labels", "guideline", "item", "name"}
_CODE = re.compile(r"(\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\})", re.DOTALL)


def page_frame(request: SignedInRequest, project: Project) -> dict[str, Any]:
    """The project's frame with "Prompts" as the present page."""
    page = project_page(request, project, "prompts")
    return page | {"manages": page["role"] == Role.MANAGER}


def chosen_version(
    request: SignedInRequest, versions: Sequence[prompts.Version], name: str = "version"
) -> prompts.Version:
    """The version in the address, by default the present text.

    Raises:
        NotFound: the project has no version with this hash.
    """
    return prompts.find_version(versions, request.GET.get(name, ""))


def split_code(text: str) -> list[tuple[str, bool]]:
    """The pieces of a template, each with whether it is code."""
    return [
        (piece, bool(position % 2)) for position, piece in enumerate(_CODE.split(text)) if piece
    ]


def rendering_context(request: SignedInRequest, project: Project, prompt: Prompt) -> dict[str, Any]:
    """``prompt`` rendered for the first item that matches the search, and the other items."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    found = prompt_items(project, query)
    context: dict[str, Any] = {"query": query, "found": found[1:]}
    if not found:
        return context
    try:
        context["rendering"] = _rendering(request, project, prompt, found[0])
    except LabelhubError as error:
        context["refusal"] = error.message
    return context


def _rendering(
    request: SignedInRequest, project: Project, prompt: Prompt, item: Item
) -> prompts.Rendering:
    """The rendering, if possible with the replies of a real debate that used the prompt."""
    debate: Debate | None = None
    if set(prompt.inputs) - _OWN:
        debate = latest_debate(project, item, prompt.protocol, request.user)
    try:
        return prompts.render_prompt(project, prompt, item, debate)
    except Conflict:
        return prompts.render_prompt(project, prompt, item)


#: The variables of prompts in words.
INPUTS = {
    "task": _(
        "the kind of question: single, multi, ordinal, text or per_item; task.several, "
        "task.ordered, task.written, task.item_options and task.labelled describe the answer"
    ),
    "question": _("the question about each text"),
    "labels": _("the labels, each with id, name, description, include, exclude and examples"),
    "guideline": _("the project’s guideline; empty without one"),
    "item": _("the text, its context, question and choices, delimited"),
    "example": _("a text with a verified label, delimited"),
    "form": _("the form of the answer: json for models with JSON output"),
    "claim": _("the answer that the advocate argues for"),
    "name": _("the annotator’s letter"),
    "history": _("the contributions of all annotators in earlier rounds, delimited"),
    "arguments": _("the arguments of both sides, delimited"),
    "precedents": _("similar verified texts with label and reason, delimited"),
    "opinions": _("the verdicts of the judges before, delimited"),
}
OUTPUTS = {
    "decision": _("an answer: its last line names the label"),
    "ranking": _("the best and the second-best answer"),
    "argument": _("a free text that other roles read"),
}


@project_view(Right.VIEW, "GET", "HEAD")
def prompt_list(request: SignedInRequest, project: Project) -> HttpResponse:
    """Every prompt that a run can use, by protocol."""
    context = {"groups": prompts.list_prompts(project)}
    return render(request, "debates/prompt_list.html", page_frame(request, project) | context)


@project_view(Right.VIEW, "GET", "HEAD")
def prompt_detail(request: SignedInRequest, project: Project, key: str) -> HttpResponse:
    """One version of a prompt: its text, its rendering and the other versions."""
    present = prompts.find_prompt(key)
    versions = prompts.list_versions(project, present)
    version = chosen_version(request, versions)
    prompt = version.prompt
    reply = gettext("the reply of the %(role)s, delimited")
    context = page_frame(request, project) | {
        "key": key,
        "version": version,
        "versions": versions,
        "prompt": prompt,
        "sections": [(section, split_code(text)) for section, text in prompt.sections],
        "inputs": [
            (name, INPUTS.get(name) or reply % {"role": role_name(name)}) for name in prompt.inputs
        ],
        "output": OUTPUTS[prompt.output],
        "info": prompts.protocol_of(prompt.name)[0],
        "warnings": [] if version.present else prompts.warnings_about(prompt),
        "trials": trials_of(project, [version.variant for version in versions if version.variant]),
    }
    context |= rendering_context(request, project, prompt)
    return render(request, "debates/prompt_detail.html", context)


@project_view(Right.VIEW, "GET", "HEAD")
def prompt_rendered(request: SignedInRequest, project: Project, key: str) -> HttpResponse:
    """The rendering for the item of the search: a part of the prompt's page."""
    versions = prompts.list_versions(project, prompts.find_prompt(key))
    version = chosen_version(request, versions)
    context = {"project": project} | rendering_context(request, project, version.prompt)
    return render(request, "debates/prompt_detail.html#rendered", context)


@project_view(Right.VIEW, "GET", "HEAD")
def prompt_diff(request: SignedInRequest, project: Project, key: str) -> HttpResponse:
    """The differences between two versions."""
    present = prompts.find_prompt(key)
    versions = prompts.list_versions(project, present)
    before = chosen_version(request, versions, "before")
    after = chosen_version(request, versions, "after")
    lines = textdiff.diff(before.body, after.body)
    context = page_frame(request, project) | {
        "key": key,
        "prompt": present,
        "versions": versions,
        "before": before,
        "after": after,
        "lines": lines,
        "counts": textdiff.counts(lines),
    }
    return render(request, "debates/prompt_diff.html", context)


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def variant_create(request: SignedInRequest, project: Project, key: str) -> HttpResponse:
    """Write a variant. A POST with ``check`` saves nothing and shows a preview."""
    present = prompts.find_prompt(key)
    base = chosen_version(request, prompts.list_versions(project, present))
    form = (
        VariantForm(request.POST) if request.method == "POST" else VariantForm.starting_from(base)
    )
    context: dict[str, Any] = {"key": key, "prompt": present, "base": base, "form": form}
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        try:
            checked = prompts.check_draft(
                project, present, system=given["system"], user=given["user"]
            )
            if "check" in request.POST:
                context |= {"rendering": checked.rendering, "warnings": checked.warnings}
            else:
                made = prompts.save_variant(
                    project=project, actor=request.user, draft=checked.draft, title=given["title"]
                )
                saved = gettext("The variant “%(title)s” is saved. You can try it now.")
                messages.success(request, saved % {"title": made.title})
                address = reverse("prompt_detail", args=[project.slug, key])
                return redirect(f"{address}?version={made.version.hash[:12]}")
        except LabelhubError as error:
            show_refusal(form, error)
    status = 422 if form.errors else 200
    return render(
        request,
        "debates/prompt_variant.html",
        page_frame(request, project) | context,
        status=status,
    )


@project_view(Right.MANAGE, "POST")
def variant_retire(request: SignedInRequest, project: Project, pk: int) -> HttpResponse:
    """Retire a variant."""
    variant = prompts.retire_variant(variant=selectors.get_variant(project, pk))
    messages.success(
        request,
        gettext(
            "“%(title)s” is no longer offered. Runs that used it stay as they are; saving the same "
            "text again brings it back."
        )
        % {"title": variant.title},
    )
    return redirect("prompt_detail", project.slug, prompts.key_of(variant.name))


@project_view(Right.MANAGE, "GET", "HEAD", "POST")
def prompt_try(request: SignedInRequest, project: Project, pk: int) -> HttpResponse:
    """Choose the models for a trial of a variant, see the estimate, start.

    A POST with ``show`` only shows the estimate, for browsers without scripts.
    """
    variant = selectors.get_variant(project, pk)
    ensure_builtin()
    form = TrialForm(request.POST, variant=variant)
    showing = "show" in request.POST
    if request.method == "POST" and not showing and form.is_valid():
        try:
            plans = prompts.trial_plans(project, variant, form.models)
            runs = prompts.start_trial(project=project, actor=request.user, plans=plans)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            for run in runs:
                tasks.launch_run(run.pk)
            return redirect("prompt_trial", project.slug, runs[0].pk)
    context = page_frame(request, project) | {
        "variant": variant,
        "key": prompts.key_of(variant.name),
        "form": form,
    }
    if showing:
        context |= {"weighed": True} | _preview_context(project, variant, form)
    status = 422 if form.errors else 200
    return render(request, "debates/prompt_try.html", context, status=status)


@never_cache
@project_view(Right.MANAGE, "GET", "HEAD")
def prompt_try_preview(request: SignedInRequest, project: Project, pk: int) -> HttpResponse:
    """The estimate for the trial in the form: the part of the page that follows every change."""
    variant = selectors.get_variant(project, pk)
    ensure_builtin()
    form = TrialForm(request.GET, variant=variant)
    context = {"project": project} | _preview_context(project, variant, form)
    return render(request, "debates/prompt_try.html#preview", context)


@project_view(Right.VIEW, "GET", "HEAD")
def prompt_trial(request: SignedInRequest, project: Project, run_id: int) -> HttpResponse:
    """A trial: the answers of the variant and the present prompt, item by item."""
    context = page_frame(request, project) | _trial_context(request, get_trial(project, run_id))
    return render(request, "debates/prompt_trial.html", context)


@never_cache
@project_view(Right.VIEW, "GET", "HEAD")
def prompt_trial_part(request: SignedInRequest, project: Project, run_id: int) -> HttpResponse:
    """The part of a trial's page that is updated."""
    context = {"project": project} | _trial_context(request, get_trial(project, run_id))
    return render(request, "debates/prompt_trial.html#trial", context)


def _preview_context(project: Project, variant: PromptVariant, form: TrialForm) -> dict[str, Any]:
    if not form.is_valid():
        return {"refusal": gettext("Choose a model for every role.")}
    try:
        plans = prompts.trial_plans(project, variant, form.models)
        found = prompts.preview_trial(project, plans)
    except LabelhubError as error:
        return {"refusal": error.message}
    return {"previews": list(zip((variant.title, gettext("Present text")), found, strict=True))}


def _trial_context(request: SignedInRequest, trial: Trial) -> dict[str, Any]:
    found = trial_rows(trial, request.user)
    rows = [row for row in found if not row.hidden]
    return {
        "trial": trial,
        "variant": trial.variant,
        "key": prompts.key_of(trial.variant.name),
        "rows": rows,
        "left_out": len(found) - len(rows),
        "sides": trial_sides(trial, rows),
        "ended": sum(row.ended for row in rows),
        "differing": sum(row.differs for row in rows),
    }
