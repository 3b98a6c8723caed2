"""Pages: all prompts, one prompt with what it renders to, and the difference of two versions."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.debates.selectors.prompts import trials_of
from apps.debates.services import prompts
from apps.debates.views.prompts.frame import chosen_version, frame, marked, shown_for
from apps.projects.selectors import get_project
from labelhub.core import textdiff

#: What a prompt's variables hold, in words.
INPUTS = {
    "task": "the kind of question: single, multi, ordinal, text or per_item",
    "question": "what is asked about each text",
    "labels": "the labels, each with id, name, description, include, exclude and examples",
    "guideline": "the project’s guideline, empty where there is none",
    "item": "the text, its context, question and choices, delimited",
    "example": "a text whose label people have verified, delimited",
    "claim": "the answer that is argued for",
    "name": "the annotator’s letter",
    "history": "the rounds so far, with what each annotator said, delimited",
    "arguments": "what either side said, delimited",
    "precedents": "verified texts that are alike, with label and reason, delimited",
    "opinions": "what the judges before said, delimited",
}
OUTPUTS = {
    "decision": "an answer: its last line names the label",
    "ranking": "the best and the second-best answer",
    "argument": "free words that other roles read",
}


@login_required
@require_safe
def prompt_list(request: SignedInRequest, slug: str) -> HttpResponse:
    """Every prompt that a run can use, by protocol."""
    project = get_project(request.user, slug, Right.VIEW)
    context = {"groups": prompts.listed(project)}
    return render(request, "debates/prompt_list.html", frame(request, project) | context)


@login_required
@require_safe
def prompt_detail(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """One version of a prompt: its text, what it renders to, and the other versions."""
    project = get_project(request.user, slug, Right.VIEW)
    present = prompts.prompt_called(key)
    versions = prompts.versions(project, present)
    version = chosen_version(request, versions)
    prompt = version.prompt
    context = frame(request, project) | {
        "key": key,
        "version": version,
        "versions": versions,
        "prompt": prompt,
        "sections": [(section, marked(text)) for section, text in prompt.sections],
        "inputs": [
            (name, INPUTS.get(name, f"what the {name} said, delimited")) for name in prompt.inputs
        ],
        "output": OUTPUTS[prompt.output],
        "info": prompts.protocol_of(prompt.name)[0],
        "warnings": [] if version.present else prompts.warnings_about(prompt),
        "trials": trials_of(project, [each.variant for each in versions if each.variant]),
    }
    context |= shown_for(request, project, prompt)
    return render(request, "debates/prompt_detail.html", context)


@login_required
@require_safe
def prompt_rendered(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """What a version renders to for the item that is searched for: a part of the prompt's page."""
    project = get_project(request.user, slug, Right.VIEW)
    versions = prompts.versions(project, prompts.prompt_called(key))
    version = chosen_version(request, versions)
    context = {"project": project} | shown_for(request, project, version.prompt)
    return render(request, "debates/prompt_rendered.html", context)


@login_required
@require_safe
def prompt_diff(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    """What changed from one version to another."""
    project = get_project(request.user, slug, Right.VIEW)
    present = prompts.prompt_called(key)
    versions = prompts.versions(project, present)
    before = chosen_version(request, versions, "before")
    after = chosen_version(request, versions, "after")
    lines = textdiff.diff(before.body, after.body)
    context = frame(request, project) | {
        "key": key,
        "prompt": present,
        "versions": versions,
        "before": before,
        "after": after,
        "lines": lines,
        "counts": textdiff.counts(lines),
    }
    return render(request, "debates/prompt_diff.html", context)
